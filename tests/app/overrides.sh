# overrides.sh - flags and --set change the file, standard input is a file, and experiment.yaml repeats the run.
. "$(dirname "$0")/common.bash"

small >small.yaml
run() { expect 0 "" "$OLTR" run --no-figures --force "$@"; }

run small.yaml -o plain
there plain/results.csv plain/summary.csv plain/manifest.json plain/experiment.yaml
[ "$(head -1 plain/results.csv)" = "sweep,policy,round,regret,regret_se,reward,replications" ] || fail "heading"
[ "$(wc -l <plain/summary.csv)" -eq 3 ] || fail "one row per policy in the summary"
grep -q '^,GTS,200,.*,8$' plain/summary.csv || fail "the last round of GTS"
no_leftovers plain

# the default folder
run small.yaml
same out/small/results.csv plain/results.csv
"$OLTR" run - --no-figures <small.yaml >said 2>&1 || fail "standard input"
same out/stdin/results.csv plain/results.csv

# flags
run small.yaml -o flags --rounds 50 --replications 3 -K 2 -s 9 --checkpoints 5 -j 1
grep -q '^,GTS,50,.*,3$' flags/summary.csv || fail "rounds and replications"
run flags/experiment.yaml -o again
same flags/results.csv again/results.csv
same flags/summary.csv again/summary.csv
for key in '"rounds": 50' '"replications": 3' '"slots": 2' '"seed": 9' '"--rounds 50"' '"oltr": "'; do
    grep -qF -- "$key" flags/manifest.json || fail "manifest lacks $key"
done
cmp -s flags/results.csv plain/results.csv && fail "flags changed nothing"

# the words of an option
run small.yaml -oa --rounds=50
run -o b --rounds 50 -- small.yaml
run small.yaml -qob --rounds 50
same a/results.csv b/results.csv
[ ! -s said ] || fail "quiet is not quiet"

# --set: the same as the flag, in the file or not, scalars and lists
run small.yaml -o s1 --set rounds=50
same s1/results.csv a/results.csv
run small.yaml -o s2 --set world.items=20 --set policies.GTS.sigma=1 --set world.prior.a=2 --set world.prior.b=3
grep -q 'sigma: 1' s2/experiment.yaml || fail "sigma"
grep -q 'items: 20' s2/experiment.yaml || fail "items"
run s2/experiment.yaml -o s3
same s2/results.csv s3/results.csv
run small.yaml -o s4 --set 'checkpoints=[10, 100]'
[ "$(wc -l <s4/results.csv)" -eq 5 ] || fail "a list of checkpoints"
run small.yaml -o s5 --rounds 10 --rounds 20
grep -q '^,GTS,20,' s5/summary.csv || fail "the last of two flags counts"
run small.yaml -o s6 --set 'policies.GTS.name=A, "B"'
grep -q '^,"A, ""B""",200,' s6/summary.csv || fail "quoting in CSV"

# wrong ones
expect 2 '--set world.itmes=3: unknown key in world; did you mean `items`?' \
    "$OLTR" run small.yaml --set world.itmes=3
expect 2 '--set wrld.items=3: unknown key in the experiment; did you mean `world`?' "$OLTR" run small.yaml --set wrld.items=3
expect 2 'no entry is called `GTZ`; did you mean `GTS`?' "$OLTR" run small.yaml --set policies.GTZ.sigma=3
expect 2 'needs a key behind a name' "$OLTR" run small.yaml --set policies.GTS=3
expect 2 '--set policies.GTS.sgima=3: gts has no parameter `sgima`; did you mean `sigma`?' \
    "$OLTR" run small.yaml --set policies.GTS.sgima=3
expect 2 '--set policies.GTS.sigma=-3: sigma must' "$OLTR" run small.yaml --set policies.GTS.sigma=-3
expect 2 '--rounds 0: must be at least 1' "$OLTR" run small.yaml --rounds 0
expect 2 '--rounds x: must be a whole number' "$OLTR" run small.yaml --rounds x
expect 2 'this key has no keys below it' "$OLTR" run small.yaml --set rounds.x=1
expect 2 'ends in a dot or is empty' "$OLTR" run small.yaml --set world.=1
expect 2 'UTF-8' "$OLTR" run small.yaml --set $'title=\377'
expect 2 '--rounds 5: checkpoint 10 is beyond the last round, 5; shorten the list or use --checkpoints 20' \
    "$OLTR" run s4/experiment.yaml --rounds 5

# an override that contradicts the file is blamed itself, not the line that it contradicts
expect 2 '--set world.items=2: there are 3 slots, but the world has only 2 items to fill them' \
    "$OLTR" run small.yaml --set world.items=2
expect 2 '--set world.items=1: there are 3 slots, but the world has only 1 item to fill them' \
    "$OLTR" run small.yaml --set world.items=1
expect 2 '--set world.kind=linear: `prior: full` needs a prior, and this world has none' \
    "$OLTR" run small.yaml --set world.kind=linear
sed 's/items: 10/items: 10\n  a_max: 5/' small.yaml >shapes.yaml
expect 2 '--set world.kind=linear: `a_max` belongs to a world of kind beta; this one is linear' \
    "$OLTR" run shapes.yaml --set world.kind=linear
# a wrong key of a sweep is blamed where the key is, not at the first value
(cat small.yaml; printf 'sweep:\n  values:\n    - 5\n  key: wrold.items\n') >key.yaml
line=$(grep -n wrold key.yaml | cut -d: -f1)
expect 2 "key.yaml:$line:8: wrold: unknown key in the experiment; did you mean \`world\`?" "$OLTR" run key.yaml
expect 2 '--set sweep.key=world.itmes: unknown key in world; did you mean `items`?' "$OLTR" run key.yaml --set sweep.key=world.itmes
for pair in GTS=TS-Beta TS-Beta=GTS; do
    expect 2 "--set policies.${pair%=*}.name=${pair#*=}: policies.${pair#*=}.name: two policies are called \`${pair#*=}\`" \
        "$OLTR" run small.yaml --set "policies.${pair%=*}.name=${pair#*=}"
done
sed 's/items: 10/items: 10\n  a_max: 3/' small.yaml >drawn.yaml
expect 2 '--set world.prior={a: 1, b: 2}: `a_max` is for worlds of kind beta without `prior`' \
    "$OLTR" run drawn.yaml --set 'world.prior={a: 1, b: 2}'
sed 's/kind: beta/kind: fixed/; s/  items: 10/  levels: [[10, 0.2]]/; /prior: full/d' small.yaml >levels.yaml
expect 2 '--set world.attraction=[0.1]: a fixed world needs either' "$OLTR" run levels.yaml --set 'world.attraction=[0.1]'
(cat small.yaml; echo 'figures: [{file: a}, {file: b}]') >pair.yaml
expect 2 '--set figures.a.file=b: figures.b.file: two figures are called `b`' "$OLTR" run pair.yaml --set figures.a.file=b
expect 2 '--set figures.b.file=a: figures.a.file: two figures are called `a`' "$OLTR" run pair.yaml --set figures.b.file=a
expect 2 '--set checkpoints=[10, x]: checkpoints[1]: must be a whole number, not `x`' \
    "$OLTR" run small.yaml --set 'checkpoints=[10, x]'
expect 2 '--set checkpoints=[10: YAML: ' "$OLTR" run small.yaml --set 'checkpoints=[10'

# horizon follows rounds unless it is set
sed 's/{name: GTS, kind: gts}/{name: TopRank, kind: toprank}/' small.yaml >top.yaml
run top.yaml -o top
grep -q '"horizon": 200' top/manifest.json || fail "horizon is not rounds"
run top.yaml -o top --set policies.TopRank.horizon=77
grep -q '"horizon": 77' top/manifest.json || fail "horizon was not taken"

# the file that is being run is not overwritten
mkdir own
{ echo "# my comment"; cat small.yaml; } >own/experiment.yaml
run own/experiment.yaml -o own
grep -q "my comment" own/experiment.yaml || fail "overwrote the file of the user"
expect 2 'would be overwritten by its changed copy' "$OLTR" run own/experiment.yaml -o own --rounds 5

# folders that cannot be
touch file
expect 1 'file: cannot make this folder' "$OLTR" run small.yaml -o file
expect 1 'file/a/b: cannot make this folder' "$OLTR" run small.yaml -o file/a/b
mkdir -p taken/results.csv
expect 1 'taken/results.csv: cannot write it' "$OLTR" run small.yaml -o taken --no-figures
grep -q 'kept in taken/partial.oltr; the same command with --resume writes its results' said || fail "the sums are lost"
rmdir taken/results.csv
expect 0 'results in taken' "$OLTR" run small.yaml -o taken --no-figures --resume
no_leftovers taken
run small.yaml -o deep/down/here
there deep/down/here/results.csv

# one replication has no standard error
expect 0 ' ± ' "$OLTR" run small.yaml -o two --replications 2 --no-figures
expect 0 "" "$OLTR" run small.yaml -o one --replications 1 --no-figures
grep -q '±' said && fail "a standard error of one replication"
echo ok

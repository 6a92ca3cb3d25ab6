# sweep.sh - a sweep is the same as its runs one by one.
. "$(dirname "$0")/common.bash"

{ small; echo 'sweep: {key: world.misspecification, values: [0, 2, 4]}'; } >sweep.yaml
expect 0 "world.misspecification" "$OLTR" run sweep.yaml -o all --no-figures
[ "$(wc -l <all/summary.csv)" -eq 7 ] || fail "three values of two policies"
small >small.yaml
for value in 0 2 4; do
    expect 0 "" "$OLTR" run small.yaml -o one --no-figures --force --set world.misspecification=$value
    tail -n +2 one/results.csv | sed "s/^/$value/" >expected
    grep "^$value," all/results.csv >got
    same expected got
done
expect 0 "" "$OLTR" run all/experiment.yaml -o again --no-figures
same all/results.csv again/results.csv

# two keys: every combination, the second key varying fastest
cat >list <<'YAML'
sweep:
  - {key: world.items, values: [20, 10]}
  - {key: world.prior_shift, values: [0, 2], name: shift}
YAML
{ small; cat list; } >two.yaml
expect 0 "20 | 2" "$OLTR" run two.yaml -o two --no-figures
sed 1d two/summary.csv | cut -d, -f1 | uniq >got
printf '%s | %s\n' 20 0 20 2 10 0 10 2 >expected
same expected got
for items in 20 10; do
    for shift in 0 2; do
        expect 0 "" "$OLTR" run small.yaml -o one --no-figures --force --set world.items=$items --set world.prior_shift=$shift
        for table in results.csv pairs.csv; do
            tail -n +2 one/$table | sed "s/^/$items | $shift/" >expected
            grep -F "$items | $shift," two/$table >got
            same expected got
        done
    done
done
expect 0 "" "$OLTR" run two.yaml -o two1 -j 1 -q --no-figures
same two/results.csv two1/results.csv
expect 0 "already finished" "$OLTR" run two.yaml -o two --resume --no-figures
expect 0 "" "$OLTR" run two/experiment.yaml -o again --no-figures --force
same two/results.csv again/results.csv
grep -q '"sweep_keys"' two/manifest.json || fail "the keys are not in the manifest"
grep -q '"sweep_keys"' all/manifest.json && fail "one key has changed its manifest"
expect 0 "30 | 1" "$OLTR" run two.yaml -o set --no-figures --set 'sweep.world.items.values=[30]' --set 'sweep.shift.values=[1]'
expect 2 "sweep.world.items.key: the sweep sets this key, and so does --set world.items=5" "$OLTR" run two.yaml -o no --set world.items=5

# cases set several keys, also beside a key
cat >list <<'YAML'
sweep:
  - name: prior
    cases:
      right: {}
      none: {policies.TS-Beta.prior: none}
      half wrong: {world.prior_order: permuted, world.prior_share: 0.5}
YAML
{ small; cat list; } >cases.yaml
expect 0 "prior       policy" "$OLTR" run cases.yaml -o cases --no-figures
for case in right none 'half wrong'; do
    flags=()
    [ "$case" != none ] || flags=(--set policies.TS-Beta.prior=none)
    [ "$case" != 'half wrong' ] || flags=(--set world.prior_order=permuted --set world.prior_share=0.5)
    expect 0 "" "$OLTR" run small.yaml -o one --no-figures --force "${flags[@]}"
    tail -n +2 one/results.csv | sed "s/^/$case/" >expected
    grep "^$case," cases/results.csv >got
    same expected got
done
{ cat cases.yaml; echo '  - {key: slots, values: [1, 2]}'; } >both.yaml
expect 0 "half wrong | 2" "$OLTR" run both.yaml -o both --no-figures

# other kinds of keys: a parameter, the rounds, the slots, a word
for sweep in '{key: policies.GTS.sigma, values: [0.25, 0.5, 1]}' '{key: rounds, values: [50, 100]}' \
    '{key: slots, values: [1, 2, 10]}' '{key: policies.GTS.prior, values: [none, mean, full]}' \
    '{key: world.items, values: [200, 20]}'; do
    { small; echo "sweep: $sweep"; } >sweep.yaml
    rm -rf s
    expect 0 "" "$OLTR" run sweep.yaml -o s --no-figures
done
grep -q '^20,GTS,200,' s/summary.csv || fail "swept items"

# a parameter that another one switches off has a warning; the table in app/run/unread.c is that of the help
odd() { # POLICY and its parameters
    printf '%s\n' 'rounds: 20' 'slots: 2' 'replications: 2' 'world: {kind: logistic, items: 8, dim: 3}' "policies: [{$1}]" >odd.yaml
    expect 0 "${2:-}" "$OLTR" run odd.yaml -o odd --no-figures --force
}
odd 'kind: glm-ucb, alpha: 8' 'warning: glm-ucb has `alpha`, which glm-ucb reads only with `width: given`'
odd 'kind: glm-ucb, alpha: 8, width: given'
grep -q warning said && fail "warns of a parameter that is read"
odd 'name: N, kind: logts-newton, alpha: 2, step: exact' 'warning: N has `alpha`, which logts-newton reads only without `step: exact`'
for kind in $(sed -n 's/^    {"\([a-z0-9-]*\)", "[A-Za-z]*", ".*", [a-z]*},$/\1/p' "$SOURCE/app/run/unread.c" | sort -u); do
    "$OLTR" policies "$kind" | tr -s ' \n' ' ' | grep -o '([a-z ]*[a-z]*: [a-z]*)' | sort
done >said_by_help
sed -n 's/^    {"[a-z0-9-]*", "[A-Za-z]*", "\([a-z]*\)", "\([a-z]*\)", true},$/(\1: \2)/p; s/^    {"[a-z0-9-]*", "[A-Za-z]*", "\([a-z]*\)", "\([a-z]*\)", false},$/(not read by \1: \2)/p' \
    "$SOURCE/app/run/unread.c" | sort >said_by_table
sort said_by_help | cmp -s - said_by_table || fail "the help of policies and app/run/unread.c differ"

# where every list is as good as any other, the table warns that its zeros say nothing
cat >alike.yaml <<'YAML'
rounds: 50
slots: 2
replications: 3
world: {kind: fixed, attraction: [0.3, 0.3, 0.3, 0.3]}
policies: [{kind: gts}]
YAML
expect 0 "warning: 3 of 3 replications are saturated: every list is as good as the best one" "$OLTR" run alike.yaml -o alike --no-figures
expect 0 "" "$OLTR" run alike.yaml -o alike --no-figures --force --set 'world.attraction=[0.3, 0.3, 0.3, 0.6]'
grep -q warning said && fail "warns of a world whose lists differ"
grep -q 'No list has a reward' said && fail "takes a world of good lists for one without a reward"
for users in 'clicks: dcm, leave: 0' 'clicks: dbn, satisfied: 0' 'clicks: pbm, examine: [0, 0]'; do
    sed 's/kind: gts/&, seen: all/' alike.yaml >dark.yaml
    expect 0 "No list has a reward: look at the click model" "$OLTR" run dark.yaml -o dark --no-figures --force --set "world={kind: fixed, attraction: [0.3, 0.2, 0.1], $users}"
    grep -q 'smaller attractions' said && fail "advises smaller attractions where nothing is clicked"
done
sed '/^world/d' alike.yaml | { cat; echo 'world: {kind: linear, items: 20, dim: 5}'; echo 'sweep: {key: slots, values: [2, 19]}'; } >many.yaml
expect 0 "warning: slots = 19: 3 of 3 replications are saturated" "$OLTR" run many.yaml -o many --no-figures
grep -q "slots = 2:" said && fail "warns of the other point too"
expect 0 "" "$OLTR" run alike.yaml -o alike --no-figures --force -q
[ ! -s said ] || fail "quiet is not quiet"

if command -v gnuplot >/dev/null; then
    { small; echo 'sweep: {key: policies.GTS.prior, values: [none, mean, full]}'
      echo 'figures: [{file: a, bounds: true}, {file: b, x: round}, {file: c, x: round, policies: [GTS]},'
      echo '          {file: d, log: true}]'
    } >sweep.yaml
    expect 0 "results and figures" "$OLTR" run sweep.yaml -o drawn
    for name in a b c d; do
        there drawn/$name.svg drawn/$name.png drawn/$name.pdf
    done
    grep -q 'GTS, mean' drawn/b.svg || fail "a curve for each policy and value"
    grep -q 'policies.GTS.prior = mean' drawn/c.svg || fail "a curve for each value"
    grep -q 'cumulative regret after 200 rounds' drawn/a.svg || fail "the y axis of a sweep"

    # two keys: the first on the axis, a curve for each value of the second
    { cat two.yaml; echo 'figures: [{file: a}, {file: b, policies: [TS-Beta]}, {file: c, x: round}]'; } >drawn.yaml
    expect 0 "results and figures" "$OLTR" run drawn.yaml -o drawn2
    there drawn2/a.svg drawn2/b.svg drawn2/c.svg
    head -1 drawn2/a.csv | grep -q 'world.items,.*"TS-Beta, shift = 2","TS-Beta, shift = 2 se"' || fail "curves of two keys"
    [ "$(cut -d, -f1 drawn2/a.csv | tail -n +2 | tr '\n' ' ')" = "10 20 " ] || fail "the axis of two keys"
    head -1 drawn2/b.csv | grep -q '^world.items,shift = ' || fail "one policy, two keys"
    head -1 drawn2/c.csv | grep -q '"TS-Beta, 20 | 2"' || fail "round curves of two keys"
    { cat both.yaml; echo 'figures: [{file: a}]'; } >drawn.yaml
    expect 0 "results and 1 figure" "$OLTR" run drawn.yaml -o drawn3
    grep -q 'set xtics ("right" 0, "none" 1, "half wrong" 2)' drawn3/a.gp || fail "the tics of cases"
fi
echo ok

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

# other kinds of keys: a parameter, the rounds, the slots, a word
for sweep in '{key: policies.GTS.sigma, values: [0.25, 0.5, 1]}' '{key: rounds, values: [50, 100]}' \
    '{key: slots, values: [1, 2, 10]}' '{key: policies.GTS.prior, values: [none, mean, full]}' \
    '{key: world.items, values: [200, 20]}'; do
    { small; echo "sweep: $sweep"; } >sweep.yaml
    rm -rf s
    expect 0 "" "$OLTR" run sweep.yaml -o s --no-figures
done
grep -q '^20,GTS,200,' s/summary.csv || fail "swept items"

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
fi
echo ok

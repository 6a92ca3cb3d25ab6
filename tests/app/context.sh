# context.sh - worlds with features and real rewards: the same bytes for any number of threads, and every mistake named.
. "$(dirname "$0")/common.bash"

for name in linear logistic scalar; do
    for threads in 1 2 7; do
        expect 0 "" "$OLTR" run "$SOURCE/experiments/$name.yaml" -o "$name$threads" -j "$threads" --rounds 60 --replications 9 -q --no-figures
        same "${name}1/results.csv" "$name$threads/results.csv"
    done
done
expect 0 "" "$OLTR" run "$SOURCE/experiments/linear.yaml" -o fresh --set world.contexts=fresh --rounds 60 --replications 9 -q --no-figures
cmp -s linear1/results.csv fresh/results.csv && fail "fresh contexts change nothing"
expect 0 "" "$OLTR" run linear1/experiment.yaml -o again -q --no-figures
same linear1/results.csv again/results.csv

# world KEYS POLICY: a small experiment
world() {
    printf 'rounds: 20\nslots: 2\nreplications: 2\nworld: {%s}\npolicies: [{name: A, %s}]\nfigures: []\n' "$1" "$2" >w.yaml
}
refused() { # TEXT
    expect 2 "$1" "$OLTR" run w.yaml -o out -q
}
linear='kind: linear, items: 6, dim: 3'

world "$linear" 'kind: lints' && expect 0 "" "$OLTR" run w.yaml -o out -q --force
world 'kind: fixed, attraction: [0.1, 0.5], features: [[1, 0], [0.6, 0.8]]' 'kind: lints' && expect 0 "" "$OLTR" run w.yaml -o out -q --force
world 'kind: fixed, attraction: [0.1, 0.5], features: [[1, 0], [0.6]]' 'kind: lints' && refused 'this row has 1 feature, the first one has 2'
world 'kind: fixed, attraction: [0.1, 0.5], features: [[1, 0]]' 'kind: lints' && refused 'there must be one row [0.1, 0.9] for each of the 2 items'
world 'kind: fixed, attraction: [0.1, 0.5], features: [[1, .nan], [0, 1]]' 'kind: lints' && refused 'w.yaml:4'
world "$linear, attraction: [0.1]" 'kind: lints' && refused '`attraction` belongs to a world of kind fixed; this one is linear'
world 'kind: beta, items: 6, dim: 3' 'kind: gts' && refused '`dim` belongs to a world of kind linear, logistic or scalar'
world "$linear, abandon: 0.5" 'kind: lints' && refused '`abandon` belongs to the click model abandon; this world has cascade'
world "$linear, contexts: stale" 'kind: lints' && refused 'contexts: must be fixed or fresh'
world "$linear, scale: 2" 'kind: lints' && refused 'attractions of world linear must be probabilities'
world 'kind: linear, items: 6, dim: 0' 'kind: lints' && refused 'dim: must be at least 1'
world 'kind: beta, items: 6' 'kind: lints' && refused 'lints ranks by features'
world "$linear" 'kind: ts-beta, prior: full' && refused 'needs a prior, and this world has none'
world 'kind: scalar, items: 6, dim: 3' 'kind: ts-beta' && refused 'learns from clicks only'
world 'kind: scalar, items: 6, dim: 3, clicks: cascade' 'kind: gts' && refused 'its click model must be abandon'
world 'kind: scalar, items: 6, dim: 3, noise: pink' 'kind: gts' && refused 'noise: must be gauss or beta'
world 'kind: scalar, items: 6, dim: 3, abandon: 1' 'kind: gts' && refused 'w.yaml:4'
world 'kind: scalar, items: 6, dim: 3, noise: beta, noise_sd: 0.2' 'kind: lints' && expect 0 "" "$OLTR" run w.yaml -o out -q --force
world 'kind: logistic, items: 6, dim: 3, misspecification: 9.5' 'kind: ts-beta, prior: full' && expect 0 "" "$OLTR" run w.yaml -o out -q --force
world 'kind: logistic, items: 6, dim: 3, theta: cubes' 'kind: logts' && refused 'theta: must be cube or sphere'
world "$linear" 'kind: lints, radius: wide' && refused 'radius must be one of theory, bayes, released'
world "$linear" 'kind: logts, drift: 2' && refused 'drift must lie between'
echo ok

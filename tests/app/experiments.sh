# experiments.sh - every experiment file of the project runs, a little of each.
. "$(dirname "$0")/common.bash"

for file in "$SOURCE"/experiments/*.yaml "$SOURCE"/examples/*.yaml; do
    name=$(basename "$file" .yaml)
    head -1 "$file" | grep -q '^# ' || fail "$name does not open with a comment"
    if grep -q '^kind: concentration' "$file"; then
        expect 0 "" "$OLTR" run "$file" -o "$name" -q --no-figures
        continue
    fi
    less=(--rounds 60 --replications 3)
    if grep -q 'kind: dataset' "$file"; then
        less=(--rounds 30 --replications 1 --set world.queries=2 --set world.rankers=2)
        less+=(--set 'world.generated={train: 6, vali: 4, test: 4}')
    fi
    expect 0 "" "$OLTR" run "$file" -o "$name" -q --no-figures "${less[@]}"
    there "$name/results.csv" "$name/summary.csv" "$name/manifest.json"
    expect 0 "" "$OLTR" run "$name/experiment.yaml" -o again -q --no-figures --force
    same "$name/results.csv" again/results.csv
done
for name in noncontextual misspecification prior-init concentration web30k istella; do
    [ -d "$name" ] || fail "no experiment $name"
done
echo ok

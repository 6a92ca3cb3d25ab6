# shards.sh - a run in parts, put together, is the run: the same bytes for any number of shards, any order, any folder.
. "$(dirname "$0")/common.bash"

small >small.yaml
tables="results.csv summary.csv pairs.csv metrics.csv"
expect 0 "" "$OLTR" run small.yaml -o whole -q --no-figures

# three folders, and all in one folder
for i in 1 2 3; do
    expect 0 "shard $i of 3 is in part$i/shard-$i-of-3.oltr" "$OLTR" run small.yaml -o "part$i" --shard "$i/3"
    [ ! -e "part$i/results.csv" ] || fail "a shard has written results"
    expect 0 "" "$OLTR" run small.yaml -o one --shard "$i/3" -q -j "$i"
done
expect 0 "results in sum" "$OLTR" merge part3 part1 part2 -o sum --no-figures
expect 0 "" "$OLTR" merge one -q --no-figures
for table in $tables; do
    same "whole/$table" "sum/$table"
    same "whole/$table" "one/$table"
done
there sum/manifest.json sum/experiment.yaml one/manifest.json

# more shards than replications
for i in $(seq 1 9); do
    expect 0 "" "$OLTR" run small.yaml -o many --shard "$i/9" -q
done
expect 0 "" "$OLTR" merge many -q --no-figures
same whole/results.csv many/results.csv

# a sweep over two keys
{
    small
    echo 'sweep: [{key: world.misspecification, values: [0, 2]}, {key: slots, values: [2, 3]}]'
} >sweep.yaml
expect 0 "" "$OLTR" run sweep.yaml -o sweep -q --no-figures
for i in 1 2; do
    expect 0 "" "$OLTR" run sweep.yaml -o halves --shard "$i/2" -q
done
expect 0 "" "$OLTR" merge halves -q --no-figures
for table in $tables; do
    same "sweep/$table" "halves/$table"
done

# what can go wrong
expect 1 "3 of 8 replications are missing" "$OLTR" merge part1 part3 -o missing --no-figures
[ ! -e missing/results.csv ] || fail "results with replications missing"
expect 1 "give every shard once" "$OLTR" merge part1 part1 part2 part3 -o twice --no-figures
expect 2 "there is no file like shard-1-of-2.oltr" "$OLTR" merge whole -o none --no-figures
expect 2 "nowhere: cannot be opened" "$OLTR" merge part1 nowhere -o none --no-figures
expect 2 "" "$OLTR" merge nowhere
expect 0 "" "$OLTR" run small.yaml -s 9 -o other --shard 2/3 -q
expect 1 "is a shard of another experiment" "$OLTR" merge part1 other part3 -o none --no-figures
mkdir broken
cp part1/experiment.yaml broken
head -c 200 part1/shard-1-of-3.oltr >broken/shard-1-of-3.oltr
expect 1 "damaged" "$OLTR" merge broken part2 part3 -o none --no-figures
for bad in 0/3 4/3 1 1/ /3 a/b 1/0 -1/3 1/3x 01/3; do
    expect 2 "--shard must be I/N" "$OLTR" run small.yaml --shard "$bad"
done
expect 2 "no simulation to split into shards" "$OLTR" run "$SOURCE/experiments/concentration.yaml" -o none --shard 1/2
no_leftovers .
echo ok

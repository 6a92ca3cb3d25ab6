# threads.sh - the same bytes for any number of threads.
. "$(dirname "$0")/common.bash"

replications=25
sanitized && replications=8
file=$SOURCE/experiments/noncontextual.yaml
for threads in 1 2 7; do
    expect 0 "" "$OLTR" run "$file" -o "j$threads" -j "$threads" --rounds 500 --replications "$replications" -q --no-figures
    for name in results.csv summary.csv experiment.yaml; do
        same "j1/$name" "j$threads/$name"
    done
done
expect 0 "" "$OLTR" run "$file" -o other -s 2 --rounds 500 --replications "$replications" -q --no-figures
cmp -s j1/results.csv other/results.csv && fail "another seed gives the same results"

file=$SOURCE/experiments/misspecification.yaml
for threads in 1 2 7; do
    expect 0 "" "$OLTR" run "$file" -o "s$threads" -j "$threads" --rounds 100 --replications 9 -q --no-figures
    same s1/results.csv "s$threads/results.csv"
    same s1/summary.csv "s$threads/summary.csv"
done
echo ok

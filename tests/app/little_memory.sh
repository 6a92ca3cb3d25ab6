# little_memory.sh - a run that trains nothing starts the threads that -j asks for and no others, and ends where memory
# is short.  Without OpenBLAS everything works but training.
. "$(dirname "$0")/common.bash"
if sanitized; then
    echo "skipped: a sanitizer needs more memory and threads than this test allows"
    exit 77
fi
small >small.yaml

(
    ulimit -v 60000
    exec timeout -s KILL 60 "$OLTR" run small.yaml -o a --no-figures -j 2
) >said 2>&1 || fail "a run with 60 MB ended with $?"
there a/summary.csv
(
    ulimit -v 60000
    exec timeout -s KILL 60 "$OLTR" version
) >said 2>&1 || fail "version with 60 MB ended with $?"

# The main thread and three workers, all of them ours.
"$OLTR" run small.yaml -o b --no-figures -q -j 3 --rounds 100000000 --replications 3 &
run=$!
for ((i = 0; i < 200; i++)); do
    threads=$(ls "/proc/$run/task" | wc -l)
    [ "$threads" -ge 4 ] && break
    sleep 0.05
done
sleep 0.2
threads=$(ls "/proc/$run/task" | wc -l)
grep -q openblas "/proc/$run/maps" && loaded=yes || loaded=no
kill -KILL $run
wait $run 2>/dev/null
[ "$threads" -eq 4 ] || fail "$threads threads instead of 4"
[ "$loaded" = no ] || fail "OpenBLAS is loaded without anything to train"

# A library of its name without the functions is no OpenBLAS.
expect 0 "" "$OLTR" data generate web30k -o data --queries 3 -q
files="--train data/train.txt --vali data/vali.txt --test data/test.txt"
mkdir lib
libz=$(ldconfig -p | sed -n 's/.*libz\.so\.1 .*=> //p' | head -1)
if [ -n "$libz" ]; then
    cp "$libz" lib/libopenblas.so.0
    expect 1 "training scorers needs OpenBLAS, which cannot be loaded (Debian: libopenblas0): it has no cblas_sgemm" \
        env LD_LIBRARY_PATH="$PWD/lib" "$OLTR" prior train $files -o no.csv --models 1 --epochs 1 -q
    [ ! -e no.csv ] || fail "scores without training"
fi
expect 0 "" "$OLTR" prior train $files -o yes.csv --models 1 --epochs 1 -q
there yes.csv
echo ok

# mpi.sh - ranks of an MPI job give the same bytes as one process.
. "$(dirname "$0")/common.bash"
need mpirun
MPI=$(dirname "$OLTR")/oltr-mpi
[ -x "$MPI" ] || { echo "skipped: oltr-mpi was not built"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI leaves memory behind, some of it by modules that are gone by then
# Everything on this machine; no network, no binding of ranks to the few processors there are.
mpi() {
    mpirun --oversubscribe --bind-to none --mca btl self,vader --mca btl_vader_single_copy_mechanism none "$@"
}

small >small.yaml
expect 0 "" "$OLTR" run small.yaml -o whole -q --no-figures
for ranks in 1 2 3; do
    expect 0 "results in ranks$ranks" mpi -n "$ranks" "$MPI" run small.yaml -o "ranks$ranks" -j 1 --no-figures
    [ "$(grep -c 'results in' said)" -eq 1 ] || fail "more than one rank speaks"
    for table in results.csv summary.csv pairs.csv metrics.csv experiment.yaml; do
        same "whole/$table" "ranks$ranks/$table"
    done
    no_leftovers "ranks$ranks"
done

{ small; echo 'sweep: [{key: world.items, values: [10, 20]}, {key: slots, values: [1, 2]}]'; } >two.yaml
expect 0 "" "$OLTR" run two.yaml -o two -q --no-figures
expect 0 "results in two2" mpi -n 2 "$MPI" run two.yaml -o two2 -j 1 --no-figures
same two/results.csv two2/results.csv

# mistakes are said once, and end all ranks
expect 2 "no-such.yaml" mpi -n 2 "$MPI" run no-such.yaml -o none
[ "$(grep -c '^oltr:' said)" -eq 1 ] || fail "the mistake is told more than once"
expect 2 "cannot be read from standard input" mpi -n 2 "$MPI" run - -o none
expect 2 "--shard is for runs without MPI" mpi -n 2 "$MPI" run small.yaml -o none --shard 1/2
expect 0 "oltr" mpi -n 2 "$MPI" version
[ "$(grep -c '^oltr ' said)" -eq 1 ] || fail "more than one rank tells the version"
echo ok

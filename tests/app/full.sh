# full.sh - `oltr run --full`: the paper's size is chosen, its cost is printed first, flags change it, and shards, ranks of MPI, resumption and a
# folder of data work as without it.
. "$(dirname "$0")/common.bash"

small() { # POLICIES
    cat <<YAML
title: Small
seed: 4
rounds: 40
slots: 4
checkpoints: 4
world:
  kind: dataset
  shape: web30k
  generated: {train: 6, vali: 3, test: 5}
  queries: 2
  rankers: 0
policies: $1
YAML
}
small '[{name: GTS, kind: gts}]' >gts.yaml
small '[{name: GTS, kind: gts}, {name: C-LinUCB, kind: cascade-linucb}, {name: C-WOFUL, kind: cascade-woful}]' >small.yaml
set_generated='world.generated={train: 6, vali: 3, test: 5}'

# --- the size: every query, 50 replications, 10,000 rounds; and the file keeps what was run
expect 0 "full size: 250 replications of 10000 rounds by 1 policy, about" "$OLTR" run gts.yaml --full --set "$set_generated" -o whole --no-figures
grep -q 'core-hours on this machine' said || fail "does not say the cost"
[ "$(head -1 said | cut -c1-10)" = "full size:" ] || fail "the cost is not said first"
[ "$(tail -n +2 whole/queries.csv | wc -l)" = 5 ] || fail "not all queries were played"
grep -qF 'gts.yaml with --full, --set world.generated' whole/experiment.yaml || fail "the folder does not say --full"
grep -q '^rounds: 10000' whole/experiment.yaml || fail "the folder does not hold the size"
expect 0 "" "$OLTR" run gts.yaml --set "$set_generated" --set world.queries=all --replications 50 --rounds 10000 -o same --no-figures -q
same whole/results.csv same/results.csv
expect 0 "already finished" "$OLTR" run gts.yaml --full --set "$set_generated" -o whole --no-figures --resume

# --- flags change it; shards and their merge are the whole
few=(--full --set "$set_generated" --rounds 60 --replications 3 --no-figures)
expect 0 "full size: 15 replications of 60 rounds by 3 policies" "$OLTR" run small.yaml "${few[@]}" -o one
for i in 1 2; do
    expect 0 "full size: part $i of 2 is " "$OLTR" run small.yaml "${few[@]}" -o parts --shard $i/2
done
expect 0 "" "$OLTR" merge parts -o merged
same one/results.csv merged/results.csv
expect 0 "" "$OLTR" run small.yaml "${few[@]}" -o quiet -q
[ ! -s said ] || fail "--quiet says something"
same one/results.csv quiet/results.csv

# --- the two files of the paper, smaller: what the shape, the policies and the flags of each make of it
tiny=(--full --set 'world.generated={train: 3, vali: 2, test: 2}' --set world.rankers=1 --rounds 3 --replications 2 --no-figures -j 1)
for name in web30k istella; do
    expect 0 "full size: 4 replications of 3 rounds by 17 policies" "$OLTR" run "$SOURCE/experiments/$name.yaml" "${tiny[@]}" -o $name
done
for i in 1 2; do
    expect 0 "full size: part $i of 2 is 2 replications" "$OLTR" run "$SOURCE/experiments/istella.yaml" "${tiny[@]}" -o istella-parts --shard $i/2
done
expect 0 "" "$OLTR" merge istella-parts -o istella-merged --no-figures
same istella/results.csv istella-merged/results.csv
same istella/queries.csv istella-merged/queries.csv
# without --set, the generated set has the size of the real one; stopped before it is made
timeout -s INT 0.3 "$OLTR" run "$SOURCE/experiments/istella.yaml" --full -o size -q
[ ! -e size/results.csv ] || fail "a stopped run has results"

# --- ranks of MPI: one of them tells the cost, of its own part too; the same bytes
MPI=$(dirname "$OLTR")/oltr-mpi
if [ -x "$MPI" ] && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    expect 0 "full size: part 1 of 2 is 2 replications" mpirun --oversubscribe --bind-to none --mca btl self,vader \
        --mca btl_vader_single_copy_mechanism none -n 2 "$MPI" run "$SOURCE/experiments/istella.yaml" "${tiny[@]}" -o ranks
    [ "$(grep -c 'core-hours on this machine' said)" = 1 ] || fail "not one rank tells the cost"
    same istella/results.csv ranks/results.csv
    same istella/queries.csv ranks/queries.csv
    no_leftovers ranks
else
    echo "skipped in part: no oltr-mpi or no mpirun"
fi

# --- a folder of data is played as it is
"$OLTR" data generate web30k -o web --queries 6 --quiet || fail "no data"
expect 0 "full size: 6 replications of 30 rounds" "$OLTR" run gts.yaml --full --data web --set slots=2 --rounds 30 --replications 3 -o data --no-figures
grep -q 'generated: {train: 18919' data/experiment.yaml && fail "a generated size beside data"

# --- stopped while it is timed: nothing is left
small '[{name: C-WOFUL, kind: cascade-woful}, {name: LogTS, kind: logts}]' >slow.yaml
timeout -s INT 0.5 "$OLTR" run slow.yaml --full --set "$set_generated" --rounds 3000 -o timed --no-figures >said 2>&1
[ ! -e timed/results.csv ] || fail "a stopped run has results"

# --- stopped later: --resume goes on, and ends with the bytes of the run that was not stopped
# The last line before the simulation tells when it begins; it takes half a second or more.
for try in 1 2 3 4 5; do
    rm -rf stopped
    "$OLTR" run gts.yaml --full --set "$set_generated" -o stopped --no-figures -j 1 >said 2>&1 &
    child=$!
    while kill -0 "$child" 2>/dev/null && ! grep -q 'Ctrl-C stops it' said; do sleep 0.01; done
    sleep 0.1
    kill -INT "$child" 2>/dev/null
    wait "$child"
    [ ! -e stopped/partial.oltr ] || break
done
there stopped/partial.oltr
expect 0 "full size: 250 replications of 10000 rounds" "$OLTR" run gts.yaml --full --set "$set_generated" -o stopped --no-figures --resume
same whole/results.csv stopped/results.csv
same whole/queries.csv stopped/queries.csv
no_leftovers stopped

# --- where it does not apply
expect 2 "--full is for experiments on judged queries" "$OLTR" run "$SOURCE/experiments/linear.yaml" --full -o none
expect 2 "--full is for experiments on judged queries" "$OLTR" run "$SOURCE/experiments/concentration.yaml" --full -o none
[ ! -e none ] || fail "a refused run made its folder"

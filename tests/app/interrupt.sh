# interrupt.sh - a run that is stopped and resumed ends with the same bytes, and never leaves half a file.
. "$(dirname "$0")/common.bash"

rounds=20000
sanitized && rounds=5000
cat >long.yaml <<YAML
rounds: $rounds
slots: 3
replications: 60
checkpoints: 20
world: {kind: beta, items: 30}
policies:
  - {name: GTS, kind: gts}
  - {name: BayesUCB-Beta, kind: bayes-ucb, prior: full}
YAML
run="$OLTR run long.yaml --no-figures -j 2"
$run -o whole -q || fail "the whole run"

# stop DIR SIGNAL [FLAG]: starts a run and stops it after $delay seconds; its status is in `code`
stop() {
    $run -o "$1" ${3-} >said 2>&1 &
    local child=$!
    sleep "$delay"
    kill -"$2" "$child" 2>/dev/null
    wait "$child"
    code=$?
}

# on a fast machine the run may be over too soon
for delay in 0.4 0.2 0.1 0.05 0.02; do
    rm -rf part
    stop part INT
    [ "$code" -ne 0 ] && break
done

rm -rf part
signal=INT
stopped=0
flag=
for try in 1 2 3 4 5 6; do
    stop part "$signal" $flag
    flag=--resume
    [ "$code" -eq 0 ] && break
    [ "$code" -eq 130 ] || fail "status $code after SIG$signal"
    stopped=$((stopped + 1))
    if grep -q 'stopped before the first of 60 replications was finished; nothing is kept' said; then
        [ -z "$(ls part)" ] || fail "something stayed: $(ls part)"
        delay=$(awk "BEGIN { print 2 * $delay }")
        continue
    fi
    grep -qE 'stopped after [0-9]+ of 60 replications' said || fail "does not say how far it came"
    grep -q 'with --resume goes on' said || fail "does not say how to go on"
    there part/partial.oltr
    [ ! -e part/results.csv ] || fail "results of half a run"
    [ "$(ls part)" = partial.oltr ] || fail "something else stayed: $(ls part)"
    signal=TERM
done
[ "$stopped" -gt 0 ] || fail "the run was over before it could be stopped"

# another experiment, or a damaged file, is refused
[ -e part/partial.oltr ] && cp part/partial.oltr saved
if [ -e saved ]; then
    expect 1 'cannot resume' "$OLTR" run long.yaml -o part --resume --no-figures -s 99
    expect 1 'another experiment' "$OLTR" run long.yaml -o part --resume --no-figures --set policies.GTS.sigma=1
    mkdir broken
    head -c 100 saved >broken/partial.oltr
    expect 1 'cannot resume' "$OLTR" run long.yaml -o broken --resume --no-figures
    same part/partial.oltr saved
    expect 0 "" $run -o part --resume
fi
same part/results.csv whole/results.csv
same part/summary.csv whole/summary.csv
no_leftovers part

# while data are made and scorers trained, before anything is simulated
"$OLTR" run "$SOURCE/experiments/web30k.yaml" --full -o early >said 2>&1 &
child=$!
until [ -d early ]; do sleep 0.05; done
kill -INT "$child"
wait "$child"
code=$?
[ "$code" -eq 130 ] || fail "status $code after SIGINT during the preparation"
grep -qF 'stopped before the simulation began; nothing is kept' said || fail "does not say that nothing is kept"
[ -z "$(ls early)" ] || fail "something stayed: $(ls early)"

# Ctrl-C while the experiment is read from a pipe
mkfifo pipe
"$OLTR" run pipe -o early >said 2>&1 &
child=$!
sleep 0.2
while kill -INT "$child" 2>/dev/null; do sleep 0.1; done
wait "$child"
code=$?
[ "$code" -eq 130 ] || fail "status $code after SIGINT while it read the experiment"

# without --resume an old partial file is named, and not used
mkdir anew
echo rubbish >anew/partial.oltr
expect 0 'starting anew' "$OLTR" run long.yaml -o anew --rounds 100 --no-figures
no_leftovers anew
expect 0 'already finished' "$OLTR" run long.yaml -o anew --rounds 100 --no-figures --resume
expect 0 'to resume; starting from the beginning' "$OLTR" run long.yaml -o fresh --rounds 100 --no-figures --resume

# one replication of a million items is stopped between two of its rounds, not at its end hours later
cat >million.yaml <<'YAML'
rounds: 1000000
slots: 3
replications: 1
world: {kind: beta, items: 1000000}
policies: [{kind: gts}]
YAML
timeout --preserve-status --signal INT --kill-after 60 2 "$OLTR" run million.yaml -o million --no-figures -j 1 >said 2>&1
code=$?
[ "$code" -eq 130 ] || fail "status $code after SIGINT in a long replication"
[ ! -e million ] || [ -z "$(ls million)" ] || fail "something stayed: $(ls million)"
if [ -s said ]; then # the signal came while it was running, not while it was reading, where it ends the program at once
    grep -q 'stopped before its one replication was finished; nothing is kept' said || fail "does not say that nothing is kept"
fi

# a second Ctrl-C ends it at once
$run -o killed >said 2>&1 &
child=$!
sleep "$delay"
kill -INT "$child"
kill -INT "$child" 2>/dev/null
wait "$child"
code=$?
[ "$code" -eq 130 ] || fail "status $code after two signals"
[ ! -e killed/results.csv ] || fail "results of a killed run"

# what a killed run leaves is removed by the next that writes there: texts, drawings, and results that were on their way
"$OLTR" data generate web30k --queries 3000 --split train -o made -q &
child=$!
for wait in $(seq 100); do
    ls made/train.txt.*.tmp >/dev/null 2>&1 && break
    sleep 0.02
done
kill -KILL "$child"
wait "$child" 2>/dev/null
ls made/train.txt.*.tmp >/dev/null 2>&1 || fail "nothing was left to be removed"
expect 0 "" "$OLTR" data generate web30k --queries 3 --split train -o made -q
[ "$(ls made)" = train.txt ] || fail "left behind: $(ls made)"
mkdir -p anew/.drawing-killed
echo half | tee anew/partial.oltr.77-0.tmp anew/manifest.json.77.tmp >anew/.drawing-killed/regret.svg
if command -v gnuplot >/dev/null; then
    expect 0 "" "$OLTR" run long.yaml -o anew --rounds 100 -q --force
else
    rm -r anew/.drawing-killed
    expect 0 "" "$OLTR" run long.yaml -o anew --rounds 100 -q --no-figures --force
fi
no_leftovers anew
echo ok

# finished.sh - a folder of finished results is not overwritten by accident, and is not played again.
. "$(dirname "$0")/common.bash"
{
    small
    echo 'figures: []'
} >small.yaml
run=("$OLTR" run small.yaml -o a)

expect 0 "results in a" "${run[@]}"
find a -type f -exec md5sum {} + | sort >before

# unchanged DIR: as it was when `before` was made
unchanged() {
    find "$1" -type f -exec md5sum {} + | sort >after
    same before after
}

expect 2 "a holds the results of a finished run: choose another folder with --output, or replace them with --force" "${run[@]}"
unchanged a
expect 2 "a holds the results of a finished run" "${run[@]}" --seed 9 -q
unchanged a
expect 2 "a holds the results of a finished run" "$OLTR" run a/experiment.yaml -o a
expect 2 "a holds the results of a finished run" "${run[@]}" --shard 1/2
unchanged a

# finished is finished: nothing is played, however long it would take
expect 0 "already finished: the results are in a" "${run[@]}" --resume
unchanged a
expect 0 "" "${run[@]}" --resume -q
[ ! -s said ] || fail "quiet is not quiet"
expect 2 "a holds the finished results of another experiment, of other settings or data" "${run[@]}" --resume -s 9
sed -i 's/"oltr": "[^"]*"/"oltr": "0.0.0"/' a/manifest.json
expect 2 "or of another version of oltr" "${run[@]}" --resume

# a manifest.json that is not ours is not overwritten either
mkdir web
echo '{"name": "a web page"}' >web/manifest.json
cp web/manifest.json web.json
expect 2 "web holds the results of a finished run" "$OLTR" run small.yaml -o web
expect 2 "web holds the finished results of another experiment" "$OLTR" run small.yaml -o web --resume
same web/manifest.json web.json

# --force replaces the results, removes what the earlier run has drawn, and nothing else
if command -v gnuplot >/dev/null; then
    expect 0 "" "$OLTR" run small.yaml -o f --set 'figures=[{file: old}, {file: both}]'
    echo mine | tee f/mine.svg f/old.txt f/old.svg.bak >/dev/null
    cp f/both.svg both.svg
    expect 0 "and 1 figure in f" "$OLTR" run small.yaml -o f --set 'figures=[{file: both}]' --force -s 8
    [ -z "$(ls f/old.csv f/old.gp f/old.svg f/old.png f/old.pdf 2>/dev/null)" ] || fail "stale figures: $(ls f)"
    there f/mine.svg f/old.txt f/old.svg.bak f/both.svg
    cmp -s f/both.svg both.svg && fail "a stale figure stayed"
    # drawing that was stopped is made up for
    rm f/both.png
    cp f/results.csv results.csv
    expect 0 "already finished: the results are in f; the figures are drawn" \
        "$OLTR" run small.yaml -o f --set 'figures=[{file: both}]' -s 8 --resume
    there f/both.png
    same f/results.csv results.csv
    rm f/both.png
    expect 0 "already finished" "$OLTR" run small.yaml -o f --set 'figures=[{file: both}]' -s 8 --resume --no-figures
    [ ! -e f/both.png ] || fail "drawn in spite of --no-figures"
fi
printf 'kind: concentration\nattraction: [0.1, 0.5]\nobservations: 10\nsigma: [1]\n' >c.yaml
expect 0 "" "$OLTR" run small.yaml -o k --no-figures
there k/results.csv k/pairs.csv
expect 0 "" "$OLTR" run c.yaml -o k --no-figures --force
there k/density.csv k/summary.csv
[ ! -e k/results.csv ] && [ ! -e k/pairs.csv ] || fail "tables of another kind of experiment: $(ls k)"

# a forced run that is stopped leaves the earlier results as they are
expect 0 "" "$OLTR" run small.yaml -o s
find s -type f -exec md5sum {} + | sort >before
"$OLTR" run small.yaml -o s --force -s 3 -q --rounds 100000 --replications 5000 -j 1 &
child=$!
sleep 0.5
kill -INT $child
wait $child
[ $? -eq 130 ] || fail "it was not stopped"
rm -f s/partial.oltr
unchanged s

# shards
expect 0 "shard 1 of 2 is in p/shard-1-of-2.oltr" "$OLTR" run small.yaml -o p --shard 1/2
expect 2 "p holds the results of a finished shard" "$OLTR" run small.yaml -o p --shard 1/2
expect 0 "already finished: shard 1 of 2 is in p/shard-1-of-2.oltr" "$OLTR" run small.yaml -o p --shard 1/2 --resume
expect 2 "or replace the shard with --force" "$OLTR" run small.yaml -o p --shard 1/2 --resume -s 9
expect 0 "shard 1 of 2" "$OLTR" run small.yaml -o p --shard 1/2 --force
expect 0 "shard 2 of 2" "$OLTR" run small.yaml -o p --shard 2/2
expect 0 "results in p" "$OLTR" merge p
expect 2 "p holds the results of a finished run" "$OLTR" merge p
expect 0 "results in p" "$OLTR" merge p --force
same p/results.csv s/results.csv

# a folder that cannot be written into is noticed before anything is simulated
long=(--rounds 2000000000 --replications 1000)
expect 1 "cannot make this folder: Not a directory" "$OLTR" run small.yaml -o small.yaml/x "${long[@]}"
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 555 locked
    expect 1 "locked: cannot write into this folder: Permission denied" "$OLTR" run small.yaml -o locked "${long[@]}"
else
    expect 1 "/proc/self: cannot write into this folder" "$OLTR" run small.yaml -o /proc/self "${long[@]}"
fi
echo ok

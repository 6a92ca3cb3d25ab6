# figures.sh - what is drawn, drawing again from the files alone, and life without gnuplot.
. "$(dirname "$0")/common.bash"
need gnuplot

{
    small
    cat <<'YAML'
figures:
  - {file: one, title: "It's a 100% `date` @title with _ ^ {} \\ \"quotes\""}
  - {file: two, policies: [TS-Beta], rounds: 100, bands: 3, bounds: true, log: true}
  - {file: three, bands: 0, bounds: true}
  - {file: rate, y: ctr}
  - {file: quality, y: ndcg, bands: 2}
YAML
} >small.yaml
expect 0 "results and figures in a" "$OLTR" run small.yaml -o a
for name in one two three rate quality; do
    there a/$name.svg a/$name.png a/$name.pdf a/$name.gp a/$name.csv
    head -c 8 a/$name.png | od -An -c | grep -q 'P *N *G' || fail "$name.png is no PNG"
    head -c 5 a/$name.pdf | grep -q '%PDF-' || fail "$name.pdf is no PDF"
    grep -q '<svg' a/$name.svg || fail "$name.svg is no SVG"
    if command -v xmllint >/dev/null; then
        xmllint --noout a/$name.svg || fail "$name.svg is not XML"
    fi
done
# swept words are not joined by lines, swept numbers are
for sweep in 'key: world.clicks, values: [cascade, dcm]' 'key: world.items, values: [8, 10]'; do
    { small; echo "sweep: {$sweep}"; } >swept.yaml
    expect 0 "" "$OLTR" run swept.yaml -o swept --force
    case $sweep in
        *clicks*) grep -q 'with points' swept/regret.gp && ! grep -q 'with linespoints' swept/regret.gp ;;
        *) grep -q 'with linespoints' swept/regret.gp ;;
    esac || fail "$sweep: wrong marks"
done
grep -q '`date` @title' a/one.svg || fail "the title was not left alone"
grep -q 'cumulative regret' a/one.svg || fail "no axis title"
grep -q 'TS-Beta' a/one.svg || fail "no legend"
grep -q 'Theorem 1' a/three.svg || fail "no bound"
grep -q 'GTS' a/two.svg && fail "a policy that was not asked for"
[ "$(head -1 a/two.csv | tr -cd , | wc -c)" -eq 4 ] || fail "two curves with errors in two.csv"
grep -q 'click rate' a/rate.svg || fail "no axis title of y: ctr"
grep -q 'NDCG' a/quality.svg || fail "no axis title of y: ndcg"
for metric in ctr ndcg worst; do
    [ "$(grep -c ",$metric," a/metrics.csv)" -eq "$(grep -c 'GTS\|TS-Beta' a/results.csv)" ] || fail "rows of $metric"
done
# the reward up to a checkpoint is the sum of the click rates before it, each for the rounds it is of
awk -F, 'NR == FNR { if ($4 == "ctr") { sum[$2] += $5 * ($3 - last[$2]); last[$2] = $3; at[$2, $3] = sum[$2] } next }
    FNR > 1 && (at[$2, $3] - $6) ^ 2 > 1e-12 { bad = 1 } END { exit bad }' a/metrics.csv a/results.csv || fail "click rates and rewards differ"
no_leftovers a
# every bound, where the world has what it needs
printf '%s\n' 'rounds: 50' 'slots: 2' 'replications: 3' 'world: {kind: fixed, levels: [[2, 0.5], [4, 0.1]], features: [[1, 0], [0, 1], [1, 1], [2, 1], [1, 2], [3, 3]]}' \
    'policies: [{kind: gts}]' 'figures: [{file: f, log: true, bounds: [trivial, thm1, thm2, thm3, thm4, thm4-sqrt-t, lower]}]' >bounds.yaml
expect 0 "" "$OLTR" run bounds.yaml -o bounds -q
[ "$(head -1 bounds/f.csv | tr -cd , | wc -c)" -eq 16 ] || fail "eight curves in f.csv"
for name in 'Theorem 2' 'Theorem 3' 'Theorem 4 as printed' 'Theorem 4 with √T' 'lower bound' 'all that can be lost'; do
    grep -q "$name" bounds/f.svg || fail "no $name"
done
expect 0 "" "$OLTR" plot bounds
sed 's/"thm4-sqrt-t"/"thm5"/' bounds/manifest.json >m.json && cp m.json bounds/manifest.json
expect 2 'a figure has a bound that is unknown or not of its world' "$OLTR" plot bounds
wrong() { sed "s/bounds: .*/bounds: $1}]/" bounds.yaml | sed "s/levels: [^a-z]*/$2/" >wrong.yaml; expect 2 "$3" "$OLTR" run wrong.yaml -o w -q; }
wrong '[thm1, thm1]' '&' 'this bound is in the list twice'
wrong '[theorem]' '&' 'must be trivial, thm1, thm2, thm3, thm4, thm4-sqrt-t or lower'
wrong 'thm1' '&' 'must be a list of bounds, like [thm1, lower]'
wrong '[lower]' 'levels: [[1, 0.5], [5, 0.1]], ' 'the bound `lower` needs a world of kind fixed'

# the script alone makes the same figure
mkdir alone
cp a/one.gp a/one.csv alone/
(cd alone && gnuplot one.gp) || fail "the script does not run"
same alone/one.svg a/one.svg

# drawing again
cp a/one.svg before.svg
cp a/two.svg before2.svg
rm a/*.svg a/*.png a/*.pdf a/*.gp a/one.csv a/two.csv a/three.csv a/rate.csv a/quality.csv
expect 0 "5 figures drawn in a" "$OLTR" plot a
same a/one.svg before.svg
there a/two.png a/three.pdf
expect 0 "" "$OLTR" plot a --quiet
[ ! -s said ] || fail "quiet is not quiet"
sed -i 's/"title": "A small one"/"title": "Another name"/' a/manifest.json
expect 0 "" "$OLTR" plot a
grep -q 'Another name' a/three.svg || fail "an edited manifest is not read"

# broken folders
expect 2 'nowhere: cannot be opened: No such file' "$OLTR" plot nowhere
mkdir b
cp a/manifest.json b/
expect 2 'b/results.csv: cannot be opened' "$OLTR" plot b
echo 'a,b' >b/results.csv
expect 2 'line 1 is not the heading' "$OLTR" plot b
sed '5s/,[0-9.]*,/,x,/' a/results.csv >b/results.csv
expect 2 'record 5 is broken' "$OLTR" plot b
printf 'sweep,policy,round,regret,regret_se,reward,replications\n,"GTS' >b/results.csv
expect 2 'record 2 is broken' "$OLTR" plot b
grep -v 'TS-Beta' a/results.csv >b/results.csv
expect 2 'results.csv has no row of `TS-Beta`' "$OLTR" plot b
printf 'sweep,\0policy\n' >b/results.csv
expect 2 'has zero bytes in it' "$OLTR" plot b
cp a/results.csv b/
manifest() {
    local text=$1
    shift
    sed "$@" a/manifest.json >b/manifest.json
    cmp -s a/manifest.json b/manifest.json && fail "the change did nothing: $*"
    expect 2 "$text" "$OLTR" plot b
}
manifest 'b/manifest.json:' '1s/{/[/'
manifest '`points` is missing' 's/"points"/"pints"/'
manifest 'neither regret nor concentration' 's/"kind": "regret"/"kind": "rgret"/'
manifest '`figures` is missing' 's/"figures"/"figs"/'
manifest 'no good `file`' 's/"file": "one"/"file": "..\/one"/'
manifest 'no good `file`' 's/"file": "one"/"file": "results"/'
manifest 'neither round nor sweep' 's/"x": "round"/"x": "y"/'
manifest 'there is no sweep' 's/"x": "round"/"x": "sweep"/'
manifest 'no good `rounds` or `bands`' 's/"bands": 3/"bands": 30/'
manifest 'no good sweep, rounds, slots or items' 's/"items": 10$/"items": 0/; s/"items": 10,$/"items": -1,/'
[ -z "$(ls b | grep -v -e manifest.json -e results.csv)" ] || fail "a broken folder got figures: $(ls b)"

# without gnuplot the results are there all the same
mkdir empty
expect 1 'gnuplot is not on the PATH; install it (Debian: gnuplot-nox)' \
    env PATH="$PWD/empty" "$OLTR" run small.yaml -o c
there c/results.csv c/summary.csv c/manifest.json c/experiment.yaml
no_leftovers c
expect 0 "results in d" env PATH="$PWD/empty" "$OLTR" run small.yaml -o d --no-figures
expect 0 "5 figures drawn" "$OLTR" plot d
same d/two.svg before2.svg

# a gnuplot that fails
mkdir bin
printf '#!/bin/sh\necho "line 1: no terminal"\nexit 3\n' >bin/gnuplot
chmod +x bin/gnuplot
expect 1 'gnuplot failed: line 1: no terminal' env PATH="$PWD/bin:$PATH" "$OLTR" plot d
printf '#!/bin/sh\necho "gnuplot: cannot load libcairo" >&2\nexit 127\n' >bin/gnuplot # as the dynamic linker
expect 1 'gnuplot failed: gnuplot: cannot load libcairo' env PATH="$PWD/bin:$PATH" "$OLTR" plot d
printf '#!/bin/sh\nexit 0\n' >bin/gnuplot
expect 1 'gnuplot did not draw it' env PATH="$PWD/bin:$PATH" "$OLTR" plot d
printf '#!/bin/sh\nkill -SEGV $$\n' >bin/gnuplot
expect 1 'one: gnuplot was ended by signal 11 (Segmentation fault)' env PATH="$PWD/bin:$PATH" "$OLTR" plot d

# a figure that cannot be drawn does not stop the others: without a click there is no NDCG
small | sed '/^world:/,/items:/d' >dull.yaml
cat >>dull.yaml <<'YAML'
world: {kind: fixed, levels: [[10, 0.0]]}
figures: [{file: ndcg, y: ndcg}, {file: regret}]
YAML
sed -i 's/, prior: full//' dull.yaml
expect 1 'the results are in dull, but not all figures: ndcg: metrics.csv has no ndcg' "$OLTR" run dull.yaml -o dull
there dull/results.csv dull/regret.svg

# Ctrl-C while gnuplot draws: the results are there
printf '#!/bin/sh\ntouch "%s/drawing"\nexec sleep 60\n' "$PWD" >bin/gnuplot
env PATH="$PWD/bin:$PATH" "$OLTR" run small.yaml -o stopped -q >said 2>&1 &
child=$!
for ((i = 0; i < 200; i++)); do
    [ -e drawing ] && break
    sleep 0.05
done
kill -INT $child
wait $child
code=$?
[ $code -eq 130 ] || fail "status $code after Ctrl-C"
grep -q 'the results are in stopped, but not all figures: stopped before' said || fail "does not say what is there"
there stopped/results.csv stopped/manifest.json
no_leftovers stopped
expect 0 "already finished: the results are in stopped; the figures are drawn" "$OLTR" run small.yaml -o stopped --resume
there stopped/three.pdf
no_leftovers d
echo ok

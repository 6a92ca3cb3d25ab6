# reproduce.sh - all experiments of a folder and a report of them: order, failure, resumption, names, and what the page escapes.
. "$(dirname "$0")/common.bash"
need gnuplot
CHECK="$SOURCE/tests/report/check.py"

# the experiments of the project have all figures of the paper, under its labels, and each has a claim or shares its experiment's
for label in stand stand-misspec lin log web30k Istella BvsGPost stand-subset lin-subset log-cut web30k-cut Istella-cut web30k-all Istella-all \
    prior-standard-cut prior-standard; do
    [ "$(cat "$SOURCE"/experiments/*.yaml | grep -c "^    label: fig:$label\$")" -eq 1 ] || fail "no experiment, or two, have fig:$label"
done
[ "$(cat "$SOURCE"/experiments/*.yaml | grep -c '^    label: ')" -eq 16 ] || fail "a label that the paper does not have"
for file in "$SOURCE"/experiments/*.yaml; do
    grep -q '^claims:' "$file" || fail "$file has no claims"
done

mkdir ex
{
    small
    cat <<'YAML'
figures:
  - {file: one, label: "fig:one", caption: "<b>not bold</b> & \"quoted\""}
  - {file: two, policies: [TS-Beta], title: "</script><script>alert(1)</script>"}
claims:
  - figure: one
    says: "TS-Beta <i>wins</i> & that's it."
    tests: [{less: [TS-Beta, GTS]}, {of: "</script>", not_measurable: "<img src=x>"}]
YAML
} >ex/noncontextual.yaml
small | sed 's/A small one/Another/' >ex/zebra.yaml
{ small; echo 'sweep: [{key: world.items, values: [10, 20]}, {cases: {right: {}, shifted: {world.prior_shift: 2}}}]'; } | sed 's/A small one/Swept/' >ex/misspecification.yaml
printf 'title: Posteriors\nkind: concentration\nattraction: [0.1, 0.5]\nobservations: 20\nsigma: [1]\n' >ex/concentration.yaml

expect 0 "4 experiments into r" "$OLTR" reproduce --experiments ex -o r -j 2
grep -q 'the report is r/index.html' said || fail "does not say where the report is"
[ "$(grep -c 'done in' said)" -eq 4 ] || fail "four lines, one an experiment"
there r/index.html r/page.json r/results.csv r/summary.csv r/claims.csv r/summary.tex r/report.json r/noncontextual/one.pdf
no_leftovers r
if command -v python3 >/dev/null; then
    expect 0 "" python3 "$CHECK" r
fi
# the order is that of the paper, then by name
[ "$(grep -o '{"name":"[a-z]*","standings"' r/page.json | cut -d'"' -f4 | tr '\n' ' ')" = "noncontextual misspecification concentration zebra " ] ||
    fail "another order"
head -1 r/results.csv | grep -qx 'experiment,sweep,policy,round,regret,regret_se,reward,replications' || fail "heading of results.csv"
[ "$(sed 1d r/summary.csv | wc -l)" -eq $(($(cat r/*/summary.csv | grep -vc '^sweep,\|^attraction,\|^0\.[15],'))) ] || fail "summary.csv has other rows than the folders"
sed 1d r/noncontextual/results.csv | sed 's/^/noncontextual,/' >want
grep '^noncontextual,' r/results.csv | cmp -s - want || fail "results.csv is not the folders' results"
grep -q '^noncontextual,one,TS-Beta <i>wins</i> & that' r/claims.csv || fail "claims.csv"
# a browser takes nothing of the files as HTML
grep -q '<b>not bold\|<i>wins\|<img src=x\|<script>alert' r/index.html && fail "words of a file became part of the page"
grep -qF '\u003cb>not bold\u003c/b> & \"quoted\"' r/index.html || fail "the caption is not in the page"

# the report alone, again: the same bytes
cp r/index.html before.html
cp r/page.json before.json
cp r/summary.tex before.tex
expect 0 "the report is r/index.html" "$OLTR" report r
same r/index.html before.html
same r/page.json before.json
same r/summary.tex before.tex
# what is done is left alone
expect 0 "was done before" "$OLTR" reproduce --experiments ex -o r
[ "$(grep -c 'was done before' said)" -eq 4 ] || fail "something was run again"
same r/index.html before.html
# a figure that is gone is drawn again, and nothing is simulated
rm r/zebra/regret.svg
touch -d '2001-01-01' r/zebra/results.csv
expect 1 "lacks 1 figure that was not drawn" "$OLTR" report r
expect 0 "" "$OLTR" reproduce --experiments ex -o r -q
[ ! -s said ] || fail "quiet is not quiet"
there r/zebra/regret.svg
[ "$(stat -c %Y r/zebra/results.csv)" -lt 1000000000 ] || fail "simulated again for a figure"
# a changed file is run again
sed -i 's/^seed: 7/seed: 8/' ex/zebra.yaml
expect 0 "" "$OLTR" reproduce --experiments ex -o r
grep -q '^zebra  *done in' said || fail "a changed experiment was not run again"
[ "$(grep -c 'was done before' said)" -eq 3 ] || fail "an unchanged one was"

# names; one that fails does not stop the others
expect 0 "1 experiment into named" "$OLTR" reproduce --experiments ex -o named zebra
[ "$(ls named | grep -c '^[a-z]*$')" -eq 1 ] || fail "ran what was not named"
echo 'rounds: none' >ex/broken.yaml
expect 1 "1 of 2 experiments failed" "$OLTR" reproduce --experiments ex -o half broken concentration
grep -q 'ex/broken.yaml:1:9: ' said || fail "does not say what is wrong"
grep -q '^broken  *FAILED' said || fail "does not say which"
there half/index.html half/concentration/manifest.json
grep -q 'It failed when it was run last' half/index.html || fail "the page does not say so"
rm ex/broken.yaml

# a quick run
expect 0 "This is a quick run" "$OLTR" reproduce --experiments ex --quick -o quick zebra
grep -q '"replications": 4,' quick/zebra/manifest.json || fail "a quick run of full length"
grep -q '"notice":"This is a quick run' quick/index.html || fail "the page does not say that it is a quick run"
[ ! -e report ] || fail "made a folder that was not asked for"
cat >ex/many.yaml <<'END'
rounds: 3000
replications: 1
slots: 2
world: {kind: uniform, items: 100000}
policies: [{name: Some, kind: random, items: 10}]
END
expect 0 "This is a quick run" "$OLTR" reproduce --experiments ex --quick -o quick many
grep -q '"rounds": 2000,' quick/many/manifest.json || fail "a quick run of many items has all rounds"
rm ex/many.yaml

# stopped and resumed: the same bytes as never stopped
{ small | sed 's/^rounds: .*/rounds: 20000/; s/^replications: .*/replications: 120/'; echo 'figures: []'; } >ex/long.yaml
"$OLTR" reproduce --experiments ex -o s long -j 1 >said 2>&1 &
pid=$!
sleep 0.7
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || fail "status $code after SIGINT"
if grep -q 'stopped; the same command goes on' said; then
    [ ! -e s/long/results.csv ] || fail "results of a stopped run"
fi
expect 0 "" "$OLTR" reproduce --experiments ex -o s long -j 2 -q
expect 0 "" "$OLTR" run ex/long.yaml -o alone -q
same s/long/results.csv alone/results.csv
# a partial file of another experiment is not used
mkdir -p other/long
head -c 100 /dev/urandom >other/long/partial.oltr
expect 0 "not resumed, but run from the beginning" "$OLTR" reproduce --experiments ex -o other long
same other/long/results.csv alone/results.csv

# mistakes
expect 2 'there is no experiment `nope` in ex' "$OLTR" reproduce --experiments ex -o x nope
expect 2 'is not the name of an experiment' "$OLTR" reproduce --experiments ex -o x ../ex/zebra
expect 2 'nowhere: cannot be opened' "$OLTR" reproduce --experiments nowhere -o x
mkdir none
expect 2 'there is no experiment file (.yaml) in it' "$OLTR" reproduce --experiments none -o x
expect 2 '--data nowhere: ' "$OLTR" reproduce --experiments ex --data nowhere -o x
expect 2 'no experiment finds its data there' "$OLTR" reproduce --experiments ex --data none -o x zebra
expect 2 'those that are run need none' "$OLTR" reproduce --experiments ex --data none -o x zebra
expect 2 'it looks for none/yandex with dev_40q.json' "$OLTR" reproduce --experiments "$SOURCE/experiments" --data none -o x yandex
expect 2 'none/web30k, none/yandex with dev_40q.json' "$OLTR" reproduce --experiments "$SOURCE/experiments" --data none -o x web30k yandex
expect 0 'dev_40q.json' "$OLTR" reproduce --help
expect 2 '--output needs the name of a folder' "$OLTR" reproduce --experiments ex -o ''
expect 2 'no folder in it has a manifest.json' "$OLTR" report none
expect 2 'cannot be opened' "$OLTR" report nowhere
echo '{' >none/report.json
expect 2 'none/report.json:' "$OLTR" report none
echo '{"experiments": [{"name": "../x"}]}' >none/report.json
expect 2 'no good name or trouble' "$OLTR" report none
[ ! -e x ] || fail "made a folder for a bad request"
# --- a data set of one's own is played again when its content has changed, whatever the times say
mkdir -p sets/judged judging
for split in train vali test; do
    awk 'BEGIN { for (q = 1; q <= 4; q++) for (d = 0; d < 5; d++) printf "%d qid:%d 1:%d 2:%d\n", (q + d) % 3, q, d, (q * d) % 4 }' >sets/judged/$split.txt
done
small | sed 's/kind: beta/kind: dataset/; s/items: 10/shape: web30k\n  rankers: 0/; s/, prior: full//' >judging/judged.yaml
judged() { "$OLTR" reproduce judged --experiments judging --data sets -o judged -j 1 2>&1; }
again() { judged | grep -q '^judged .*done in' || fail "$1: not played again"; }
left() { judged | grep -q '^judged .*was done before' || fail "$1: played again"; }
again "a new data set"
left "the same data set"
grep -q '"digest": "[0-9a-f]\{16\}"' judged/judged/manifest.json || fail "the manifest has no digest of the data"
touch -d '+1 minute' sets/judged/test.txt
left "another time"
gzip sets/judged/train.txt
left "packed"
gunzip sets/judged/train.txt.gz
touch -r sets/judged/vali.txt before.time
sed -i '3s/1:2/1:3/' sets/judged/vali.txt
touch -r before.time sets/judged/vali.txt
again "another value, the time set back"
sed -i '$s/$/ # a remark/' sets/judged/test.txt
left "a remark"
rm sets/judged/vali.txt
again "a split less"
# one that the experiment file names, and scores that it names
printf 'query,document,one,two\n' >scores.csv
awk 'BEGIN { for (q = 1; q <= 4; q++) for (d = 0; d < 5; d++) printf "%d,%d,0.%d,0.3\n", q, d, d + 1 }' >>scores.csv
sed -i "s|shape: web30k|data: $PWD/sets/judged|; s|rankers: 0|scores: $PWD/scores.csv|" judging/judged.yaml
judged() { "$OLTR" reproduce judged --experiments judging -o own -j 1 "$@" 2>&1; }
again "named in the file"
left "named in the file, the same"
grep -q "judged plays $PWD/sets/judged" own/index.html || fail "the page does not say which data were played"
sed -i '2s/0.1/0.2/' scores.csv
touch -d '2001-01-01' scores.csv
again "other scores"
left "the same scores"
judged --quick | grep -q '^judged .*done in' || fail "no quick run of given scores"
rm scores.csv
judged | grep -q 'scores.csv' || fail "scores that are gone are not missed"
echo ok

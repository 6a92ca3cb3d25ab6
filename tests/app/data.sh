# data.sh - `oltr data`: generated sets, inspection, conversion and normalisers; every message; real files where they are.
. "$(dirname "$0")/common.bash"
DATA=${OLTR_DATA:-$SOURCE/../shared/data}

# ---- generate: three splits, the same bytes for a seed, fewer queries are the first of more
expect 0 "web/train.txt: 9 queries" "$OLTR" data generate web30k -o web --queries 9 --seed 5
grep -q "web/vali.txt: 3 queries" said || fail "vali.txt is not a third"
there web/train.txt web/vali.txt web/test.txt
no_leftovers web
expect 0 "" "$OLTR" data generate web30k -o again --queries 9 --seed 5 --quiet
[ ! -s said ] || fail "--quiet says something"
for split in train vali test; do
    same web/$split.txt again/$split.txt
done
expect 0 "" "$OLTR" data generate web30k -o few --queries 4 -s 5 --split train
[ ! -e few/vali.txt ] || fail "--split train wrote vali.txt"
head -c "$(stat -c %s few/train.txt)" web/train.txt | cmp -s - few/train.txt || fail "fewer queries are not the first of more"
expect 0 "" "$OLTR" data generate web30k -o other --queries 4 -s 6 --split train
cmp -s few/train.txt other/train.txt && fail "another seed gave the same bytes"
expect 2 'web/train.txt exists already; give --force' "$OLTR" data generate web30k -o web --queries 1
expect 2 'web/test.txt exists already' "$OLTR" data generate web30k -o web --queries 1 --split test
cmp -s web/train.txt again/train.txt || fail "a refused command changed a file"
expect 0 "" "$OLTR" data generate web30k -o few --queries 5 -s 5 --split train --force --quiet
expect 0 "istella/train.txt: 2 queries" "$OLTR" data generate istella --queries 2 --split train
there istella/train.txt

expect 2 'data generate needs SHAPE' "$OLTR" data generate
expect 2 'no shape is called `web30`; did you mean `web30k`?' "$OLTR" data generate web30 -o x
expect 2 'no shape is called `yahooooo`; there are web30k and istella' "$OLTR" data generate yahooooo -o x
expect 2 'no split is called `dev`' "$OLTR" data generate web30k -o x --split dev
expect 2 '--queries must be a whole number from 1' "$OLTR" data generate web30k -o x --queries 0
expect 2 '--seed must be a whole number' "$OLTR" data generate web30k -o x --seed -3
[ ! -e x ] || fail "a wrong request made a folder"
echo >plain
expect 1 'cannot make this folder' "$OLTR" data generate web30k -o plain --queries 1
if [ -e /dev/full ]; then
    mkdir full && ln -s /dev/full full/train.txt
    expect 1 'cannot write full/train.txt: No space left' "$OLTR" data generate web30k -o full --queries 1
fi
mkdir limited
(trap '' XFSZ; ulimit -f 16; "$OLTR" data generate web30k -o limited --queries 1 >said 2>&1) && fail "a cut file is no failure"
grep -qF 'cannot write limited/train.txt: File too large' said || fail "the cut file is not named"
[ -z "$(ls limited)" ] || fail "a cut file was left"

# ---- inspect
printf '2 qid:7 1:0.5 2:0 3:-4 4:1e300\n0 qid:7 1:1.5 2:0 3:0 4:2\n0 qid:9 1:1.5 2:0 3:1e3 # a comment\n' >tiny.txt
expect 0 "" "$OLTR" data inspect tiny.txt
line() { # NAME VALUE: the table has this line
    tr -s ' ' <said | grep -qx -- "$1 $2" || fail "no line '$1 $2'"
}
line rows 3
line queries 2
line "documents, fewest" 1
line " median" 1.5
line " mean" 1.50
line " most" 2
line "label 0" "66.67 %"
line "label 2" "33.33 %"
line "queries with labels 0 only" 1
line features 4
line " constant" 1
line " constant within queries" 1
line " with negative values" 1
line "values that are 0" "41.67 %"
line "values too large" 1
line "smallest value" -4
line "largest value" 1000
expect 0 "tiny.txt" "$OLTR" data inspect tiny.txt web/train.txt
expect 0 '"queries_with_labels_0_only": 1' "$OLTR" data inspect --json tiny.txt
if command -v python3 >/dev/null; then
    python3 - said <<'PY' || fail "the JSON is wrong"
import json, sys
one, = json.load(open(sys.argv[1]))
assert one["rows"] == 3 and one["rows_of_label"] == [2, 0, 1] and one["documents"]["most"] == 2
column = one["features"]
assert len(column) == 4 and column[1]["constant"] and column[3]["too_large"] == 1 and column[2]["smallest"] == -4
PY
fi
"$OLTR" data inspect - <tiny.txt >said 2>&1 || fail "standard input"
line rows 3
printf '1 qid:1 1:3\nwhat is this\n0 qid:1 1:4 1:5\n' >bad.txt
expect 2 'bad.txt, line 2, column 1' "$OLTR" data inspect bad.txt
expect 0 'bad.txt: 1 of 3 lines skipped, the first is line 2' "$OLTR" data inspect --lenient bad.txt
grep -q "1 repeated feature; the last value of a row counts" said || fail "a duplicate feature was not named"
expect 2 'no-such.txt' "$OLTR" data inspect no-such.txt
expect 2 'data inspect needs FILE...' "$OLTR" data inspect
expect 2 '--most-features must be' "$OLTR" data inspect tiny.txt --most-features 0
expect 2 '' "$OLTR" data inspect tiny.txt --most-features 3
expect 2 '--threads must be' "$OLTR" data inspect tiny.txt -j x
expect 2 '--output needs the name of a folder' "$OLTR" data inspect tiny.txt -o ''
if command -v gnuplot >/dev/null; then
    expect 0 "pictures/data-tiny.png" "$OLTR" data inspect tiny.txt web/train.txt few/train.txt istella/train.txt -o pictures
    there pictures/data-tiny.{gp,csv,svg,png,pdf} pictures/data-train.png pictures/data-train-2.png pictures/data-train-3.png
    no_leftovers pictures
    expect 1 'cannot make this folder' "$OLTR" data inspect tiny.txt -o plain
fi
mkdir nothing
(PATH=$(pwd)/nothing; "$OLTR" data inspect tiny.txt -o undrawn >said 2>&1)
[ $? -eq 1 ] || fail "without gnuplot it must fail"
grep -q "gnuplot is not on the PATH" said || fail "a missing gnuplot was not named"

# ---- convert
expect 0 "web/test.txt.oltr: " "$OLTR" data convert web/test.txt
expect 0 "web/test.txt.oltr is up to date" "$OLTR" data convert web/test.txt
"$OLTR" data inspect web/test.txt | tail -n +2 >from-text
expect 0 "copy.oltr: " "$OLTR" data convert web/test.txt -o copy.oltr
expect 0 "" "$OLTR" data inspect copy.oltr
tail -n +2 said | cmp -s - from-text || fail "the binary file says something else than the text"
"$OLTR" data convert - -o piped.oltr <web/test.txt >said 2>&1 || fail "standard input"
same copy.oltr piped.oltr
expect 0 "" "$OLTR" data convert web/test.txt -o copy2.oltr -j 3 --quiet
[ ! -s said ] || fail "--quiet says something"
same copy.oltr copy2.oltr
expect 0 "1 of 3 lines skipped" "$OLTR" data convert bad.txt --lenient -o bad.oltr
expect 2 "bad.txt, line 2" "$OLTR" data convert bad.txt -o bad.oltr

expect 0 "normaliser norm.oltr (standard): 136 of 136 features kept" "$OLTR" data convert web/train.txt --fit norm.oltr -o train.oltr
expect 0 "normaliser norm.oltr (standard)" "$OLTR" data convert web/test.txt --with norm.oltr -o test.oltr
expect 0 "(minmax): 131 of 136 features kept; dropped because constant: 16, 17, 18, 19, 20" \
    "$OLTR" data convert web/train.txt --fit minmax.oltr --normalise minmax -o train-minmax.oltr
expect 0 "" "$OLTR" data inspect train-minmax.oltr
line "smallest value" 0
line "largest value" 1
expect 0 "(standard): 216 of 220 features kept; dropped because constant: 20, 59, 158, 200" \
    "$OLTR" data convert istella/train.txt --fit istella.norm -o istella.oltr
expect 0 "" "$OLTR" data inspect istella.oltr
line "values too large" 0
expect 2 "fitted on 136 features, and these rows have 220" "$OLTR" data convert istella/train.txt --with norm.oltr -o x.oltr
expect 2 "no normaliser is called \`maxmin\`" "$OLTR" data convert web/train.txt --fit n --normalise maxmin -o x.oltr
expect 2 "--normalise needs --fit FILE" "$OLTR" data convert web/train.txt --normalise minmax -o x.oltr
expect 2 "the file of --with has its own kind" "$OLTR" data convert web/train.txt --normalise minmax --with norm.oltr -o x.oltr
expect 2 "give only one of them" "$OLTR" data convert web/train.txt --fit a --with norm.oltr -o x.oltr
expect 2 "normalised rows need a file of their own" "$OLTR" data convert web/train.txt --fit a
expect 2 "no cache can be written beside standard input" "$OLTR" data convert -
expect 2 "no cache can be written beside a pipe or a device" "$OLTR" data convert /dev/null
expect 2 "copy.oltr is a dataset file already" "$OLTR" data convert copy.oltr
cp tiny.txt placeless.txt && mkdir placeless.txt.oltr
expect 1 "placeless.txt.oltr could not be written" "$OLTR" data convert placeless.txt
ln -s /dev/null hole # a device is written into, and not replaced by a file
expect 0 "" "$OLTR" data convert tiny.txt -o hole
expect 0 "" "$OLTR" data convert tiny.txt --fit hole --normalise none -o hole
[ "$(readlink hole)" = /dev/null ] || fail "a file took the place of a device"
if [ -e /proc/self/fd ]; then
    ln -s /proc/self/fd/1 out # as /dev/stdout
    "$OLTR" data convert tiny.txt -o tiny.oltr -q && "$OLTR" data convert tiny.txt -o out -q | cmp -s - tiny.oltr ||
        fail "into a pipe"
    "$OLTR" data convert tiny.txt -o out -q >copied && [ -L out ] || fail "a file took the place of a link"
    same copied tiny.oltr
fi
cp tiny.txt kept.txt
for wrong in '-o ./tiny.txt' '--fit tiny.txt -o x.oltr' '--with tiny.txt -o tiny.txt' '--fit x.oltr -o x.oltr'; do
    expect 2 "would overwrite the file" "$OLTR" data convert tiny.txt $wrong
done
[ ! -e x.oltr ] || fail "a wrong request wrote a file"
same tiny.txt kept.txt
printf '1 qid:1 1:1 2:5 3:2\n0 qid:1 1:2 2:4 3:3\n' >wide.txt && printf '1 qid:1 1:1\n0 qid:1 1:2 2:4\n' >sparse.txt
expect 0 "" "$OLTR" data convert wide.txt --fit wide.norm -o wide.oltr # the features that a sparse text does not reach are 0
expect 0 "sparse.oltr: 2 rows of 3 features" "$OLTR" data convert sparse.txt --with wide.norm -o sparse.oltr
expect 2 "tiny.txt is not a normaliser" "$OLTR" data convert web/train.txt --with tiny.txt -o x.oltr
expect 2 "cannot read no-such" "$OLTR" data convert web/train.txt --with no-such -o x.oltr
head -c 100 norm.oltr >cut.oltr
expect 2 "cut.oltr is damaged or cut short" "$OLTR" data convert web/train.txt --with cut.oltr -o x.oltr
expect 1 "no-folder/x.oltr" "$OLTR" data convert web/train.txt -o no-folder/x.oltr
expect 1 "no-folder/n: cannot write it" "$OLTR" data convert web/train.txt --fit no-folder/n -o x.oltr
[ ! -e x.oltr ] || fail "a wrong request wrote a file"
printf '1 qid:1 1:3\n0 qid:1 1:3\n' >flat.txt
expect 2 "every feature is constant" "$OLTR" data convert flat.txt --fit n -o x.oltr

# ---- real rows
if [ -d "$DATA/mslr-web30k" ]; then
    expect 0 "" "$OLTR" data inspect "$DATA/mslr-web30k/train.txt.gz"
    line rows 5,555
    line queries 54
    line features 136
    line "smallest value" -72.9082
    expect 0 "kept" "$OLTR" data convert "$DATA/mslr-web30k/train.txt.gz" --fit real.norm -o real.oltr
    expect 0 "" "$OLTR" data convert "$DATA/mslr-web30k/vali.txt.gz" --with real.norm -o vali.oltr
    expect 0 "" "$OLTR" data inspect vali.oltr
    line rows 1,734
    expect 0 "" "$OLTR" data inspect "$DATA/mq2008/train.txt.gz"
    line " constant" 6
    expect 2 "rankeval_svmlight_invalid.txt, line" "$OLTR" data inspect "$DATA/fixtures/rankeval_svmlight_invalid.txt"
else
    echo "no real data in $DATA: its part is left out"
fi
echo ok

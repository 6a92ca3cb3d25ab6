# prior.sh - training scorers and checking priors from the command line: the same bytes for any number of threads, nothing half written, and
# words for what is wrong.
. "$(dirname "$0")/common.bash"

# judged SEED QUERIES: LETOR rows whose grade follows features 1 and 2
judged() {
    awk -v seed="$1" -v queries="$2" '
        function next_number() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            state = seed
            for (i = 0; i < 9; i++) next_number()
            for (q = 1; q <= queries; q++)
                for (d = 0; d < 8 + q % 3; d++) {
                    a = next_number(); b = next_number(); c = next_number() * 1000
                    w = a * b + 0.1 * next_number()
                    grade = w > 0.6 ? 4 : w > 0.4 ? 2 : w > 0.25 ? 1 : 0
                    printf "%d qid:%d 1:%.4f 2:%.4f 3:%.2f 4:1 # document %d\n", grade, 100 + q, a, b, c, d
                }
        }'
}
judged 1 30 >train.txt
judged 2 12 >vali.txt
judged 3 12 | gzip >test.txt.gz
files="--train train.txt --vali vali.txt --test test.txt.gz"
rows=$(zcat test.txt.gz | wc -l)

# training
expect 0 'measure how good they are with' "$OLTR" prior train $files -o a.csv --models 3 --epochs 20 -j 1 --seed 5
grep -q '3 scorers, mean NDCG@10 on the validation queries 0\.[5-9]' said || fail "the scorers learned nothing"
[ "$(wc -l <a.csv)" -eq $((rows + 1)) ] || fail "not one row for each document"
[ "$(head -1 a.csv)" = query,document,m1,m2,m3 ] || fail "the header"
awk -F, 'NR > 1 && ($3 <= 0 || $3 >= 1 || $5 <= 0 || $5 >= 1) { exit 1 }' a.csv || fail "a score is not within (0,1)"
grep -q '"seed": 5' a.csv.json || fail "the seed is not in the manifest"
expect 0 '' "$OLTR" prior train $files -o b.csv --models 3 --epochs 20 -j 3 -s 5 -q
[ ! -s said ] || fail "--quiet is not quiet"
same a.csv b.csv
"$OLTR" prior train $files -o - --models 3 --epochs 20 -j 2 -s 5 >c.csv 2>/dev/null || fail "to standard output"
same a.csv c.csv
expect 0 '' "$OLTR" prior train $files -o d.csv --models 3 --epochs 20 -s 6 -q
cmp -s a.csv d.csv && fail "the seed does not matter"
expect 0 '' "$OLTR" prior train $files -o e.csv --models 1 --epochs 2 --hidden 5 --patience 1 --batch 2 --rate 0.01 \
    --decay 0 --dropout 0 --grades navigational -q
grep -q '"grades": "navigational"' e.csv.json || fail "the grades are not in the manifest"

# texts that end with different features: the missing ones are 0
sed 's/ 4:1 / 4:1 5:0 /' vali.txt >wide.txt
expect 0 '' "$OLTR" prior train --train train.txt --vali wide.txt --test test.txt.gz -o wide.csv --models 3 --epochs 20 -s 5 -q
same a.csv wide.csv
ln -s /dev/null hole # a device is written into, and not replaced by a file
expect 0 '' "$OLTR" prior train $files -o hole --models 1 --epochs 1 -q
[ "$(readlink hole)" = /dev/null ] && [ ! -e hole.json ] || fail "a file took the place of a device, or lies beside it"

expect 2 'training diverged' "$OLTR" prior train $files -o away.csv --models 2 --rate 1 --decay 100 -q
[ ! -e away.csv ] || fail "scores of no use were written"

# checking
need gnuplot
expect 0 'size, in observations of a document' "$OLTR" prior check --data test.txt.gz --scores a.csv -o checked
grep -q "$rows documents of 12 queries, 12 of them with a relevant document" said || fail "what was checked"
there checked/prior.csv checked/{calibration,observations}.{gp,csv,svg,png,pdf}
no_leftovers checked
value() { awk -F, -v m="$1" -v o="$2" '$1 == m && $2 == o { print $3 }' checked/prior.csv; }
awk -v p="$(value ndcg@10 prior)" -v r="$(value ndcg@10 random)" 'BEGIN { exit !(p > r + 0.1) }' || fail "no better than chance"
awk -v p="$(value log_loss prior)" -v t="$(value log_loss truth)" 'BEGIN { exit !(p > t) }' || fail "better than the truth"
[ "$(value size claimed)" = 3 ] || fail "three models claim three observations"
expect 0 '' "$OLTR" prior check --data test.txt.gz --scores a.csv -o plain --no-figures -q
[ "$(ls plain)" = prior.csv ] || fail "--no-figures draws"
same plain/prior.csv checked/prior.csv
"$OLTR" prior check --data test.txt.gz --scores - <a.csv >said 2>&1 || fail "scores from standard input"
(head -1 a.csv && tail -n +2 a.csv | sort -R --random-source=a.csv) >shuffled.csv
expect 0 '' "$OLTR" prior check --data test.txt.gz --scores shuffled.csv -o again --no-figures -q
same again/prior.csv plain/prior.csv

# what is wrong
expect 2 'prior needs a command after it' "$OLTR" prior
expect 2 'did you mean `train`?' "$OLTR" prior trian
expect 2 'prior train needs --train FILE' "$OLTR" prior train
expect 2 'prior train needs --vali FILE' "$OLTR" prior train --train train.txt
expect 2 'prior train needs --output FILE' "$OLTR" prior train $files
expect 1 'no-such/s.csv: cannot write it: No such file' "$OLTR" prior train $files -o no-such/s.csv
expect 2 '--output vali.txt would overwrite the file of --vali; give another name' "$OLTR" prior train $files -o vali.txt
expect 2 'no-such.txt' "$OLTR" prior train --train no-such.txt --vali vali.txt --test vali.txt -o x.csv
expect 2 '--models must be a whole number from 1 to 1000' "$OLTR" prior train $files -o x.csv --models 0
expect 2 '--hidden must be 1 to 3 whole numbers' "$OLTR" prior train $files -o x.csv --hidden 1,2,3,4
expect 2 '--hidden must be 1 to 3 whole numbers' "$OLTR" prior train $files -o x.csv --hidden 8,
expect 2 '--dropout must be a number from 0 to 0.95, not `1`' "$OLTR" prior train $files -o x.csv --dropout 1
expect 2 '--rate must be a number' "$OLTR" prior train $files -o x.csv --rate nan
expect 2 '--threads must be a whole number' "$OLTR" prior train $files -o x.csv -j many
expect 2 "no mapping of grades is called 'perfekt'; did you mean 'perfect'?" "$OLTR" prior train $files -o x.csv --grades perfekt
expect 2 'has the grade 4, and the scale ends at 3' "$OLTR" prior train $files -o x.csv --largest-grade 3
sed 's/^[0-9]/0/' train.txt >nothing.txt
expect 2 'training queries has a document with a grade above 0' "$OLTR" prior train --train nothing.txt \
    --vali vali.txt --test vali.txt -o x.csv
expect 2 'none of the 30 validation queries has a document' "$OLTR" prior train --train train.txt --vali nothing.txt --test vali.txt -o x.csv
echo 'rubbish' >rubbish.txt
expect 2 'rubbish.txt' "$OLTR" prior train --train rubbish.txt --vali vali.txt --test vali.txt -o x.csv
: >empty.txt
expect 2 'empty.txt' "$OLTR" prior train --train empty.txt --vali vali.txt --test vali.txt -o x.csv
[ ! -e x.csv ] || fail "a failed training left scores"
expect 2 'prior check needs --scores FILE' "$OLTR" prior check --data test.txt.gz
expect 2 'prior check needs --data FILE' "$OLTR" prior check --scores a.csv
expect 2 'no-such.csv: cannot be opened' "$OLTR" prior check --data test.txt.gz --scores no-such.csv
head -5 a.csv >short.csv
expect 2 'documents have no score' "$OLTR" prior check --data test.txt.gz --scores short.csv
sed '3s/,0\.[0-9e-]*$/,1.5/' a.csv >beyond.csv
expect 2 'beyond.csv:3: the score of model 3 must be a number from 0 to 1, not `1.5`' "$OLTR" prior check --data test.txt.gz --scores beyond.csv
grep -q 'can be read as minmax or sigmoid' said || fail "no word about scores_as"

# numbers without a unit: the outputs of the same networks
expect 0 'prior check --data test.txt.gz --scores raw.csv --scores-as minmax' "$OLTR" prior train $files -o raw.csv --raw --models 3 --epochs 20 -s 5
grep -q '"raw": true' raw.csv.json || fail "the manifest does not say that the scores are raw"
awk -F, 'NR > 1 && $3 < 0 { negative = 1 } END { exit !negative }' raw.csv || fail "these are no outputs of a network"
expect 2 'must be a number from 0 to 1' "$OLTR" prior check --data test.txt.gz --scores raw.csv
expect 2 'not as `platt`' "$OLTR" prior check --data test.txt.gz --scores raw.csv --scores-as platt
for as in minmax sigmoid raw; do
    expect 0 '' "$OLTR" prior check --data test.txt.gz --scores raw.csv --scores-as $as --no-figures -q -o as-$as
done
grep -h '^ndcg@10,one model,' as-minmax/prior.csv as-sigmoid/prior.csv checked/prior.csv | sort -u >orders
[ "$(wc -l <orders)" = 1 ] || fail "minmax, sigmoid and calibration keep the order within a query: $(cat orders)"
echo file >in-the-way
expect 1 'in-the-way' "$OLTR" prior check --data test.txt.gz --scores a.csv -o in-the-way -q

# a stopped training leaves nothing, and what was there stays
cp a.csv kept.csv
for delay in 0.5 0.2 0.1 0.05; do
    cp a.csv stopped.csv
    "$OLTR" prior train $files -o stopped.csv --models 200 --epochs 5000 --patience 5000 -j 2 >said 2>&1 &
    child=$!
    sleep "$delay"
    kill -INT "$child" 2>/dev/null
    wait "$child"
    code=$?
    [ "$code" -ne 0 ] && break
done
[ "$code" -eq 130 ] || fail "status $code after SIGINT"
[ "$code" -eq 130 ] || grep -q 'stopped; nothing was written' said || fail "does not say that it was stopped"
same stopped.csv kept.csv
[ ! -e stopped.csv.json ] || fail "a manifest of a training that was stopped"
no_leftovers .
echo ok

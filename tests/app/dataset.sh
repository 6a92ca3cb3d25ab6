# dataset.sh - the whole pipeline, small: a set generated or read, two scorers trained, bandits on each query; the same bytes for any number of
# threads, from kept scores, from shards, from a folder of texts, and by the library alone.
. "$(dirname "$0")/common.bash"

tiny() {
    cat <<'YAML'
title: Tiny
seed: 3
rounds: 60
slots: 5
replications: 2
checkpoints: 5
world:
  kind: dataset
  shape: web30k
  generated: {train: 8, vali: 4, test: 5}
  queries: 4
  rankers: 2
policies:
  - {name: LinTS, kind: lints}
  - {name: LogTS, kind: logts, lambda: 1}
  - {name: GTS-P, kind: gts, prior: full}
  - {name: TS-Beta, kind: ts-beta, prior: full}
  - {name: Ensemble, kind: ensemble, prior: mean}
figures:
  - {file: fig-tiny}
YAML
}
results() { # FOLDER FOLDER: the same results
    local name
    for name in results.csv summary.csv pairs.csv queries.csv metrics.csv; do
        same "$1/$name" "$2/$name"
    done
}
field() { # FILE KEY...: a value of a JSON file
    /usr/bin/python3 - "$@" <<'PY'
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[int(key) if key.isdigit() else key]
print(value)
PY
}
tiny >tiny.yaml

# --- generated: said first, in the manifest and in every title
expect 0 "" "$OLTR" run tiny.yaml -o one -j 1 --no-figures
there one/results.csv one/queries.csv one/scores.csv one/scores.key one/manifest.json
"$OLTR" run tiny.yaml -o one -j 1 --no-figures --force 2>told | head -1 >first
grep -q '^GENERATED data in the shape of Web30K (4 queries, ' first || fail "the first line does not say that the data are generated"
grep -q 'the scores in one/scores.csv are of the same data and seed, and are used' told || fail "the scores were not taken again"
[ "$(field one/manifest.json data sets 0 generated)" = True ] || fail "the manifest does not say generated"
[ "$(field one/manifest.json data sets 0 queries)" = 4 ] || fail "the manifest does not count the queries"
[ "$(field one/manifest.json points 0 replications)" = 8 ] || fail "replications are of each query"
field one/manifest.json figures 0 title | grep -qF 'Tiny (generated data)' || fail "the title of the figure does not say generated"
"$OLTR" plot one >/dev/null
grep -qF 'standard error over 4 queries, 8 replications' one/fig-tiny.gp || fail "the figure does not say what its bands are"

# every query, by its id, with every policy
[ "$(tail -n +2 one/queries.csv | cut -d, -f2 | sort -u | wc -l)" = 4 ] || fail "not 4 queries"
[ "$(tail -n +2 one/queries.csv | wc -l)" = 20 ] || fail "not 4 x 5 rows"
[ "$(tail -n +2 one/scores.csv | cut -d, -f1 | sort -u | wc -l)" = 5 ] || fail "scores are not of the whole test split"

# --- the same bytes: two threads, another folder (scorers trained anew), its own experiment.yaml, kept scores
expect 0 "" "$OLTR" run tiny.yaml -o two -j 2 --no-figures -q
results one two
same one/scores.csv two/scores.csv
expect 0 "" "$OLTR" run two/experiment.yaml -o again --no-figures -q
results one again
tiny | sed 's/rankers: 2/scores: one\/scores.csv/' >given.yaml
expect 0 "" "$OLTR" run given.yaml -o given --no-figures -q
results one given
[ ! -e given/scores.csv ] || fail "given scores were copied"
expect 2 '`scores` are there already' "$OLTR" run tiny.yaml -o given2 --no-figures -q --set world.scores=one/scores.csv
expect 0 "" "$OLTR" run tiny.yaml -o given2 --no-figures -q --set world.scores=one/scores.csv --set world.rankers=0
same one/results.csv given2/results.csv

# --- the library, without the program
by_library() { # FILE FOLDER: the same results as in the folder
    [ -x "${OLTR_BUILD:-}/tests/plan_results" ] || return 0
    "$OLTR_BUILD/tests/plan_results" "$1" >library.csv || fail "the library cannot run $1"
    same library.csv "$2/results.csv"
}
by_library tiny.yaml two
by_library given.yaml given

# --- shards
for i in 1 2 3; do
    expect 0 "" "$OLTR" run tiny.yaml -o shards --shard $i/3 -q
done
expect 0 "" "$OLTR" merge shards -o merged --no-figures -q
results one merged

cp -r shards changed
expect 0 "" "$OLTR" run tiny.yaml -o changed --shard 2/3 -q --set world.normalise=minmax --force
expect 1 'is a shard of another experiment, of this one with other settings, or of data that have changed' "$OLTR" merge changed -o bad

# --- another seed: other queries, other scorers; nothing of the old ones is taken
expect 0 "" "$OLTR" run tiny.yaml -o one -s 4 --no-figures -j 1 --force
grep -q 'and are used' said && fail "scores of another seed were taken"
cmp -s one/scores.csv two/scores.csv && fail "another seed has the same scores"

# --- damaged scores are not used
cp -r two hurt
sed -i '3d' hurt/scores.csv
expect 0 'cannot be used again, so scorers are trained anew' "$OLTR" run tiny.yaml -o hurt --no-figures --force
results two hurt
same two/scores.csv hurt/scores.csv

# --- and neither are those of another seed under the old key, as a run leaves them that is killed between the two files
cp -r two mixed
cp one/scores.csv mixed/scores.csv
expect 0 'cannot be used again, so scorers are trained anew' "$OLTR" run tiny.yaml -o mixed --no-figures --force
results two mixed

# --- a sweep over something else than the data prepares them once; over the grades, once for each
tiny | { cat; echo 'sweep: {key: policies.GTS-P.sigma, values: [0.25, 0.5]}'; } >sigma.yaml
expect 0 "" "$OLTR" run sigma.yaml -o sigma --no-figures -q --force
[ ! -e sigma/scores-2.csv ] || fail "the scorers were trained twice"
tiny | { cat; echo 'sweep: {key: world.normalise, values: [standard, minmax]}'; } >scale.yaml
expect 0 'the scores in scale/scores.csv are of the same data' "$OLTR" run scale.yaml -o scale --no-figures --force
[ ! -e scale/scores-2.csv ] || fail "the scorers were trained twice for two scales of features"
tiny | { cat; echo 'sweep: {key: world.grades, values: [err, navigational]}'; } >grades.yaml
expect 0 "" "$OLTR" run grades.yaml -o grades --no-figures -q --force --set world.largest_grade=4
there grades/scores.csv grades/scores-2.csv
[ "$(field grades/manifest.json data sets 1 grades)" = navigational ] || fail "the manifest does not tell the sets apart"

# --- over how scores are read: trained once, two files, and another prior for each
tiny | { cat; echo 'sweep: {key: world.scores_as, values: [calibrated, minmax, sigmoid, raw]}'; } >as.yaml
expect 0 'the scores in as/scores-2.csv are of the same data' "$OLTR" run as.yaml -o as --no-figures --force
there as/scores.csv as/scores-2.csv
by_library as.yaml as
[ ! -e as/scores-3.csv ] || fail "sigmoid does not use the outputs that minmax used"
[ "$(field as/manifest.json data sets 2 scores_as)" = sigmoid ] || fail "the manifest does not say how scores were read"
[ "$(grep ',LinTS,' as/summary.csv | cut -d, -f4 | sort -u | wc -l)" = 1 ] || fail "LinTS reads no prior, and changes with it"
[ "$(grep ',TS-Beta,' as/summary.csv | cut -d, -f4 | sort -u | wc -l)" = 4 ] || fail "the ways give the same prior: $(grep TS-Beta as/summary.csv)"
expect 0 "" "$OLTR" run tiny.yaml -o as-file --no-figures -q --set world.scores=as/scores-2.csv --set world.rankers=0 --set world.scores_as=sigmoid
expect 0 "already finished" "$OLTR" run tiny.yaml -o as-file --no-figures --resume --set world.scores=as/scores-2.csv --set world.rankers=0 --set world.scores_as=sigmoid
[ "$(grep ',TS-Beta,' as-file/summary.csv | cut -d, -f4)" = "$(grep '^sigmoid,TS-Beta,' as/summary.csv | cut -d, -f4)" ] || fail "kept outputs give another prior"
expect 2 'must be a number from 0 to 1' "$OLTR" run tiny.yaml -o as-bad --no-figures -q --set world.scores=as/scores-2.csv --set world.rankers=0
expect 2 '`scores_as` needs scores' "$OLTR" run tiny.yaml -o as-bad --no-figures -q --set world.rankers=0 --set world.scores_as=raw

# --- queries that share the rounds: any number of threads, shards; no queries.csv, and standard errors over replications
tiny | sed 's/^  rankers: 2$/  rankers: 2\n  traffic: in-turn\n  visits: 20/; s/^replications: 2/replications: 4/
    s/^figures:/  - {name: TS-Hyper, kind: ts-hyper, prior: full, shared: true}\nfigures:/' >traffic.yaml
expect 0 "" "$OLTR" run traffic.yaml -o traffic -j 1 -q
expect 0 "" "$OLTR" run traffic.yaml -o traffic2 -j 2 -q --no-figures
for name in results.csv summary.csv pairs.csv; do same traffic/$name traffic2/$name; done
by_library traffic.yaml traffic
[ ! -e traffic/queries.csv ] || fail "there are queries.csv of queries that share the rounds"
[ "$(field traffic/manifest.json points 0 groups)" = 1 ] || fail "groups in the manifest"
[ "$(field traffic/manifest.json points 0 replications)" = 4 ] || fail "replications were multiplied by the queries"
[ "$(field traffic/manifest.json points 0 policies 5 shared)" = True ] || fail "shared is not in the manifest"
grep -qF 'standard error, 4 replications' traffic/fig-tiny.gp || fail "the bands are over replications"
expect 0 "" "$OLTR" run traffic.yaml -o parts --shard 1/2 -q
expect 0 "" "$OLTR" run traffic.yaml -o parts --shard 2/2 -q
expect 0 "" "$OLTR" merge parts -o whole -q --no-figures
for name in results.csv summary.csv pairs.csv; do same traffic/$name whole/$name; done
expect 2 'policy TS-Hyper: `shared` needs queries that share the rounds' "$OLTR" run traffic.yaml -o bad -q --set world.traffic=per-query
expect 2 'must be true or false' "$OLTR" run traffic.yaml -o bad -q --set policies.TS-Hyper.shared=maybe

# --- users who click and give rewards: a click policy learns from their clicks
expect 2 'or give it `feedback: clicks`' "$OLTR" run tiny.yaml -o bad -q --set world.clicks=abandon --set 'policies=[{kind: ts-beta}]'
expect 0 "" "$OLTR" run tiny.yaml -o graded -q --no-figures --set world.clicks=abandon --set world.grades=linear \
    --set 'policies=[{kind: ts-beta, feedback: clicks}, {name: A, kind: lints}, {name: B, kind: lints, feedback: both}]'
[ "$(field graded/manifest.json points 0 policies 2 feedback)" = both ] || fail "feedback is not in the manifest"
expect 2 'policy gts: users of click model cascade give one kind of feedback' "$OLTR" run tiny.yaml -o bad -q --set 'policies=[{kind: gts, feedback: clicks}]'

# --- from texts: plain or gzip, with and without validation queries, splits that end with different features
mkdir texts
/usr/bin/python3 - <<'PY'
import random
random.seed(1)
for split, queries, features in (("train", 12, 6), ("vali", 4, 4), ("test", 5, 5)):
    with open(f"texts/{split}.txt", "w") as out:
        for q in range(queries):
            for d in range(4 if (split, q) == ("test", 2) else 9):
                grade = random.randrange(3)
                row = " ".join(f"{i + 1}:{random.random() + 0.3 * grade * (i == 0):.4f}" for i in range(features))
                out.write(f"{grade} qid:{100 * len(split) + q} {row}\n")
PY
tiny | sed '/shape:/d; /generated:/d; /queries:/d; s/slots: 5/slots: 5/' >read.yaml
expect 0 'data of texts: 4 of 5 test queries, 6 features' "$OLTR" run read.yaml --data texts -o read --no-figures
grep -q GENERATED said && fail "real data are called generated"
[ "$(field read/manifest.json data sets 0 largest_grade)" = 2 ] || fail "the largest grade was not found"
[ "$(field read/manifest.json data sets 0 queries_with_enough_documents)" = 4 ] || fail "the short query was not left out"
long=$(/usr/bin/python3 -c 'print("a" + "é" * 110)') && cp -r texts "$long" # its name cannot be told whole, and is not cut within a letter
expect 0 "" "$OLTR" run read.yaml --data "$long" -o long --no-figures -q
results read long
sed 's/^  kind: dataset/  kind: dataset\n  data: texts/' read.yaml >read-texts.yaml
by_library read-texts.yaml read
mkdir zipped && cp texts/*.txt zipped && gzip -n zipped/*.txt
expect 0 "" "$OLTR" run read.yaml --data zipped -o unzipped --no-figures -q
results read unzipped
mkdir part && cp texts/train.txt texts/test.txt part
expect 0 "" "$OLTR" run read.yaml --data part -o part-out --no-figures -q
cmp -s read/scores.csv part-out/scores.csv && fail "validation queries make no difference"

# --- without a prior
expect 2 '`prior: full` needs a prior, and this world has none; give it `rankers: 10`' "$OLTR" run tiny.yaml -o none --set world.rankers=0
tiny | sed 's/rankers: 2/rankers: 0/; s/, prior: [a-z]*//; /Ensemble/d' >none.yaml
expect 0 "" "$OLTR" run none.yaml -o none --no-figures -q
[ ! -e none/scores.csv ] || fail "there are scores without scorers"

# --- mistakes of the data
expect 2 'there is no train.txt and no train.txt.gz in the folder nowhere' "$OLTR" run tiny.yaml -o bad --data nowhere
expect 2 'none of the 5 test queries has 10 documents' "$OLTR" run read.yaml -o bad --data texts -K 10
grep -q 'training scorers' said && fail "scorers are trained for a run that cannot be"
expect 2 'the scale ends at 1' "$OLTR" run read.yaml -o bad --data texts --set world.largest_grade=1
expect 2 'take err' "$OLTR" run read.yaml -o bad --data texts --set world.grades=perfect
expect 2 'are more than' "$OLTR" run tiny.yaml -o bad --replications 4000000
mkdir broken && cp texts/*.txt broken && echo '1 qid:x 1:1' >>broken/test.txt
expect 2 'broken/test.txt' "$OLTR" run read.yaml -o bad --data broken
head -3 one/scores.csv >short.csv
tiny | sed 's/rankers: 2/scores: short.csv/' >short.yaml
expect 2 'short.csv' "$OLTR" run short.yaml -o bad
expect 2 '`data` belongs to a world of kind dataset or fitted; this one is beta' "$OLTR" run <(small) -o bad --data texts
echo ok

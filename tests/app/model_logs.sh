# model_logs.sh - `oltr model learn`: the same lists in every form of log give the same model; all or nothing; once; pipes; what is said.
. "$(dirname "$0")/common.bash"
need python3
DATA=${OLTR_DATA:-$SOURCE/../shared/data}

says() { grep -qF -- "$1" said || fail "does not say '$1'"; }
sum() { cat "$1" "$1.log" | cksum; }
# believes MODEL: what it has learned, in the order of names
believes() { "$OLTR" model show "$1" --csv | cut -d, -f1-5 | sort; }
new() { # NAME [WORDS...]
    rm -f "$1.oltr" "$1.oltr.log"
    expect 0 "" "$OLTR" model create "$1.oltr" -p "${2:-ts-beta}" "${@:3}" -q
}
# learns NAME CODE TEXT FILE...: into a new model
learns() {
    local name=$1 code=$2 text=$3
    shift 3
    new "$name"
    expect "$code" "$text" "$OLTR" model learn "$name.oltr" "$@"
}

# ---- one log in many forms
awk 'BEGIN {
    srand(7)
    print "list_id,item,position,click"
    for (q = 1; q <= 300; q++)
        for (p = 1; p <= 1 + q % 7; p++)
            printf "q%d,item %d,%d,%d\n", q, (q * 13 + p * 7) % 40, p, rand() < 0.2
}' >log.csv
learns plain 0 '300 lists learned' log.csv
believes plain.oltr >wanted
[ "$(wc -l <wanted)" -eq 41 ] || fail "not forty items"
form() { # NAME FILE [WORDS...]: the same beliefs from another form
    learns form 0 '300 lists learned' "${@:2}"
    believes form.oltr | cmp -s - wanted || fail "$1 gives other beliefs"
}
sed 's/$/\r/' log.csv >crlf.csv
form CRLF crlf.csv
(printf '\xef\xbb\xbf' && cat log.csv) >mark.csv
form "a byte order mark" mark.csv
sed '5~9s/^/\n\n/' log.csv >gaps.csv
form "empty lines" gaps.csv
tr ',' ';' <log.csv >semicolons.csv
form semicolons semicolons.csv
tr ',' '\t' <log.csv >tabs.tsv
form tabs tabs.tsv
awk -F, -v OFS=, 'NR > 1 { $2 = "\"" $2 "\"" } { print $4, "x", $2, $1, $3 }' log.csv >quoted.csv
form "other columns and quotes" quoted.csv
sed '1s/.*/search,SKU,where,hit/' log.csv >named.csv
form "named columns" named.csv --columns list=search,item=sku,position=where --columns click=hit
gzip -k log.csv
form gzip log.csv.gz
head -c -1 log.csv >cut.csv
form "no newline at the end" cut.csv
(head -n 1 log.csv && tail -n +2 log.csv | sort -t, -k3,3 -k1,1) >apart.csv
form "rows far apart" apart.csv
(head -n 1 log.csv && tail -n +2 log.csv | tac) >turned.csv
form "turned round" turned.csv
awk -F, 'NR > 1 { printf "{\"list_id\": \"%s\", \"item\": \"%s\", \"position\": %d, \"click\": %d}\n", $1, $2, $3, $4 }' log.csv >log.jsonl
form "JSON lines" log.jsonl
awk -F, 'NR > 1 {
    if ($1 != list && list != "") print_list()
    if ($1 != list) { list = $1; items = clicks = "" }
    items = items (items ? ", " : "") "\"" $2 "\""
    if ($4) clicks = clicks (clicks ? ", " : "") $3
}
function print_list() { printf "{\"id\": \"%s\", \"items\": [%s], \"clicks\": [%s]}\n", list, items, clicks }
END { print_list() }' log.csv >lists.jsonl
form "lists as JSON" lists.jsonl
awk -F, 'NR > 1 {
    if ($1 != list && list != "") print_query()
    if ($1 != list) { list = $1; items = ""; second++ }
    items = items (items ? ", " : "") "\"" $2 "\""
    if ($4) printf "{\"action_name\": \"click\", \"query_id\": \"%s\", \"timestamp\": %d, \"event_attributes\": {\"object\": {\"object_id\": \"%s\"}}}\n", $1, 1700000000 + second - 3, $2 >"events.jsonl"
}
function print_query() { printf "{\"query_id\": \"%s\", \"user_query\": \"x\", \"timestamp\": %d, \"query_response_hit_ids\": [%s]}\n", list, 1700000000 + second, items >"queries.jsonl" }
END { print_query() }' log.csv
form "UBI, events before their queries" events.jsonl queries.jsonl
form "UBI, queries first" queries.jsonl events.jsonl
cat events.jsonl queries.jsonl >ubi.jsonl
form "UBI in one file, all events first" ubi.jsonl
new form
cat log.csv | "$OLTR" model learn form.oltr - >said 2>&1 || fail "a pipe"
believes form.oltr | cmp -s - wanted || fail "a pipe gives other beliefs"
gzip -c log.csv | "$OLTR" model learn form.oltr - >said 2>&1 || fail "a pipe of gzip"
says '300 lists known already'
head -n 400 log.csv >first.csv # it ends within a list, which goes on in the second
(head -n 1 log.csv && tail -n +401 log.csv) >second.csv
form "two files" first.csv second.csv

# ---- once
before=$(sum plain.oltr)
expect 0 '300 lists known already' "$OLTR" model learn plain.oltr log.csv
expect 0 '300 lists known already' "$OLTR" model learn plain.oltr lists.jsonl
[ "$before" = "$(sum plain.oltr)" ] || fail "learning again changed the files"
new small ts-beta --set window=100
expect 0 'note: the model remembers the ids of 100 lists; learning this log again would count lists twice (make the model with --set window=N)' \
    "$OLTR" model learn small.oltr log.csv
(cat log.csv && tail -n +2 log.csv) >twice.csv
learns twice 0 'note: 300 lists came back after they were closed' twice.csv --open 20
believes twice.oltr | cmp -s - wanted || fail "a log with every list twice gives other beliefs"

# ---- all or nothing
line=$(wc -l <log.csv)
sed "${line}s/.*/q300,x,7,5/" log.csv >bad.csv
new bad
before=$(sum bad.oltr)
expect 2 "bad.csv:$line: this model learns from clicks, 0 or 1, not \`5\`" "$OLTR" model learn bad.oltr bad.csv
[ "$before" = "$(sum bad.oltr)" ] || fail "a bad line changed the model"
expect 0 "skipped: bad.csv:$line: " "$OLTR" model learn bad.oltr bad.csv --lenient
says 'skipped 1 line and 0 lists'
new full ts-beta --set most_items=10
before=$(sum full.oltr)
expect 1 '(make the model with --set most_items=N); nothing was changed' "$OLTR" model learn full.oltr log.csv
[ "$before" = "$(sum full.oltr)" ] || fail "a full model changed"
mkfifo slow
new stopped
before=$(sum stopped.oltr)
"$OLTR" model learn stopped.oltr slow >said 2>&1 &
exec 7>slow
cat log.csv >&7
kill -TERM $!
exec 7>&-
wait $!
[ "$before" = "$(sum stopped.oltr)" ] || fail "an interrupted command changed the model"
expect 0 '300 lists learned' "$OLTR" model learn stopped.oltr log.csv
rm slow
if (ulimit -f 1) 2>/dev/null; then
    new cut
    before=$(sum cut.oltr)
    (trap '' XFSZ; ulimit -f 1; "$OLTR" model learn cut.oltr log.csv >said 2>&1) && fail "a cut file is no failure"
    [ "$before" = "$(sum cut.oltr)" ] || fail "a cut file changed the model"
    expect 0 'is whole' "$OLTR" model check cut.oltr
fi

# ---- what is said
printf 'item,click\na,1\nb,0\n' >rows.csv
learns rows 0 'note: there are no list ids; every row is a list of one item' rows.csv
says 'note: lists without ids cannot be recognised: learning this log again counts it twice'
[ "$(grep -c 'cannot be recognised' said)" -eq 1 ] || fail "it is said more than once"
printf 'list,item,click\nq,a,1\nq,b,0\n' >places.csv
learns places 0 'note: there are no positions; the order of the rows is that of the slots' places.csv
printf 'list,item,reward\nq,a,1.5\n' >reward.csv
new reward gts
expect 0 'note: rewards are taken from the column reward' "$OLTR" model learn reward.oltr reward.csv
learns open 0 'note: 1 list came back after it was closed: the log has them twice, or their rows are more than 2 lists apart (--open)' \
    <(printf 'list,item,position,click\na,x,1,0\nb,x,1,0\nc,x,1,0\na,x,1,0\n') --open 2
learns unseen 0 '  1 list without a click or an impression skipped (--unseen seen learns them)' \
    <(printf '{"query_id": "a", "query_response_hit_ids": ["x"]}\n') --unseen skip
learns late 0 '  1 event after the list was closed (--wait, --open)' \
    <(printf '%s\n' '{"query_id": "a", "timestamp": 1, "query_response_hit_ids": ["x"]}' '{"query_id": "b", "timestamp": 100, "query_response_hit_ids": ["x"]}' \
        '{"query_id": "a", "timestamp": 101, "action_name": "click", "event_attributes": {"object": {"object_id": "x"}}}') --wait 1m
learns clicks 0 '  1 list learned' \
    <(printf '%s\n' '{"query_id": "a", "query_response_hit_ids": ["x", "y", "z"]}' '{"query_id": "a", "action_name": "buy", "event_attributes": {"object": {"object_id": "y"}}}' \
        '{"query_id": "a", "action_name": "shown", "event_attributes": {"position": {"ordinal": 1}}}') --clicks click,buy --impressions shown --shown 2
[ "$(believes clicks.oltr | cut -d, -f1,4,5 | tail -n +2 | tr '\n' ' ')" = "x,1,0 y,1,1 " ] || fail "actions by name: $(believes clicks.oltr)"
expect 0 '' "$OLTR" model learn clicks.oltr log.csv -q
[ ! -s said ] || fail "--quiet says something"
new json
"$OLTR" model learn json.oltr ubi.jsonl --json >said || fail "--json"
python3 - <<'PY' || fail "the counts are wrong"
import json
x = json.load(open("said"))
assert x["queries"] == 300 and x["learned"] == 300 and x["lists"] == 300 and x["items"] == 40, x
assert x["unseen_learned"] + len({json.loads(l)["query_id"] for l in open("events.jsonl")}) == 300, x
PY

# ---- what is no log
expect 2 'is a JSON array; give one object a line' "$OLTR" model learn plain.oltr <(echo '[{"item": 1}]')
expect 2 'the first line must name the columns' "$OLTR" model learn plain.oltr <(printf 'q,a,1,0\n')
head -c 5000 /dev/zero >zeros.csv # zero bytes are no blanks: an endless stream of them is refused
expect 2 'zeros.csv:1: a zero byte; it must be text in UTF-8' "$OLTR" model learn plain.oltr zeros.csv
expect 2 '/dev/zero:1: a zero byte' timeout 20 "$OLTR" model learn plain.oltr /dev/zero
printf 'PK\003\004' >plain.zip
expect 2 'plain.zip is packed with zip; unpack it and pipe it to `-`' "$OLTR" model learn plain.oltr plain.zip
expect 2 'is a folder' "$OLTR" model learn plain.oltr .
expect 2 'not JSON' "$OLTR" model learn plain.oltr log.csv --format jsonl
expect 2 'is CSV and log.jsonl is JSON lines; learn them by two commands' "$OLTR" model learn plain.oltr log.jsonl log.csv
expect 2 'queries of UBI have no features' bash -c '"$1" model create ubi.oltr -p lints --set dim=2 -q && "$1" model learn ubi.oltr queries.jsonl' - "$OLTR"
no_leftovers .

# ---- Open Bandit: real impressions, without list ids
if [ -f "$DATA/obd-men/random.csv.gz" ]; then
    learns bandit 0 '10,000 rows, 10,000 lists' "$DATA/obd-men/random.csv.gz"
    says 'bandit.oltr: 34 items, 10,000 lessons'
    # against awk on the same file: observations and clicks by item
    gzip -dc "$DATA/obd-men/random.csv.gz" | awk -F, 'NR > 1 { n[$3]++; c[$3] += $5 } END { for (i in n) print i "," n[i] "," c[i] }' | sort >counted
    believes bandit.oltr | grep -v '^item' | cut -d, -f1,4,5 | sort | diff - counted >said || fail "not the counts of the file"
else
    echo "no Open Bandit logs in $DATA: not read"
fi
echo ok

# ope_hostile.sh - `oltr ope` and decision logs with what a careless caller gives: refused lists, files that would be overwritten, half lines.
. "$(dirname "$0")/common.bash"
need python3
says() { grep -qF -- "$1" said || fail "does not say '$1'"; }
good() { for i in 1 2 3; do printf '{"id": "g%s", "items": ["a", "b"], "prefix_propensities": [0.5, 0.5], "slot_propensities": [0.5, 0.5], "clicks": [1]}\n' "$i"; done; }

# ---- a list that is refused leaves nothing behind
{ echo '{"id": "g1", "items": ["x", "y", "x"], "prefix_propensities": [0.5, 0.4, 0.3], "clicks": []}' && good; } >first.jsonl
expect 0 'random    rips               1' "$OLTR" ope first.jsonl -p random --lenient -i normal -e rips,iips
says 'all 2 items of it are taken'
says 'random    iips               1'
{ good && echo '{"id": "g4", "items": ["x", "y", "x"], "prefix_propensities": [0.5, 0.4, 0.3], "slot_propensities": [1, 1, 1], "clicks": []}'; } >last.jsonl
expect 0 'all 2 items of it are taken' "$OLTR" ope last.jsonl -p random --lenient -i normal -e rips
{ echo '{"item": "z", "reward": 1e200, "slot_propensity": 1}' && good; } >row.jsonl
expect 0 '3 lists of up to 2 slots, 2 items' "$OLTR" ope row.jsonl -p random --lenient -i normal -e rips
for i in $(seq 300); do
    echo "{\"id\": \"i$i\", \"items\": [\"a$i\", \"b$i\", \"a$i\"], \"prefix_propensities\": [1, 1, 1], \"slot_propensities\": [1, 1, 1], \"clicks\": []}"
    [ $((i % 3)) -eq 0 ] && echo "{\"id\": \"i$i\", \"items\": [\"a$i\", \"b$i\"], \"prefix_propensities\": [1, 1], \"slot_propensities\": [1, 1], \"clicks\": []}"
done >many.jsonl
expect 0 '100 lists of up to 2 slots, 200 items' "$OLTR" ope many.jsonl -p random --lenient -i normal -e rips

# ---- what was clicked must have been examined, also in an outcome
outcome() { { good && printf '%s\n' '{"id": "o", "items": ["a", "b"], "prefix_propensities": [0.5, 0.5], "slot_propensities": [0.5, 0.5]}' "$1"; } >outcome.jsonl; }
for line in '"clicks": [2], "seen": 1' '"clicks": [1, 2], "examined": [1]' '"rewards": [0, 1], "seen": 1' '"rewards": [1, 1], "examined": [2]'; do
    outcome "{\"id\": \"o\", $line}"
    expect 2 'outcome.jsonl:5: a position was clicked or has a reward, but was not examined' "$OLTR" ope outcome.jsonl -p random
done
outcome '{"id": "o", "clicks": [1], "examined": 1}'
expect 2 '"examined" must be an array' "$OLTR" ope outcome.jsonl -p random
outcome '{"id": "o", "clicks": [1], "examined": [1], "seen": 1}'
expect 2 'and not both' "$OLTR" ope outcome.jsonl -p random
for line in '"clicks": [2], "seen": 2' '"clicks": [2], "examined": [2]' '"rewards": [0, 1], "seen": 2' '"clicks": [], "seen": 0'; do
    outcome "{\"id\": \"o\", $line}"
    expect 0 '4 lists' "$OLTR" ope outcome.jsonl -p random -i normal
done

# ---- propensities of three digits: the warning has enough of them
for i in $(seq 99); do echo "{\"id\": \"r$i\", \"candidates\": [\"a\", \"b\", \"c\"], \"items\": [\"a\"], \"prefix_propensities\": [0.333], \"clicks\": []}"; done >round.jsonl
expect 0 'The mean weight is 1.001 and should be 1' "$OLTR" ope round.jsonl -p random -i normal -e sips

# ---- of several files, the one with the list is named
good >one.jsonl
for i in $(seq 40); do good | sed "s/\"g/\"k$i-/; s/\"clicks\": \[1\]/\"rewards\": [0.5, 0]/"; done >two.jsonl
"$OLTR" ope one.jsonl two.jsonl -p ts-beta --train-share 0.5 >said 2>&1 && fail "half a click for ts-beta"
grep -q 'two.jsonl:[0-9]*: the policy cannot learn this list' said || fail "another file is named"
{ echo '{"id": "t", "items": ["a"], "prefix_propensities": [1e-300], "slot_propensities": [1e-300], "clicks": [1]}'; } >tiny.jsonl
expect 1 'above 1e150: tiny.jsonl:1: slot 1' "$OLTR" ope one.jsonl tiny.jsonl -p random -i normal -e sips

# ---- nothing that is read is overwritten
mkdir own && good >own/table.csv && cp own/table.csv kept
expect 2 'own/table.csv is read, and would be overwritten' "$OLTR" ope own/table.csv -p random -o own
ln -s own/table.csv link.jsonl
expect 2 'would be overwritten' "$OLTR" ope link.jsonl -p random -o own
cmp -s own/table.csv kept || fail "the log was changed"
"$OLTR" model create home.oltr -p ts-beta -q && cp home.oltr kept
for log in home.oltr home.oltr.log; do
    expect 0 "" cp kept home.oltr
    [ -s "$log" ] || continue
    echo '{"k": 1, "items": ["a"], "id": "1"}' | "$OLTR" model rank home.oltr --log "$log" >said 2>&1 && fail "a model as a log"
    says 'is no decision log'
done
cmp -s home.oltr kept || fail "the model was changed"

# ---- a last line that was cut does not spoil the next
printf '{"id": "half", "items": ["a"' >half.jsonl
echo '{"k": 1, "items": ["a", "b"], "id": "whole"}' | "$OLTR" model rank home.oltr --log half.jsonl >said 2>&1 || fail "a log with half a line"
[ "$(wc -l <half.jsonl)" -eq 2 ] || fail "the new line was glued to the half one"
tail -n 1 half.jsonl | grep -q '^{"id": "whole"' || fail "the new line is not whole"

# ---- names with control characters
"$OLTR" ope round.jsonl -p $'x\e[31my\n' >said 2>&1 && fail "a policy of this name"
grep -q $'\e' said && fail "a message with a control character"
[ "$(wc -l <said)" -eq 1 ] || fail "a message of two lines"
# ---- lists of all items of a model: as many candidates as the line says, with names from the log or a model
seq 200 | awk 'BEGIN { print "list_id,item,position,click" } { printf "w%d,i%d,1,%d\n", NR, $1, NR % 7 == 0 }' >warm.csv
"$OLTR" model create big.oltr -p ts-beta -q && "$OLTR" model learn big.oltr warm.csv -q && head -n 101 warm.csv >fewer.csv
"$OLTR" model create small.oltr -p ts-beta -q && "$OLTR" model learn small.oltr fewer.csv -q
sed '2,$s/,i/,x/' warm.csv >others.csv && "$OLTR" model create others.oltr -p ts-beta -q && "$OLTR" model learn others.oltr others.csv -q
seq 20 | sed 's/.*/{"k": 3, "seed": "s&", "id": "r&"}/' | "$OLTR" model rank big.oltr --log big.jsonl >answers
grep -q '"all_items": 200' big.jsonl || fail "the log does not say how many items were ranked"
expect 0 'all 200 items of big.oltr are taken' "$OLTR" ope big.jsonl -m big.oltr -p random -e rips,iips -i normal --json
python3 -c 'import json; e = [e for e in json.load(open("said"))["estimates"] if e["policy"] == "big.oltr"]; assert len(e) == 2 and all(abs(x["mean_weight"] - 1) < 1e-6 for x in e), e' ||
    fail "the weights of the model that made the log are not 1"
known=$(grep -o '"i[0-9]*"' big.jsonl | sort -u | wc -l)
for policy in "-p random" "-m small.oltr" "-m others.oltr"; do
    expect 2 "big.jsonl:1: all 200 items of a model were ranked (\"all_items\"), and the names of $known are known: log requests with \`items\`, or give the model of that time by --model" "$OLTR" ope big.jsonl $policy -e rips
done
{ cat big.jsonl && sed '1!d; s/_items": 200/_items": 100/; s/"r1"/"s1"/' big.jsonl; } >grown.jsonl
expect 2 'grown.jsonl:21: all 100 items of a model were ranked' "$OLTR" ope grown.jsonl -m big.oltr -e rips
three() { for i in 1 2 3; do printf '{"id": "a%s", "items": ["a", "b"], "all_items": %s, "prefix_propensities": [0.5, 0.5], "clicks": [1]}\n' "$i" "$1"; done; }
three 2 >two.jsonl
expect 0 'says that all items of a model were ranked; all 2 items of it are taken' "$OLTR" ope two.jsonl -p random -i normal -e rips
for n in 0 -1 '"two"' 2.5 99999999999; do
    three "$n" >wrong.jsonl
    expect 2 'wrong.jsonl:1: "all_items" must be the number of items that were ranked' "$OLTR" ope wrong.jsonl -p random
done
sed 's/,i200,/,another,/' warm.csv >twin.csv
"$OLTR" model create twin.oltr -p ts-beta -q && "$OLTR" model learn twin.oltr twin.csv -q
grep -v '"i200"' big.jsonl >part.jsonl
expect 2 'big.oltr and twin.oltr have so many, and not the same' "$OLTR" ope part.jsonl -m big.oltr -m twin.oltr -e rips

# ---- a query of UBI that comes twice
query() { printf '{"query_id": "%s", "user_query": "x", "query_response_hit_ids": ["a", "b"]}\n' "$1"; }
{ query u1 && query u2 && query u1; } >again.jsonl
expect 2 'again.jsonl:3: query `u1` a second time; the first is in line 1' "$OLTR" ope again.jsonl -p random -i normal
expect 0 '2 lists of up to 2 slots' "$OLTR" ope again.jsonl -p random -i normal --lenient
says 'skipped: again.jsonl:3: query `u1` a second time'

# ---- a click is 0 or 1; other numbers are rewards
valued() { printf 'list_id,item,position,%s,slot_propensity\nq1,a,1,1,0.5\nq2,a,1,%s,0.5\nq3,b,1,0,0.5\n' "$1" "$2"; }
for value in 2 -1 0.5 often ''; do
    valued click "$value" >click.csv
    expect 2 "click.csv:3: a click must be 0 or 1; other numbers go into a column \`reward\`; it is \`$value\`" "$OLTR" ope click.csv -p random
done
for value in 2 -1 0.5 '"often"'; do
    { echo '{"list_id": "q1", "item": "a", "position": 1, "click": 1}' && echo "{\"list_id\": \"q2\", \"item\": \"a\", \"position\": 1, \"click\": $value}"; } >click.jsonl
    expect 2 'click.jsonl:2: a click must be 0 or 1' "$OLTR" ope click.jsonl -p random
done
for value in 2 -1 0.5; do
    valued reward "$value" >reward.csv
    expect 0 '3 lists' "$OLTR" ope reward.csv -p random -i normal
    expect 0 '3 lists' "$OLTR" ope reward.csv -p random -i normal --columns reward=reward
done
valued clicked true >word.csv
expect 0 '3 lists' "$OLTR" ope word.csv -p random -i normal
valued reward often >reward.csv
expect 2 'reward.csv:3: the reward must be a number, not `often`' "$OLTR" ope reward.csv -p random

# ---- what was dropped is said where no list is left
event() { printf '{"action_name": "%s", "query_id": "u%s", "event_attributes": {"position": {"ordinal": 1}}}\n' "$1" "$2"; }
{ event click 1 && event click 2 && event impression 3 && event login 4; } >events.jsonl
expect 2 'events.jsonl: 0 lists; an evaluation needs at least 2; 3 clicks or impressions without a list in the log; 1 event with another action' "$OLTR" ope events.jsonl -p random
{ query u1 && query u2; } >queries.jsonl
expect 2 'an evaluation needs at least 2; 2 lists without an outcome left out' "$OLTR" ope queries.jsonl -p random --unseen skip

# ---- a zero byte
for row in 'q2,b\0c,1,0' 'q\0002,b,1,0' 'q1,b\0c,2,0'; do
    printf "list_id,item,position,click\nq1,a,1,1\n$row\n" >zero.csv
    expect 2 'zero.csv:3: a zero byte in the ' "$OLTR" ope zero.csv -p random
done

# ---- chances of slot 1 that contradict each other
first() { { good && printf '{"id": "f", "items": ["a", "b"], "prefix_propensities": [%s, 0.01], "slot_propensities": [%s, 0.5], "clicks": [1]}\n' "$1" "$2"; } >slot1.jsonl; }
for pair in '0.5 0.4' '0.4 0.5' '0.5 0.500001' '1 0.01'; do
    first $pair
    expect 2 'slot1.jsonl:4: list `f`: slot 1: prefix_propensities and slot_propensities must be equal there' "$OLTR" ope slot1.jsonl -p random
done
first 0.5 0.5000001
expect 0 '4 lists' "$OLTR" ope slot1.jsonl -p random -i normal
printf '%s\n' list_id,item,position,click,slot_propensity,new_prefix,new_slot q1,a,1,1,0.5,0.2,0.2 q2,a,1,1,0.5,0.2,0 >evaluated.csv
expect 2 'evaluated.csv:3: list `q2`: slot 1: new_prefix and new_slot must be equal there' "$OLTR" ope evaluated.csv -p columns:new

# ---- lists whose rows are further apart than --open
printf '%s\n' list_id,item,position,click q1,a,1,0 q2,a,1,0 q3,a,1,0 q1,b,2,1 q2,b,2,1 q3,b,2,1 >apart.csv
expect 2 'has 1 row and no position 1; positions count from 1 without gaps; or its rows are more than 2 lists apart (--open)' "$OLTR" ope apart.csv -p random --open 2
expect 0 '3 lists' "$OLTR" ope apart.csv -p random -i normal --open 3
printf '%s\n' list_id,item,position,click q1,b,2,0 q2,a,1,0 q3,a,1,0 q1,a,1,1 >apart.csv
expect 2 'apart.csv:2: list `q1`, which begins here, has 1 row and no position 1; positions count from 1 without gaps; or its rows are more than 2 lists apart (--open)' "$OLTR" ope apart.csv -p random --open 2

# ---- an estimator that cannot be made does not stop the others
{ good && printf '{"id": "b%s", "items": ["b", "a"], "prefix_propensities": [0.5, 0.25], "slot_propensities": [0.5, 0.5], "clicks": [%s]}\n' 1 1 2 ''; } >bound.jsonl
expect 0 'random, sips: the terms of the lists span 2, which is more than the bound of 1.5' "$OLTR" ope bound.jsonl -p random -e sips,iips -i bernstein --bound 1.5
says 'random    iips'
! grep -q 'random    sips' said || fail "an estimate that cannot be made"
expect 0 'random, snsips: the empirical Bernstein interval is one of means' "$OLTR" ope bound.jsonl -p random -e snsips,dm -i bernstein
says 'random    dm'
expect 1 'bound.jsonl: no estimate could be made: random, sips: the terms of the lists span 2' "$OLTR" ope bound.jsonl -p random -e sips -i bernstein --bound 0.5
says '(logged), mean: it has no interval: the terms of the lists span 1, which is more than the bound of 0.5'
expect 1 'no estimate could be made: random, sips: the log has no prefix_propensities' "$OLTR" ope queries.jsonl -p random -e sips -i normal
expect 1 '"notes": ["random, sips: ' "$OLTR" ope queries.jsonl -p random -e sips -i normal --json
expect 0 'queries.jsonl: 2 lists' "$OLTR" ope queries.jsonl -i normal

# ---- messages name what a user of the command can do
good | head -n 2 >pair.jsonl
expect 0 'More than a tenth of the resamples of so few lists have none of them: there is no bootstrap interval' "$OLTR" ope pair.jsonl
! grep -q 'with weight' said || fail "the weight of what was logged"
"$OLTR" model create pbm.oltr -p pbm-ts -q
echo '{"k": 1, "items": ["a", "b"], "propensity": true}' | "$OLTR" model rank pbm.oltr >said 2>&1 && fail "exact chances of pbm-ts"
says 'have them counted in drawn lists, by a number of draws'
! grep -q 'oltr_model' said || fail "a function of C in a message of the command"
for policy in toprank bubblerank; do
    expect 2 'a fixed set of items' "$OLTR" ope pair.jsonl -p "$policy"
done

echo "ope_hostile: everything as expected"

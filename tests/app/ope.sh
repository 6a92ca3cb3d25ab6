# ope.sh - `oltr ope`: estimates against a twin in Python; the same log in every form; hostile logs, by their lines; models, training, real data.
. "$(dirname "$0")/common.bash"
need python3
DATA=${OLTR_DATA:-$SOURCE/../shared/data}
says() { grep -qF -- "$1" said || fail "does not say '$1'"; }
ope() { expect 0 "" "$OLTR" ope "$@"; }

# ---- a log with chances of two policies, and a twin of the estimators
python3 - <<'PY'
import json, math, random
random.seed(5)
rows, lists = [], []
for q in range(400):
    n = random.choice([1, 2, 3, 3])
    items = random.sample(["shoe", "hat", "coat", "sock", "tie"], n)
    def prefix():
        p, out = 1.0, []
        for _ in range(n):
            p *= random.uniform(0.2, 0.9)
            out.append(p)
        return out
    of = dict(id=f"q{q}", items=items, reward=[int(random.random() < 0.3) for _ in items],
              prefix=prefix(), slot=[random.uniform(0.05, 1) for _ in items],
              new_prefix=prefix(), new_slot=[random.uniform(0, 1) for _ in items])
    of["slot"][0], of["new_slot"][0] = of["prefix"][0], of["new_prefix"][0]
    lists.append(of)
with open("log.csv", "w") as f:
    f.write("list_id,item,position,click,prefix_propensity,slot_propensity,new_prefix,new_slot\n")
    for l in lists:
        for i, item in enumerate(l["items"]):
            f.write(f'{l["id"]},{item},{i + 1},{l["reward"][i]},{l["prefix"][i]!r},{l["slot"][i]!r},{l["new_prefix"][i]!r},{l["new_slot"][i]!r}\n')
with open("rows.jsonl", "w") as f:
    for l in lists:
        for i, item in enumerate(l["items"]):
            f.write(json.dumps(dict(list_id=l["id"], item=item, position=i + 1, click=l["reward"][i], prefix_propensity=l["prefix"][i],
                                    slot_propensity=l["slot"][i], new_prefix=l["new_prefix"][i], new_slot=l["new_slot"][i])) + "\n")
chances = lambda l: dict(prefix_propensities=l["prefix"], slot_propensities=l["slot"], new_prefix=l["new_prefix"], new_slot=l["new_slot"])
clicks = lambda l: [i + 1 for i, r in enumerate(l["reward"]) if r]
with open("lists.jsonl", "w") as f:
    for l in lists:
        f.write(json.dumps(dict(list_id=l["id"], items=l["items"], clicks=clicks(l), **chances(l))) + "\n")
with open("decisions.jsonl", "w") as f, open("outcomes.jsonl", "w") as g:
    for l in lists:
        f.write(json.dumps(dict(id=l["id"], items=l["items"], **chances(l))) + "\n")
        g.write(json.dumps(dict(id=l["id"], clicks=clicks(l))) + "\n")
with open("ubi.jsonl", "w") as f:
    for l in lists:
        f.write(json.dumps(dict(query_id=l["id"], user_query="x", query_response_hit_ids=l["items"], query_attributes=chances(l))) + "\n")
        for at in clicks(l):
            f.write(json.dumps(dict(action_name="click", query_id=l["id"], event_attributes=dict(position=dict(ordinal=at)))) + "\n")
n = len(lists)
w = lambda l, kind: [a / b for a, b in zip(l["new_" + kind], l[kind])]
twin = {
    "sips": sum(w(l, "prefix")[-1] * sum(l["reward"]) for l in lists) / n,
    "iips": sum(a * r for l in lists for a, r in zip(w(l, "slot"), l["reward"])) / n,
    "rips": sum(a * r for l in lists for a, r in zip(w(l, "prefix"), l["reward"])) / n,
    "snsips": sum(w(l, "prefix")[-1] * sum(l["reward"]) for l in lists) / sum(w(l, "prefix")[-1] for l in lists),
    "mean": sum(sum(l["reward"]) for l in lists) / n,
}
for kind, name in (("slot", "sniips"), ("prefix", "snrips")):
    twin[name] = 0
    for s in range(3):
        of = [l for l in lists if len(l["items"]) > s]
        twin[name] += len(of) / n * sum(w(l, kind)[s] * l["reward"][s] for l in of) / sum(w(l, kind)[s] for l in of)
json.dump(twin, open("twin.json", "w"))
PY
expect 0 "" "$OLTR" ope log.csv --policy columns:new --json
cp said wanted.json
python3 - <<'PY' || fail "not the estimates of the twin"
import json, math
twin, got = json.load(open("twin.json")), json.load(open("wanted.json"))
assert got["lists"] == 400 and got["slots"] == 3 and got["items"] == 5
found = {e["estimator"]: e for e in got["estimates"]}
assert set(found) == {"mean", "sips", "iips", "rips", "snsips", "sniips", "snrips"}, set(found)
for name, value in twin.items():
    assert math.isclose(found[name]["value"], value, rel_tol=1e-12), (name, found[name]["value"], value)
    assert found[name]["low"] <= value <= found[name]["high"]
    assert found[name]["lists"] == 400
PY

# ---- the same log in every form, and the same bytes for the same seed
estimates() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(*[sorted(e.items()) for e in d["estimates"]], sep="\n")' "$1"; }
estimates wanted.json >wanted
form() { # NAME WORDS...
    ope "${@:2}" --policy columns:new --json
    cp said form.json
    estimates form.json | cmp -s - wanted || fail "$1 gives other estimates"
}
form again log.csv
form "JSON rows" rows.jsonl
form "JSON lists" lists.jsonl
form "decisions and outcomes" decisions.jsonl outcomes.jsonl
form "outcomes first" outcomes.jsonl decisions.jsonl
form UBI ubi.jsonl
gzip -k log.csv
form gzip log.csv.gz
sed '1s/prefix_propensity/p1/; 1s/slot_propensity/p2/' log.csv >named.csv
form "named columns" named.csv --columns prefix=p1,slot=p2
"$OLTR" ope - --policy columns:new --json <log.csv >form.json 2>said || fail "standard input"
estimates form.json | cmp -s - wanted || fail "standard input gives other estimates"
(head -n 1 log.csv && tail -n +2 log.csv | tac) >turned.csv
expect 0 "" "$OLTR" ope turned.csv --policy columns:new --interval normal --json
cp said turned.json
expect 0 "" "$OLTR" ope log.csv --policy columns:new --interval normal --json
python3 - <<'PY' || fail "the order of lists matters"
import json, math
a, b = json.load(open("turned.json")), json.load(open("said"))
for x, y in zip(a["estimates"], b["estimates"]):
    assert math.isclose(x["value"], y["value"], rel_tol=1e-12) and math.isclose(x["low"], y["low"], rel_tol=1e-9)
PY

# ---- what a log does not permit is said
cut -d, -f1-4,6 log.csv >slots.csv
ope slots.csv --policy random
says 'random    iips'
! grep -q 'random    sips' said || fail "sips without chances of lists"
expect 1 'no estimate could be made: random, sips: the log has no prefix_propensities' "$OLTR" ope slots.csv --policy random -e sips
cut -d, -f1-4 log.csv >bare.csv
ope bare.csv --policy random
says 'random    dm'
! grep -q ips said || fail "weights without propensities"
expect 2 'has neither x_prefix nor x_slot' "$OLTR" ope slots.csv --policy columns:x
expect 1 'no estimate could be made: columns:new, snsips: the empirical Bernstein' "$OLTR" ope log.csv --policy columns:new -e snsips --interval bernstein
ope log.csv --policy columns:new --interval bernstein
! grep -q snsips said || fail "a Bernstein interval of a ratio"
expect 2 'did you mean `sips`' "$OLTR" ope log.csv --policy random -e sipz
expect 2 'no policy' "$OLTR" ope log.csv --policy ts-betta
expect 2 'is given twice' "$OLTR" ope log.csv -p random -p random
expect 2 'KEY=VALUE' "$OLTR" ope log.csv -p ts-beta:prior
expect 2 'features' "$OLTR" ope log.csv -p lints
expect 2 'only a policy or a model can be greedy' "$OLTR" ope log.csv -p greedy:columns:new
expect 2 'is the log of the evaluation' "$OLTR" ope log.csv -p ts-beta --train ./log.csv
expect 2 'No such file' "$OLTR" ope nothing.csv -p random
expect 2 'No such file' "$OLTR" ope log.csv -m nothing.oltr

# ---- options that nothing would read
expect 2 '--bound is of --interval bernstein, and this interval is bootstrap' "$OLTR" ope log.csv -p random --bound 3
expect 2 'this interval is normal' "$OLTR" ope log.csv -p random --bound 3 --interval normal
ope log.csv -p columns:new -e sips --bound 30 --interval bernstein
echo item,score_1 >items.csv
for policy in -prandom -pcolumns:new -plog:slots.csv; do
    expect 2 '--prior items.csv: no --policy NAME of this command takes priors' "$OLTR" ope log.csv "$policy" --prior items.csv
done
for option in --clicks=tap --impressions=look --shown=3; do
    expect 2 "${option%=*} is of queries and events of UBI, and log.csv has none" "$OLTR" ope log.csv -p random "$option"
    expect 2 "and lists.jsonl has none" "$OLTR" ope lists.jsonl -p random "$option"
done
ope ubi.jsonl -p columns:new --clicks click --shown 3

# ---- hostile logs: the line is named, and --lenient goes on
H=list_id,item,position,click,prefix_propensity,slot_propensity
bad() { # NAME LINE TEXT, and the log on standard input
    cat >"$1.csv"
    expect 2 "$1.csv:$2: " "$OLTR" ope "$1.csv" -p random
    says "$3"
}
more() { for q in 7 8 9; do echo "q$q,a,1,1,0.5,0.5"; echo "q$q,b,2,0,0.2,0.4"; done; }
bad zero 2 'above 0 and at most 1, not `0`' <<<"$H
q1,a,1,0,0,0.5"
bad negative 3 'above 0 and at most 1, not `-0.2`' <<<"$H
q1,a,1,0,0.5,0.5
q1,b,2,0,-0.2,0.5"
bad nan 2 'not `nan`' <<<"$H
q1,a,1,0,nan,0.5"
bad infinite 2 'not `inf`' <<<"$H
q1,a,1,0,0.5,inf"
bad above 2 'not `1.5`' <<<"$H
q1,a,1,0,0.5,1.5"
bad word 2 'not `often`' <<<"$H
q1,a,1,0,often,0.5"
bad empty-field 2 'not ``' <<<"$H
q1,a,1,0,,0.5"
bad rising 2 'must not rise' <<<"$H
q1,a,1,0,0.5,0.5
q1,b,2,0,0.7,0.5"
printf '%s\n' "$H" q1,a,1,0,0.5,0.5 q2,a,1,0,0.5,0.5 q1,b,1,0,0.5,0.5 >twice.csv
expect 2 'twice.csv:4: position 1 of list `q1` a second time; the first is in line 2' "$OLTR" ope twice.csv -p random
expect 2 'twice.csv:4: list `q1`: this id was read before' "$OLTR" ope twice.csv -p random --open 1
bad slots-twice 3 'position 1 of list `q1` a second time; the first is in line 2' <<<"$H
q1,a,1,0,0.5,0.5
q1,b,1,0,0.4,0.5"
bad item-twice 2 '`a` is in two slots' <<<"$H
q1,a,1,0,0.5,0.5
q1,a,2,0,0.4,0.5"
bad gap 2 'no position 2' <<<"$H
q1,a,1,0,0.5,0.5
q1,b,3,0,0.4,0.5"
bad clicked 2 'clicked, but not examined' <<<"list_id,item,position,click,examined,slot_propensity
q1,a,1,1,0,0.5"
echo list_id,item,position >no-click.csv
expect 2 'no-click.csv:1: no column `click`' "$OLTR" ope no-click.csv -p random
for file in zero negative nan above rising item-twice; do
    more >>"$file.csv"
    expect 0 '3 lists' "$OLTR" ope "$file.csv" -p random --lenient
    says "skipped: $file.csv:"
done
: >nothing.csv
expect 2 'nothing.csv is empty' "$OLTR" ope nothing.csv -p random
echo "$H" >header.csv
expect 2 'header.csv: 0 lists; an evaluation needs at least 2' "$OLTR" ope header.csv -p random
head -c 900 log.csv.gz >cut.csv.gz
expect 2 'cut.csv.gz' "$OLTR" ope cut.csv.gz -p random
(echo "$H" && more && echo q1,a,1,1,1e-300,1e-300) >tiny.csv
expect 0 'a weight is above 1e150: tiny.csv:8: slot 1 was shown with a chance of 1e-300' "$OLTR" ope tiny.csv -p random
says 'random    snsips'
for line in '{"id": "x", "items": ["a", "b"], "candidates": ["a", "c"], "clicks": []}' '{"id": "x", "items": ["a"], "candidates": ["a", "c", "c"], "clicks": []}' \
    '{"id": "x", "items": ["a", "b"], "prefix_propensities": [0.5], "clicks": []}' '{"id": "x", "items": ["a"], "prefix_propensities": [null], "clicks": []}' \
    '{"id": "x", "items": ["a"], "prefix_propensities": [2], "clicks": []}' '{"id": "x", "items": ["a"], "prefix_propensities": "high", "clicks": []}' '{"id": "x", "items": []}' \
    '{"id": "x", "items": ["a"], "candidates": []}' '{"id": "x", "clicks": [0]}' '{"id": "x", "rewards": ["a"]}' '{"id": {}, "items": ["a"]}'; do
    printf '%s\n' '{"id": "q", "items": ["a"], "prefix_propensities": [0.5], "clicks": []}' "$line" >line.jsonl
    expect 2 'line.jsonl:2: ' "$OLTR" ope line.jsonl -p random
done
printf '%s\n' '{"id": "q", "items": ["a"]}' '{"id": "q", "items": ["b"]}' >double.jsonl
expect 2 'double.jsonl:2: list `q` a second time; the first is in line 1' "$OLTR" ope double.jsonl -p random
printf '%s\n' '{"id": "a", "items": ["x"]}' '{"id": "b", "items": ["y"]}' '{"id": "b", "clicks": [1]}' '{"id": "lost", "clicks": [1]}' >lost.jsonl
expect 0 '1 click or impression without a list' "$OLTR" ope lost.jsonl -p random
says '1 list without an outcome counted as not clicked'
expect 2 '1 list; an evaluation needs at least 2' "$OLTR" ope lost.jsonl -p random --unseen skip

# ---- many lists: memory by the list, and little of it
awk 'BEGIN { srand(1); print "list_id,item,position,click,prefix_propensity"
    for (i = 0; i < 100000; i++) printf "q%d,i%d,1,%d,0.1\nq%d,i%d,2,0,0.0111\n", i, i % 10, rand() < 0.1, i, (i + 1) % 10 }' >many.csv
if ! sanitized; then
    (ulimit -v 300000 && "$OLTR" ope many.csv -p random -e sips --interval normal >said 2>&1) || fail "300 MB are not enough for 100,000 lists"
    says '100,000 lists'
fi

# ---- a model's own log: rank, click, learn, evaluate
expect 0 "" "$OLTR" model create home.oltr -p ts-beta -q
expect 0 "" "$OLTR" model learn home.oltr bare.csv
python3 - <<'PY' >requests
import json
for q in range(300):
    print(json.dumps(dict(k=2, id=f"r{q}", seed=f"u{q}", items=["shoe", "hat", "coat", "sock", "tie"][q % 2:])))
PY
"$OLTR" model rank home.oltr --log own.jsonl <requests >answers || fail "rank --log"
python3 - <<'PY' >>own.jsonl
import json, random
random.seed(9)
for line in open("answers"):
    a = json.loads(line)
    print(json.dumps(dict(id=a["id"], clicks=[i + 1 for i, item in enumerate(a["items"]) if random.random() < (0.6 if item == "hat" else 0.1)])))
PY
expect 0 "" "$OLTR" ope own.jsonl -m home.oltr -m greedy:home.oltr -p random -p greedy:ts-beta --train bare.csv --json
python3 - <<'PY' || fail "the model's own log"
import json, math
d = json.load(open("said"))
of = {(e["policy"], e["estimator"]): e for e in d["estimates"]}
mean = of["(logged)", "mean"]["value"]
for estimator in ("sips", "iips", "rips", "snsips", "sniips", "snrips"):  # the policy that made the log: every weight is 1
    assert math.isclose(of["home.oltr", estimator]["value"], mean, rel_tol=1e-6), estimator
    assert math.isclose(of["home.oltr", estimator]["ess"], 300, rel_tol=1e-6)
    assert of["home.oltr", estimator]["warning"] == "", of["home.oltr", estimator]["warning"]
for policy in ("home.oltr", "greedy:home.oltr", "random", "greedy:ts-beta"):
    assert (policy, "dr") in of and (policy, "dm") in of, policy
    assert of[policy, "dr"]["chances"] == "exact"
for estimator in ("sips", "dr", "dm"):  # the same belief, made here and read from a file
    assert math.isclose(of["greedy:home.oltr", estimator]["value"], of["greedy:ts-beta", estimator]["value"], rel_tol=1e-9)
PY
expect 0 "" "$OLTR" ope own.jsonl -m home.oltr --draws 400 --json
says '"chances": "400 draws"'
expect 0 "" "$OLTR" ope own.jsonl -p ts-cascade --train bare.csv
says '1000 draws'
expect 0 '300 lists learned' "$OLTR" model learn home.oltr own.jsonl
expect 0 'biased: the model has learned 300 of these lists' "$OLTR" ope own.jsonl -m home.oltr
expect 0 'it has learned nothing: give --train LOG' "$OLTR" ope own.jsonl -p ts-beta
expect 0 'others to learn from' "$OLTR" ope own.jsonl -p ts-beta --train-share 0.5
cp said first
expect 0 "" "$OLTR" ope own.jsonl -p ts-beta --train-share 0.5
same said first
printf 'item,score_1,score_2\nshoe,0.3,0.2\nhat,0.6,0.7\ncoat,0.1,0.1\nsock,0.2,0.2\ntie,0.05,0.1\n' >scores.csv
expect 0 'ensemble  rips' "$OLTR" ope own.jsonl -p ensemble --prior scores.csv
expect 0 "" "$OLTR" ope own.jsonl -p ts-beta:prior=full,default_prior=1,9,examine=all --train-share 0.5
expect 2 'default_prior is two numbers' "$OLTR" ope own.jsonl -p ts-beta:default_prior=1,prior=full
expect 0 "" "$OLTR" model create linear.oltr -p lints --set dim=2 -q
expect 2 'features' "$OLTR" ope own.jsonl -m linear.oltr
printf '%s\n' '{"k": 1, "features": [[1, 0], [0, 1]], "id": "f1"}' | "$OLTR" model rank linear.oltr --log rows-log.jsonl >said 2>&1 || fail "rows"
says 'without prefix_propensities'
echo '{"id": "f1", "clicks": [1]}' >>rows-log.jsonl
expect 0 '1 list learned' "$OLTR" model learn linear.oltr rows-log.jsonl
"$OLTR" model rank home.oltr --log /no/folder/x -k 1 >said 2>&1 && fail "a log that cannot be written"
says 'cannot open it'

# ---- files
if command -v gnuplot >/dev/null; then
    ope own.jsonl -m home.oltr -p random -o out
    there out/table.csv out/estimates.json out/fig-ope.{svg,png,pdf,gp,csv}
    [ "$(wc -l <out/table.csv)" -eq 18 ] || fail "not 17 rows of a table"
    no_leftovers out
    # rows without an estimate or without an interval say so, and have no cap at the edge
    awk 'BEGIN { print "list_id,item,position,click,prefix_propensity,one_prefix,none_prefix"
        for (i = 0; i < 60; i++) printf "q%d,a,1,%d,0.5,%s,0\n", i, i % 2, i == 5 ? "0.5" : "0" }' >few.csv
    expect 0 "No support" "$OLTR" ope few.csv -p columns:one -p columns:none -e sips,snsips -o gaps
    [ "$(grep -c 'no estimate' gaps/fig-ope.svg)" -eq 1 ] || fail "one row has no estimate"
    [ "$(grep -c 'no interval' gaps/fig-ope.svg)" -eq 1 ] || fail "one row has an estimate and no interval"
    grep xerrorbars gaps/fig-ope.gp | grep -vF '$4 <= $5' && fail "an interval that is not known is drawn"
    grep -q 'pointtype 7' <(grep "'#FFFFFF'" gaps/fig-ope.gp) || fail "open points are not hollow"
fi

# ---- real data: random lists predict the click rate of another policy, and the reverse
if [ -s "$DATA/obd-men/random.csv.gz" ] && [ -s "$DATA/obd-men/bts.csv.gz" ]; then
    expect 0 'only iips and sniips' "$OLTR" ope "$DATA/obd-men/random.csv.gz" -p "log:$DATA/obd-men/bts.csv.gz" --confidence 0.999 --json
    cp said bts.json
    expect 0 "" "$OLTR" ope "$DATA/obd-men/bts.csv.gz" -p random --confidence 0.999 --json
    cp said random.json
    expect 1 'random, sips: the log has no list ids' "$OLTR" ope "$DATA/obd-men/bts.csv.gz" -p random -e sips
    python3 - <<'PY' || fail "one policy's log does not predict the other's click rate"
import json
of = lambda name: {e["estimator"]: e for e in json.load(open(name))["estimates"]}
bts, uniform = of("bts.json"), of("random.json")
for predicted, measured in ((bts["iips"], uniform["mean"]), (bts["sniips"], uniform["mean"]), (uniform["iips"], bts["mean"]), (uniform["sniips"], bts["mean"])):
    print(f"{predicted['policy']}: {predicted['value']:.5f} [{predicted['low']:.5f}, {predicted['high']:.5f}], measured {measured['value']:.5f}")
    assert predicted["low"] <= measured["high"] and measured["low"] <= predicted["high"], "the intervals are apart"
PY
else
    echo "no Open Bandit data: that part was left out"
fi
echo "ope: everything as expected"

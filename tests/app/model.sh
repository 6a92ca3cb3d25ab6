# model.sh - `oltr model`: every command and every message; what is refused changes nothing; pipes; dumps to the byte.
. "$(dirname "$0")/common.bash"
need python3

# model CODE TEXT WORDS...: `oltr model WORDS` ends with CODE and says TEXT
model() {
    local code=$1 text=$2
    shift 2
    expect "$code" "$text" "$OLTR" model "$@"
}
# pipe CODE INPUT WORDS...: INPUT, lines with \n, into `oltr model WORDS`
pipe() {
    local code=$1 input=$2 got
    shift 2
    printf '%b' "$input" | "$OLTR" model "$@" >said 2>&1
    got=$?
    [ "$got" -eq "$code" ] || fail "exit status $got instead of $code: $*"
}
says() { grep -qF -- "$1" said || fail "does not say '$1'"; }
sum() { cat "$1" "$1.log" | cksum; }
# unchanged MODEL CODE TEXT WORDS...: refused, and both files are as they were
unchanged() {
    local file=$1 before
    shift
    before=$(sum "$file")
    model "$@"
    [ "$before" = "$(sum "$file")" ] || fail "refused, but $file changed: $*"
}

# ---- the family
expect 2 'model needs a command after it' "$OLTR" model
expect 2 'no command of model is called `rnak`; did you mean `rank`' "$OLTR" model rnak
for verb in create learn rank show prior remove reset trim forget merge dump check; do
    expect 0 "usage: oltr model $verb" "$OLTR" help model $verb
    expect 2 "model $verb needs MODEL" "$OLTR" model $verb
    "$OLTR" help --man | grep -q "^\.SS oltr model $verb" || fail "the manual lacks model $verb"
done

# ---- create
model 2 'model create needs --policy NAME' create a.oltr
model 2 'no policy' create a.oltr -p ts-bta
model 2 'toprank cannot be served' create a.oltr -p toprank
model 2 '--set needs KEY=VALUE' create a.oltr -p gts --set window
model 2 '--set needs KEY=VALUE' create a.oltr -p gts --set =1
model 2 '--set sigmaa=1:' create a.oltr -p gts --set sigmaa=1
model 2 '--set window=x:' create a.oltr -p gts --set window=x
model 2 '' create a.oltr -p lints
model 2 '--from and --like both make the model' create a.oltr --from x --like y
model 2 '--from takes everything from the other model; leave --policy out' create a.oltr --from x -p gts
model 2 '--like takes everything from the other model; leave --set out' create a.oltr --like x --set a=1
model 2 '--strength needs --like MODEL' create a.oltr -p gts --strength 0.5
model 2 '--strength must be a number' create a.oltr --like x --strength 2
model 2 'x.oltr: No such file or directory; `oltr model create` makes a model' create a.oltr --like x.oltr
model 1 'cannot' create no/such/folder/a.oltr -p gts
[ ! -e a.oltr ] && [ ! -e a.oltr.log ] || fail "a wrong request made a model"
model 0 'ts-beta, a.oltr: 0 items, 0 lessons' create a.oltr --policy ts-beta --set b=20 --set window=100 --set examine=all
there a.oltr a.oltr.log
unchanged a.oltr 2 'a.oltr exists already; give another name' create a.oltr -p gts
model 0 '' create quiet.oltr -p gts -q
[ ! -s said ] || fail "--quiet says something"
for kind in $("$OLTR" policies | cut -c1-15 | grep -o '^[a-z][^ ]*'); do
    [[ "$kind" =~ ^(toprank|bubblerank)$ ]] || model 0 "$kind, " create "kind-$kind.oltr" -p "$kind" \
        $("$OLTR" policies "$kind" | grep -q 'needs features' && echo --set dim=3)
done

# ---- priors
printf 'item,mean,sd\nshoe,0.05,0.01\n"a ""big"" hat, red",0.02,0.02\n' >moments.csv
printf 'item,a,b\nshoe,2,40\ntie,1,60\n' >shapes.csv
model 0 'priors from mean and sd of moments.csv' create p.oltr -p gts --prior moments.csv
says 'items without a prior of their own: mean 0.035, sd 0.02179, the average of the file'
model 2 'standard input: the file is empty' create q.oltr -p ts-hyper --prior -
[ -e q.oltr ] && fail "an empty prior made a model"
"$OLTR" model create q.oltr -p ts-hyper --prior - <moments.csv >said 2>&1 || fail "a prior from standard input"
model 0 '2 items, 0 lessons' create r.oltr -p ts-beta --prior shapes.csv --set default_prior=1,30
grep -q 'average' said && fail "default_prior was not taken"
model 0 '' show r.oltr --items shoe,new
says 'new'
tr -s ' ' <said | grep -q '^new 0.032258 .* new$' || fail "an unknown item does not have the default prior"
model 2 'with --set prior=none gts does not read --prior' create s.oltr -p gts --prior moments.csv --set prior=none
model 2 'cascade-ucb1 takes no priors of items' create s.oltr -p cascade-ucb1 --prior moments.csv
model 2 'lints takes no priors of items' create s.oltr -p lints --set dim=2 --prior moments.csv
printf 'item,a,b\nshoe,2,40\nshoe,1,60\n' >twice.csv
model 2 'twice.csv:3: item `shoe` a second time; the first is in line 2' create s.oltr -p ts-beta --prior twice.csv
printf 'item,a,b\nshoe,2,40\nhat,1e300,1e300\n' >huge.csv
model 2 'huge.csv:3: ' create s.oltr -p ts-beta --prior huge.csv
printf 'item,a,b\nshoe,2,40\nhat,0,1\nsock,x,1\ntie,1,1\n' >bad.csv
model 2 'bad.csv:3: a and b must be above 0' create s.oltr -p ts-beta --prior bad.csv
[ ! -e s.oltr ] || fail "a refused prior made a model"
model 0 'skipped: bad.csv:3: a and b must be above 0' create s.oltr -p ts-beta --prior bad.csv --lenient
says 'skipped 2 lines and 0 lists'
unchanged r.oltr 2 'bad.csv:3: ' prior r.oltr bad.csv
unchanged r.oltr 2 'no-such.csv' prior r.oltr no-such.csv
unchanged r.oltr 2 'huge.csv:3: ' prior r.oltr huge.csv
model 0 'priors of 2 items from a and b of shapes.csv' prior p.oltr shapes.csv
says 'p.oltr: 3 items'
model 2 'ts-cascade takes no priors of items' prior kind-ts-cascade.oltr shapes.csv
printf 'SKU,a,b\ntie,3,3\n' >sku.csv
model 2 'sku.csv:1: no column `item`' prior r.oltr sku.csv
model 2 '--columns must be like' prior r.oltr sku.csv --columns sku
model 0 '' prior r.oltr sku.csv --columns item=sku -q
[ ! -s said ] || fail "--quiet says something"

# ---- learn, and once: see also model_logs.sh
printf 'list_id,item,position,click\nq1,shoe,1,0\nq1,hat,2,1\nq2,shoe,1,1\nq2,coat,2,0\n' >clicks.csv
model 2 'model learn needs MODEL FILE...' learn a.oltr
model 2 'no-such.oltr: No such file' learn no-such.oltr clicks.csv
unchanged a.oltr 2 'cannot read no-such.csv' learn a.oltr no-such.csv
model 0 '2 lists learned' learn a.oltr clicks.csv
unchanged a.oltr 0 '2 lists known already' learn a.oltr clicks.csv
for wrong in '--format xml' '--unseen maybe' '--wait soon' '--open 0' '--shown 0' '--columns item'; do
    unchanged a.oltr 2 "${wrong%% *} must be" learn a.oltr clicks.csv $wrong
done
model 0 '"learned": 0, "known": 2' learn a.oltr clicks.csv --json

# ---- rank
model 0 '' rank a.oltr -k 2 --greedy
[ "$(sed -n '2,$p' said | awk '{print $2}' | tr '\n' ' ')" = "hat shoe " ] || fail "the greedy order is wrong"
model 0 'coat' rank a.oltr -k 99
[ "$(wc -l <said)" -eq 4 ] || fail "a list longer than the model"
model 0 '"seed": "s"' rank a.oltr -k 2 --seed s --json
cp said one
model 0 '"seed": "s"' rank a.oltr -k 2 --seed s --json
same said one
model 0 'new' rank a.oltr --items hat,unknown --explain --propensity
says 'prior left'
printf 'hat\r\nshoe\n\ncoat' >names
model 0 '"items"' rank a.oltr --items-from names --json --greedy
python3 -c 'import json; x = json.load(open("said")); assert sorted(x["items"]) == ["coat", "hat", "shoe"] and len(x["scores"]) == 3' ||
    fail "not the ranking of three names"
model 0 '' rank a.oltr -k 2 --fresh-below 1000 --most-fresh 1
model 2 'a name' rank a.oltr --items hat,,shoe
model 2 'occurs twice' rank a.oltr --items hat,hat
model 2 '--slots must be' rank a.oltr -k 0
model 2 '--seed must be a text' rank a.oltr -k 1 --seed ''
model 2 '--draws must be' rank a.oltr -k 1 --draws x
model 2 '--sync must be none, second or always' rank a.oltr --sync never
model 2 '--learn is for requests on standard input' rank a.oltr -k 1 --learn
model 2 'ranks rows of features' rank kind-lints.oltr -k 1
model 2 'the model has no items yet' rank quiet.oltr -k 1
model 2 'cannot read no-such' rank a.oltr --items-from no-such
model 2 '--items-from /dev/null: ' rank a.oltr --items-from /dev/null # not all items of the model
: >nothing
model 2 '--items-from nothing: there is no name in it' rank a.oltr --items-from nothing
model 2 '--items-from nothing: there is no name in it' show a.oltr --items-from nothing
printf 'x%.0s' {1..600} >long
model 2 'long:1: a name has 1 to 512 bytes' rank a.oltr --items-from long
head -c 0 /dev/null >empty

# ---- rank as a filter
pipe 0 '{"k": 1, "greedy": true}\n\n{"items": ["shoe", 5, {"hex": "ff00"}], "seed": "x", "explain": true, "tag": {"a": [1]}}\n' rank a.oltr
[ "$(wc -l <said)" -eq 2 ] || fail "not one answer for each request"
head -n 1 said | grep -qxF '{"items": ["hat"], "scores": [0.090909090909090912]}' || fail "the first answer: $(head -n 1 said)"
python3 - <<'PY' || fail "the second answer is wrong"
import json
x = json.loads(open("said").readlines()[1])
assert sorted(map(str, x["items"])) == sorted(["shoe", "5", "{'hex': 'ff00'}"]), x
assert x["tag"] == {"a": [1]} and x["seed"] == "x" and len(x["explain"]) == 3
assert {e["known"] for e in x["explain"]} == {True, False}
PY
pipe 1 'x\n[1]\n{"k": 0}\n{"k": "a"}\n{"greedy": 1}\n{"seed": ""}\n{"fresh_below": -1}\n{"itmes": []}\n{"items": []}\n{"k": 1}\n{"learn": {}}\n{"features": [[1]]}\n{"items": ["a", "a"]}\n' rank a.oltr
[ "$(wc -l <said)" -eq 13 ] || fail "not one answer for each line"
[ "$(grep -c '^{"error": "line [0-9]*: ' said)" -eq 11 ] || fail "not eleven errors"
for words in 'line 1: not JSON' 'line 2: a line must be a JSON object' 'line 3: \"k\" must be' 'line 5: \"greedy\" must be true or false' \
    'line 6: \"seed\" must be' 'line 7: \"fresh_below\" must be' 'line 8: a request has no `itmes`' 'line 9: \"items\" must be an array' \
    'line 11: give --learn to the command' 'line 13: '; do
    says "$words"
done
pipe 0 '{"items": ["q"], "features": [[1, 0, 0]], "greedy": true}\n' rank kind-lints.oltr
says '{"items": ["q"], "rows": [0], "scores": [0]}'
pipe 1 '{"k": 1}\n{"features": [[1]]}\n' rank kind-lints.oltr
says 'line 1: \"features\" must be an array'
says 'line 2: row 1 of \"features\" must be an array of 3 numbers'
before=$(sum a.oltr)
pipe 0 '' rank a.oltr
[ "$before" = "$(sum a.oltr)" ] || fail "ranking changed the model"
pipe 1 '{"learn": {"id": "q2", "items": ["shoe"], "clicks": []}}\n{"learn": {"id": "q3", "items": ["shoe", "sock"], "clicks": [2]}}\n{"learn": {"items": ["sock"]}}\n{"k": 9}\n' \
    rank a.oltr --learn --sync always
[ "$(head -n 2 said | tr -d '\n')" = '{"learned": false}{"learned": true}' ] || fail "the answers to lessons are wrong"
says 'line 3: give \"clicks\"'
says 'sock'
model 0 'a.oltr: 4 items, 3 lessons' check a.oltr
# an answer comes before the next request is sent: two pipes and one process
mkfifo in out
"$OLTR" model rank a.oltr <in >out 2>said &
exec 7>in 8<out
for i in 1 2 3; do
    echo '{"k": 1, "tag": '$i'}' >&7
    IFS= read -r -t 20 line <&8 || fail "no answer to request $i while the pipe is open"
    case $line in *"\"tag\": $i}") ;; *) fail "not the answer to request $i: $line" ;; esac
done
exec 7>&- 8<&-
wait $!
# only one process may change a model; reading goes on
"$OLTR" model rank a.oltr --learn <in >out 2>said &
exec 7>in 8<out
echo '{"k": 1}' >&7
IFS= read -r -t 20 line <&8 || fail "no answer"
model 1 'open' forget a.oltr --keep 1
model 0 'item' rank a.oltr -k 1
exec 7>&- 8<&-
wait $!

# ---- show
model 0 'policy ts-beta (b 20)' show a.oltr --top 2
says '... and 2 more (--top N)'
model 0 'learned about its prior' show q.oltr
says 'how much of the order of the prior holds'
model 0 'feature 3' show kind-lints.oltr
model 2 'knows no items; leave --items out' show kind-lints.oltr --items a
model 2 '--top must be' show a.oltr --top 0
model 2 'give one of them' show a.oltr --csv --json
model 0 '' show quiet.oltr
for kind in kind-*.oltr; do
    model 0 'policy' show "$kind"
    model 0 '' show "$kind" --csv
done
model 0 'item,mean,sd,examined,reward,prior_mean,prior_sd,prior_share,last' show p.oltr --csv
says '"a ""big"" hat, red",0.02'
model 0 '{"item": "hat", "mean": ' show a.oltr --json
[ "$(python3 -c 'import json; print(sum(json.loads(x)["examined"] for x in open("said")))')" = 6 ] || fail "the observations are not six"
model 2 'a figure ends in .svg, .png or .pdf' show a.oltr -o figure.gif
model 2 'the model has no items to draw' show quiet.oltr -o figure.svg
if command -v gnuplot >/dev/null; then
    mkdir pictures
    echo mine >pictures/figure.csv
    for ending in svg png pdf; do
        model 0 '' show p.oltr -o pictures/figure.$ending
        there pictures/figure.$ending
    done
    [ "$(ls pictures | tr '\n' ' ')" = "figure.csv figure.pdf figure.png figure.svg " ] || fail "other files beside the figure: $(ls pictures)"
    [ "$(cat pictures/figure.csv)" = mine ] || fail "a file of the user was overwritten"
    grep -q 'big&quot; hat\|big" hat' pictures/figure.svg || fail "the figure does not name its items"
    model 1 'cannot write it' show a.oltr -o no/such/figure.svg
fi

# ---- items
model 2 'model remove needs the names of items' remove a.oltr
unchanged a.oltr 0 '0 items removed; 1 not in the model' remove a.oltr nothing
model 0 '1 item reset; 1 not in the model' reset a.oltr shoe nothing
model 0 '' show a.oltr --items shoe --csv
grep -q '^shoe,.*,0,0,' said || fail "shoe was not reset"
printf 'sock\n' >old
model 0 '2 items removed; 0 not in the model' remove a.oltr --items-from old coat
says 'a.oltr: 2 items'
model 0 '' remove a.oltr nothing -q
[ ! -s said ] || fail "--quiet says something"
model 1 '' remove kind-lints.oltr a
model 2 'model trim needs --idle N' trim a.oltr
model 2 '--idle must be' trim a.oltr --idle 0
unchanged a.oltr 2 'standard input is empty' learn a.oltr -
model 0 '1 item removed' trim a.oltr --idle 1

# ---- forget, merge
model 2 'model forget needs --keep SHARE' forget a.oltr
cp a.oltr minus.oltr
[ ! -e a.oltr.log ] || cp a.oltr.log minus.oltr.log
model 0 'done' forget minus.oltr --keep -0
model 0 '' show minus.oltr --csv
grep -q ',-0,' said && fail "forgetting everything leaves -0"
model 2 '--keep must be a number from 0 to 1' forget a.oltr --keep 2
model 2 '--id: a name has 1 to 512 bytes' forget a.oltr --keep 1 --id ''
model 0 'done' forget a.oltr --keep 0.5 --id monday
unchanged a.oltr 0 'this id was used before; nothing was changed' forget a.oltr --keep 0.5 --id monday
for kind in $("$OLTR" policies | cut -c1-15 | grep -o '^[a-z][^ ]*'); do
    "$OLTR" policies "$kind" | tr -s '\n ' '  ' | grep -q 'forgets' || [[ "$kind" =~ ^(toprank|bubblerank)$ ]] ||
        unchanged "kind-$kind.oltr" 1 'cannot forget' forget "kind-$kind.oltr" --keep 0.5
done
for name in one two both; do
    model 0 '' create $name.oltr -p ts-beta
done
head -n 3 clicks.csv >first.csv
(head -n 1 clicks.csv && tail -n 2 clicks.csv) >second.csv
model 0 '' learn one.oltr first.csv
model 0 '' learn two.oltr second.csv
model 0 '' learn both.oltr clicks.csv
model 2 '--id is of one merge' merge one.oltr two.oltr both.oltr --id x
unchanged one.oltr 2 'no-such.oltr: No such file' merge one.oltr two.oltr no-such.oltr
unchanged one.oltr 1 'p.oltr: these models differ' merge one.oltr two.oltr p.oltr
ln -s one.oltr link.oltr
unchanged one.oltr 2 'link.oltr would be added to itself' merge one.oltr two.oltr link.oltr
model 0 'one.oltr: 3 items, 2 lessons' merge one.oltr two.oltr --id week
unchanged one.oltr 0 'this id was used before' merge one.oltr two.oltr --id week
"$OLTR" model show one.oltr --csv | cut -d, -f1-5 | sort >merged
"$OLTR" model show both.oltr --csv | cut -d, -f1-5 | sort | diff - merged >said || fail "merged is not learned together"

# ---- dump and back
printf 'list_id,item,click\n1,\xff\xfe,1\n1,"a\nb",0\n1,"\\ \xc3\xa9 """,0\n' >odd.csv
model 0 '' learn one.oltr odd.csv
for name in one a p q kind-lints kind-logts kind-gts; do
    model 0 '' dump $name.oltr -o $name.json
    model 0 '' create back-$name.oltr --from $name.json
    model 0 '' dump back-$name.oltr --json -o back-$name.json
    same $name.json back-$name.json
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' $name.json || fail "$name.json is not JSON"
done
grep -q '{"item": {"hex": "fffe"}, ' one.json || fail "a name that is not UTF-8"
"$OLTR" model dump one.oltr | cmp -s - one.json || fail "to standard output"
"$OLTR" model create piped.oltr --from - <one.json >said 2>&1 || fail "from standard input"
python3 -c 'import json; json.dump(json.load(open("one.json")), open("pretty.json", "w"), indent=3, sort_keys=True)'
model 0 '' create pretty.oltr --from pretty.json
model 0 '' dump pretty.oltr -o back.json
same back.json one.json
sed 's/"reward": 1,/"reward": 2,/' one.json >edited.json
model 2 'edited.json: `items[' create x.oltr --from edited.json
says '].reward` is not what the image in the file has'
sed 's/"policy": "ts-beta"/"policy": "gts"/' one.json >edited.json
model 2 'edited.json: `policy` is not' create x.oltr --from edited.json
sed 's/"image": ".../"image": "!!!/' one.json >edited.json
model 2 '"image" is not base64' create x.oltr --from edited.json
sed 's/"image": "...../"image": "AAAAA/' one.json >edited.json
model 1 'edited.json: "image": ' create x.oltr --from edited.json
sed 's/"oltr_model": 1/"oltr_model": 2/' one.json >edited.json
model 2 'is a dump of a newer oltr' create x.oltr --from edited.json
echo '{"a": 1}' >edited.json
model 2 'is not a dump of `oltr model dump`: it has no "oltr_model"' create x.oltr --from edited.json
head -c 100 one.json >edited.json
model 2 'edited.json:' create x.oltr --from edited.json
says 'not JSON'
model 2 'none.json: cannot be opened' create x.oltr --from none.json
[ ! -e x.oltr ] || fail "a refused dump made a model"
model 1 'cannot write' dump one.oltr -o no/such/file
model 2 '--output ./one.oltr would overwrite the file that is read' dump one.oltr -o ./one.oltr
model 2 '--output one.oltr would overwrite the file that is read' show one.oltr -o one.oltr
model 0 'is whole' check one.oltr
ln -s /dev/null sink # a device is written into, and not replaced by a file
model 0 '' dump one.oltr -o sink
[ "$(readlink sink)" = /dev/null ] || fail "a file took the place of a device"
ln -s behind.json link.json
model 0 '' dump one.oltr -o link.json
[ -L link.json ] || fail "a file took the place of a link"
same behind.json one.json
if [ -e /proc/self/fd ]; then
    ln -s /proc/self/fd/1 standard-output # as /dev/stdout
    "$OLTR" model dump one.oltr -o standard-output | cmp -s - one.json || fail "into a pipe"
fi
# answers to a closed output are not written into the log of the model
model 0 '' create closed.oltr --policy ts-beta
yes '{"learn": {"items": ["a", "b"], "clicks": [1]}}' | head -n 20 >lessons
"$OLTR" model rank closed.oltr --learn <lessons >&- 2>said
[ $? -eq 1 ] || fail "a closed output is no failure"
says 'cannot write to standard output: Bad file descriptor'
model 0 'closed.oltr is whole' check closed.oltr

if [ -e /dev/full ]; then
    "$OLTR" model dump one.oltr >/dev/full 2>said
    [ $? -eq 1 ] || fail "a full disk went unnoticed"
    says 'cannot write to standard output: No space left on device'
    model 1 '--log /dev/full: cannot write: No space left' rank one.oltr -k 1 --log /dev/full
fi
model 0 'ts-beta, child.oltr: 6 items, 0 lessons' create child.oltr --like one.oltr --strength 0.25
model 0 'policy ts-beta (prior full)' show child.oltr
model 1 '' create x.oltr --like kind-cascade-ucb1.oltr

# ---- check, and what is damaged
model 0 'one.oltr is whole: ts-beta, 0 calls in its log' check one.oltr
printf 'torn' >>a.oltr.log
model 0 'an incomplete call, which the next command that writes cuts off' check a.oltr
model 0 '' forget a.oltr --keep 1
model 0 'a.oltr is whole' check a.oltr both.oltr
grep -q incomplete said && fail "the torn call is still there"
cp one.oltr damaged.oltr
printf 'x' | dd of=damaged.oltr bs=1 seek=60 conv=notrunc status=none
model 1 'damaged.oltr is damaged' check one.oltr damaged.oltr
model 1 'damaged.oltr is damaged' show damaged.oltr
echo text >text.oltr
model 1 'text.oltr is not a store of oltr' check text.oltr
model 2 'gone.oltr: No such file' check gone.oltr
model 0 '' check one.oltr -q
[ ! -s said ] || fail "--quiet says something"
no_leftovers .
echo ok

# completion.sh - what `oltr --complete` answers, and what a real bash and a real zsh make of it.
. "$(dirname "$0")/common.bash"
small >small.yaml
mkdir folder

words() { "$OLTR" --complete "$@" 2>&1 | cut -f1; }
offered() { # WANTED WORDS...: the last word is the one at the cursor
    local wanted=$1 got
    shift
    got=$(words "$@" | tr '\n' ' ')
    [ "$got" = "$wanted" ] || fail "oltr --complete $* offers '$got', not '$wanted'"
}
offered "run reproduce report " r
offered "--help --version " -
offered "--help " model -
offered "inspect convert generate " data ''
offered ":files " run ''
offered "" run one.yaml '' # it takes one file
offered ":files " model learn m a.csv b.csv ''
offered ":folders " merge one two ''
offered ":folders " run --output ''
offered ":folders " run -qo ''
offered ":files " run -- --res # after -- it is a file
offered "--replications --resume " run --re
offered "--set=policies.GTS. " run small.yaml --set=policies.G
offered "policies.TS-Beta.prior=none policies.TS-Beta.prior=mean policies.TS-Beta.prior=full " run small.yaml --set policies.TS-Beta.prior=
offered "" run no-such.yaml --set policies.
offered "examine=cascade examine=last examine=all " model create m --set examine=
offered "" nonsense ''
offered "" run --nonsense=
offered "" model remove m ''
expect 0 "" "$OLTR" --complete

# every command of the help is offered with its family, and every option, and nothing else
"$OLTR" help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ {
    name = $1
    if (substr($0, 1, 26) ~ "^  " $1 " [a-z]") name = name " " $2
    print name }' >commands
[ "$(wc -l <commands)" -ge 20 ] || fail "the help has fewer commands than known"
while read -r name; do
    words $(echo "$name" | awk 'NF == 2 { print $1 }') "${name##* }" | grep -qx -- "${name##* }" ||
        fail "$name is not offered"
    "$OLTR" help $name | grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort >wanted
    words $name - | sort >got
    same wanted got
done <commands

# policies, and keys that `model create` really takes
"$OLTR" policies | grep -oE '^[a-z][^ ]*' | sort >wanted
words policies '' | sort >got
same wanted got
words model create m --policy '' | sort >got
same wanted got
for policy in gts ts-hyper lints; do
    for key in $(words model create m --policy $policy --set ''); do
        "$OLTR" model create m --policy $policy --set "${key}?" >said 2>&1
        grep -qE 'no parameter|has no' said && fail "$policy does not have the offered $key"
    done
    for name in $("$OLTR" policies $policy --markdown | grep -oE '^\| `[a-z_]+`' | tr -d '|` '); do
        words model create m --policy $policy --set "$name" | grep -qx "$name=" || fail "$policy: $name is not offered"
    done
done

# the values of an option are those that its help explains
values() { # OPTION COMMAND...
    local option=$1 word
    shift
    [ -n "$(words "$@" --$option '')" ] || fail "$* --$option offers nothing"
    for word in $(words "$@" --$option ''); do
        "$OLTR" help "$@" | grep -A4 -e "--$option " | grep -qw -- "$word" || fail "$* --$option: the help lacks $word"
    done
}
values sync model rank
values format model learn
values unseen model learn
values split data generate
values normalise data convert
values scores-as prior check
values grades prior check
expect 2 '--format must be csv or jsonl, not `xml`' "$OLTR" model learn m x --format xml
expect 2 '--completion must be bash or zsh, not `fish`' "$OLTR" help --completion fish
expect 2 '--output is for all manual pages' "$OLTR" help -o x

# in the shells themselves
need python3
for shell in bash zsh; do
    "$OLTR" help --completion $shell >script || fail "no script for $shell"
    same script "$SOURCE/packaging/completion/$([ $shell = bash ] && echo oltr.bash || echo _oltr)"
    command -v $shell >/dev/null || { echo "skipped in part: no $shell" && continue; }
    $shell -n script || fail "$shell does not read its script"
    python3 "$SOURCE/tests/app/typed_keys.py" $shell "$OLTR" || fail "$shell"
done
echo ok

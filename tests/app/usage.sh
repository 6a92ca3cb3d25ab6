# usage.sh - help, the manual page, and what happens when the command line is wrong.
. "$(dirname "$0")/common.bash"

expect 2 "usage: oltr COMMAND" "$OLTR"
expect 0 "usage: oltr COMMAND" "$OLTR" --help
expect 0 "usage: oltr COMMAND" "$OLTR" help
expect 0 "oltr $(cat "$SOURCE/VERSION")" "$OLTR" version
expect 0 "oltr $(cat "$SOURCE/VERSION")" "$OLTR" --version
for verb in run policies plot prior "prior train" "prior check" version help; do
    expect 0 "usage: oltr $verb" "$OLTR" $verb --help
    cp said long
    expect 0 "usage: oltr $verb" "$OLTR" help $verb
    same said long
    expect 0 "usage: oltr $verb" "$OLTR" $verb -h
    awk 'length > 80 { exit 1 }' said || fail "help of $verb is wider than 80 columns"
done
for command in inspect convert generate; do
    expect 0 "usage: oltr data $command" "$OLTR" data "$command" --help
    cp said long
    expect 0 "usage: oltr data $command" "$OLTR" help data "$command"
    same said long
    awk 'length > 80 { exit 1 }' said || fail "help of data $command is wider than 80 columns"
    expect 0 "data $command" "$OLTR" data --help
    expect 0 "data $command" "$OLTR" help
done
expect 0 "usage: oltr data COMMAND" "$OLTR" help data
expect 2 'data needs a command after it; `oltr help data` lists them' "$OLTR" data
expect 2 'no command of data is called `inspct`; did you mean `inspect`?' "$OLTR" data inspct
expect 2 'no command of data is called `zzzzzzzz`; `oltr help data` lists them' "$OLTR" help data zzzzzzzz
expect 0 "world.misspecification" "$OLTR" help experiment
expect 0 "instances_per_prior: 1" "$OLTR" help experiment

# wrong words
expect 2 'no command is called `rum`; did you mean `run`?' "$OLTR" rum
expect 2 'no command is called `frobnicate`; `oltr help` lists them' "$OLTR" frobnicate
expect 2 'did you mean `policies`?' "$OLTR" help polices
expect 2 'run has no command `now` below it' "$OLTR" help run now
expect 2 'run needs FILE' "$OLTR" run
expect 2 'plot needs DIR' "$OLTR" plot
expect 2 'unexpected argument `b.yaml`; usage: oltr run FILE' "$OLTR" run a.yaml b.yaml
expect 2 'unexpected argument `now`; usage: oltr version' "$OLTR" version now
expect 2 'did you mean `--threads`?' "$OLTR" run x.yaml --treads 2
expect 2 'did you mean `--rounds`?' "$OLTR" run x.yaml --round=2
expect 2 'run has no option `-x`' "$OLTR" run x.yaml -x
expect 2 'run has no option `--zzzzzzzz`; `oltr help run` lists them' "$OLTR" run x.yaml --zzzzzzzz
expect 2 '--seed needs a value' "$OLTR" run x.yaml --seed
expect 2 '--resume takes no value' "$OLTR" run x.yaml --resume=yes
expect 2 '--threads must be a whole number' "$OLTR" run x.yaml -j many
expect 2 '--threads must be a whole number' "$OLTR" run x.yaml -j -1
expect 2 '--output needs the name of a folder' "$OLTR" run x.yaml -o ''
expect 2 '--set needs KEY=VALUE' "$OLTR" run x.yaml --set rounds
expect 2 '--set needs KEY=VALUE' "$OLTR" run x.yaml --set =3
expect 2 'no-such.yaml: cannot be opened: No such file' "$OLTR" run no-such.yaml
far=$(printf 'd%.0s' $(seq 200))/$(printf 'e%.0s' $(seq 200))
expect 2 'eee/no-such.yaml: cannot be opened: No such file' "$OLTR" run "$far/no-such.yaml"
mkdir folder
expect 2 'folder is a folder; give the experiment file' "$OLTR" run folder
expect 2 'no policy is called `gst`; did you mean `gts`?' "$OLTR" policies gst
expect 2 '`oltr policies` lists all of them' "$OLTR" policies qqqqqqqqqq

# a file that was taken for the value of an option; an empty name
expect 2 'run needs FILE: oltr run FILE; `x.yaml` was taken as the value of --rounds' "$OLTR" run --rounds x.yaml
expect 2 '`x.yaml` was taken as the value of --output' "$OLTR" run -q -o x.yaml
expect 2 'run needs FILE: oltr run FILE' "$OLTR" run -q
grep -q 'taken' said && fail "a switch takes no value"
expect 2 'run was given an empty name; usage: oltr run FILE' "$OLTR" run ''
expect 2 'plot was given an empty name' "$OLTR" plot ''
expect 2 'reproduce was given an empty name' "$OLTR" reproduce ''
expect 2 'data inspect was given an empty name' "$OLTR" data inspect ''
"$OLTR" version now 2>&1 | grep -q 'usage: oltr version$' || fail "a blank behind the usage"

# what is not there, or not of the right kind, is a wrong request: 2
small >x.yaml
for verb in plot report merge; do
    expect 2 'nowhere: cannot be opened: No such file' "$OLTR" $verb nowhere
    expect 2 'x.yaml is a file; give a folder of results' "$OLTR" $verb x.yaml
    expect 2 'folder' "$OLTR" $verb folder
done
for shard in 0/3 4/3 3 a/b /3 3/ 1/1000001 1/99999999999 -1/3 1/3/3; do
    expect 2 '--shard must be I/N, part I of N parts, from 1/N to N/N' "$OLTR" run x.yaml --shard "$shard"
done
for threads in -1 1.5 10000 99999999999999999999 nan ''; do
    expect 2 '--threads must be a whole number from 0 to 9999' "$OLTR" run x.yaml -j "$threads"
    expect 2 '--threads must be a whole number from 0 to 9999' "$OLTR" reproduce -j "$threads"
done
[ ! -e out ] || fail "a wrong request made a folder"

# hostile words come out harmless
expect 2 'no command is called `a?b' "$OLTR" $'a\033b'
expect 2 '...' "$OLTR" "$(printf 'x%.0s' {1..5000})"
"$OLTR" help >/dev/full 2>said
[ $? -eq 1 ] || fail "a full disk went unnoticed"
grep -q "cannot write to standard output" said || fail "a full disk was not named"

# the catalogue
expect 0 "bayes-ucb" "$OLTR" policies
cut -c1-15 said | grep -o '^[a-z][^ ]*' >names
[ "$(wc -l <names)" -ge 10 ] || fail "fewer than ten policies"
while read -r name; do
    expect 0 "name      $name" "$OLTR" policies "$name"
    expect 0 "" "$OLTR" policies --markdown "$name"
    grep -qE '^\| parameter \| default|This policy has no parameters' said || fail "no table for $name"
    awk -F'|' '/^\|/ && NF != 6 { exit 1 }' said || fail "a row of the table for $name has the wrong number of cells"
done <names
expect 0 "| policy | title | rewards | summary |" "$OLTR" policies --markdown

# the manual page
expect 0 ".TH OLTR 1" "$OLTR" help --man
cp said oltr.1
for section in NAME SYNOPSIS DESCRIPTION COMMANDS "EXPERIMENT FILE" FILES "EXIT STATUS" EXAMPLES; do
    grep -qx ".SH $section" oltr.1 || fail "no section $section"
done
if command -v man >/dev/null; then
    check_page() { # FILE: man has no warning
        local warnings
        warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$1" 2>&1 >page)
        [ -z "$warnings" ] || fail "man warns of $1: $warnings"
    }
    check_page oltr.1
    grep -q -- "--replications N" page || fail "the page lacks its options"
    # one page for each command, and one for the experiment file
    expect 0 "" "$OLTR" help --man -o pages
    for page in pages/*; do check_page "$page"; done
    same oltr.1 pages/oltr.1
    expect 0 ".TH OLTR-MODEL-LEARN 1" "$OLTR" help model learn --man
    same said pages/oltr-model-learn.1
    expect 0 ".TH OLTR-EXPERIMENT 5" "$OLTR" help experiment --man
    same said pages/oltr-experiment.5
    check_page pages/oltr-run.1
    grep -q 'oltr run FILE \[options\]' page || fail "the page of run lacks its synopsis"
    for name in $(grep -oE 'oltr(\\-[a-z]+)+\\fR\([15]\)' pages/*.[15] -h | tr -d '\\' | sed 's/fR(\(.\))/.\1/' | sort -u); do
        [ -s "pages/$name" ] || fail "a page names $name, which does not exist"
    done
    expect 1 "pages/oltr.1/x" "$OLTR" help --man -o pages/oltr.1/x
fi
echo ok

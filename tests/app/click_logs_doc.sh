# click_logs_doc.sh - the examples of docs/click-logs.md: a block ```KIND FILE is a file, and in a block ```console the lines with `$ ` are
# commands whose output is what follows.
. "$(dirname "$0")/common.bash"
PATH=$(dirname "$OLTR"):$PATH
page=$SOURCE/docs/click-logs.md

# ---- what the page has: files, and commands with their output
awk '
    /^```$/ && kind != "" { kind = ""; next }
    /^```console$/ { kind = "console"; next }
    /^```[a-z]+ [A-Za-z0-9.-]+$/ { kind = "file"; file = $2; printf "" > file; files++; next }
    kind == "file" { print >> file; next }
    kind == "console" && /^\$ / { n++; print substr($0, 3) > ("command-" n); printf "" > ("wanted-" n); next }
    kind == "console" { print >> ("wanted-" n) }
    END { print files + 0, n + 0 > "count" }' "$page"
read -r files commands <count
[ "$files" -ge 7 ] && [ "$commands" -ge 15 ] || fail "the page has only $files files and $commands commands"

# ---- each command prints what the page says; of fractions six digits, as the last ones depend on the C library
short() { sed -E 's/([0-9]\.[0-9]{6})[0-9]+/\1/g' "$1"; }
for ((i = 1; i <= commands; i++)); do
    touch "wanted-$i"
    bash "command-$i" >said 2>&1 </dev/null
    diff -u <(short "wanted-$i") <(short said) >difference || { cat difference >&2; fail "not what the page says: $(cat "command-$i")"; }
done
echo "$commands commands"

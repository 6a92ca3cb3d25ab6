# pages.bash - the examples of a page of docs/: a block ```KIND FILE is a file, and in a block ```console the lines with `$ ` are commands
# whose output is what follows.

# run_page PAGE FILES COMMANDS: it has at least so many of each, and every command prints what the page says.
run_page() {
    local files commands i
    awk '
        /^```$/ && kind != "" { kind = ""; next }
        /^```console$/ { kind = "console"; next }
        /^```[a-z]+ [A-Za-z0-9.-]+$/ { kind = "file"; file = $2; printf "" > file; files++; next }
        kind == "file" { print >> file; next }
        kind == "console" && /^\$ / { n++; print substr($0, 3) > ("command-" n); printf "" > ("wanted-" n); next }
        kind == "console" { print >> ("wanted-" n) }
        END { print files + 0, n + 0 > "count" }' "$1"
    read -r files commands <count
    [ "$files" -ge "$2" ] && [ "$commands" -ge "$3" ] || fail "the page has only $files files and $commands commands"
    for ((i = 1; i <= commands; i++)); do
        touch "wanted-$i"
        bash "command-$i" >said 2>&1 </dev/null
        diff -u <(short "wanted-$i") <(short said) >difference || { cat difference >&2; fail "not what the page says: $(cat "command-$i")"; }
    done
    echo "$commands commands"
}

# Of fractions six digits, as the last ones depend on the C library.
short() { sed -E 's/([0-9]\.[0-9]{6})[0-9]+/\1/g' "$1"; }

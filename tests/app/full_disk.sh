# full_disk.sh - a disk that is full, or a limit on the size of files: the reason is said, and no file is half there.
. "$(dirname "$0")/common.bash"
need gnuplot
{
    small
    echo 'figures: [{file: one}, {file: two}]'
} >small.yaml

# whole DIR: every file under a final name is whole
whole() {
    local file
    no_leftovers "$1"
    for file in "$1"/*; do
        case $file in
        *.svg) tail -c 8 "$file" | grep -q '</svg>' ;;
        *.png) tail -c 8 "$file" | head -c 4 | grep -q IEND ;;
        *.pdf) tail -c 8 "$file" | grep -q '%%EOF' ;;
        *.json) [ "$(tail -c 2 "$file")" = "}" ] ;;
        *.csv | *.yaml | *.gp) [ "$(tail -c 1 "$file" | od -An -tx1)" = " 0a" ] ;;
        esac || fail "$file is cut short"
    done
}

# a limit on the size of files; SIGXFSZ must not end the program
expect 0 "" "$OLTR" run small.yaml -o a --no-figures
cp a/results.csv results.csv
(
    ulimit -f 12 # KiB: enough for the tables and for an SVG, not for a PNG
    exec "$OLTR" plot a
) >said 2>&1
[ $? -eq 1 ] || fail "the limit was not noticed"
grep -q 'a/one: cannot write this figure: File too large' said || fail "does not say why"
whole a
[ ! -e a/one.svg ] || fail "a part of a figure"
(
    ulimit -f 5
    exec "$OLTR" run small.yaml -o b --no-figures --checkpoints 200
) >said 2>&1
[ $? -eq 1 ] || fail "the limit was not noticed"
grep -q 'b/results.csv: cannot write it: File too large' said || fail "does not say why"

expect 1 "" sh -c '"$1" policies >/dev/full' sh "$OLTR"
grep -q 'cannot write to standard output: No space left on device' said || fail "does not say why"
printf '1 qid:1 1:0.5\n' >text
expect 1 'cannot write /dev/full: No space left on device' "$OLTR" data convert text -o /dev/full

# a small disk
mkdir disk
if ! mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    echo "skipped in part: no permission to mount a small disk"
    exit 0
fi
trap 'umount "$WORK/disk" 2>/dev/null' EXIT
trap 'umount "$WORK/disk" 2>/dev/null; exit 1' TERM
small | sed 's/^rounds: .*/rounds: 20/' >tiny.yaml
expect 1 'No space left on device' "$OLTR" run tiny.yaml -o disk/a --set 'figures=[{file: one}, {file: two}]'
grep -q 'the results are in disk/a, but not all figures' said || fail "does not say that the results are there"
grep -q gnuplot said && fail "gnuplot is blamed"
there disk/a/results.csv disk/a/manifest.json
whole disk/a

# a report that cannot be written is not announced; the disk had room for the figures when they were drawn
umount disk
mount -t tmpfs -o size=1m none disk
mkdir ex
{ small; echo 'figures: [{file: one}]'; } >ex/noncontextual.yaml
expect 0 "the report is disk/r/index.html" "$OLTR" reproduce --experiments ex -o disk/r
cp disk/r/index.html index.html
rm disk/r/index.html
head -c 2000000 /dev/zero >disk/ballast 2>/dev/null
truncate -s -60000 disk/ballast # room for the tables, not for the page
expect 1 'there is no report: disk/r/' "$OLTR" reproduce --experiments ex -o disk/r
grep -q 'No space left on device' said || fail "does not say why"
grep -q 'the report is' said && fail "announces a report that is not there"
whole disk/r
rm disk/ballast
expect 0 "the report is disk/r/index.html" "$OLTR" reproduce --experiments ex -o disk/r
same disk/r/index.html index.html

# the disk is full before anything is simulated
head -c 2000000 /dev/zero >disk/ballast 2>/dev/null
expect 1 'No space left on device' "$OLTR" run tiny.yaml -o disk/b --rounds 2000000000 --replications 1000
echo ok

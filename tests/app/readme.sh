# readme.sh - the README's numbers are those of docs/results.csv, and those are what this program computes: one row of it is
# computed again at full size, and must agree to the last digit.
. "$(dirname "$0")/common.bash"
expect 0 "" "$SOURCE/scripts/readme" --check

row() { grep "^noncontextual,,$1,10000," "$SOURCE/docs/results.csv" || fail "docs/results.csv has no row of $1"; }
expect 0 "" "$OLTR" run "$SOURCE/experiments/noncontextual.yaml" -o again -q --no-figures --checkpoints '[10000]' \
    --set 'policies=[{name: GTS, kind: gts}, {name: TS-Beta, kind: ts-beta, prior: full}]' --set 'figures=[]' --set 'claims=[]'
for name in GTS TS-Beta; do
    [ "$(grep "^,$name,10000," again/summary.csv)" = "$(row "$name" | sed 's/^noncontextual,//')" ] ||
        fail "$name: $(grep "^,$name," again/summary.csv), but docs/results.csv has $(row "$name")"
done

# the check can fail
mkdir -p copy/scripts copy/docs
cp "$SOURCE/scripts/readme" copy/scripts/
cp "$SOURCE/docs/results.csv" copy/docs/
sed 's/^| GTS | nothing | [0-9]/| GTS | nothing | 9/' "$SOURCE/README.md" >copy/README.md
cmp -s copy/README.md "$SOURCE/README.md" && fail "the change did nothing"
expect 1 'differ from docs/results.csv' copy/scripts/readme --check
expect 0 "" copy/scripts/readme
same copy/README.md "$SOURCE/README.md"
mkdir tour
cp "$SOURCE/docs/results.csv" tour/summary.csv
echo '{"quick": true}' >tour/report.json
expect 1 'is a quick report' copy/scripts/readme "$PWD/tour"
expect 1 'summary.csv is missing' copy/scripts/readme "$PWD/nowhere"
echo ok

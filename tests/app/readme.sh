# readme.sh - the README's numbers are those of docs/results.csv, and those are what this program computes: one row of it is
# computed again at full size, and must agree to the last digit.  Its commands about models are run.
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
cp "$SOURCE/docs/results.csv" "$SOURCE/docs/pairs.csv" copy/docs/
sed 's/^| GTS | nothing | [0-9]/| GTS | nothing | 9/' "$SOURCE/README.md" >copy/README.md
cmp -s copy/README.md "$SOURCE/README.md" && fail "the change did nothing"
expect 1 'differ from docs/results.csv' copy/scripts/readme --check
expect 0 "" copy/scripts/readme
same copy/README.md "$SOURCE/README.md"
mkdir tour
cp "$SOURCE/docs/results.csv" tour/summary.csv
echo '{"quick": true}' >tour/report.json
echo experiment >tour/claims.csv
expect 1 'is a quick report' copy/scripts/readme "$PWD/tour"
expect 1 'summary.csv is missing' copy/scripts/readme "$PWD/nowhere"

# the commands of "Behind a page" work as they are printed
mkdir page
{
    echo list_id,item,position,click
    for list in 1 2 3 4 5 6 7 8; do
        printf '%s\n' "q$list,hat,1,0" "q$list,coat,2,0" "q$list,shoe,3,1"
    done
} >page/clicks.csv
sed -n 's/^    \(oltr model .*\)/\1/p' "$SOURCE/README.md" >page/commands
[ "$(wc -l <page/commands)" -ge 3 ] || fail "README.md has $(wc -l <page/commands) commands of oltr model"
ln -s "$OLTR" page/oltr
expect 0 "3 items, 8 lessons" bash -ec 'cd page && PATH=$PWD:$PATH && . ./commands'
grep -q '^ *1  *shoe ' said || fail "the clicked item is not the first"

# the verdicts of docs/reproduction.md are those of docs/verdicts.csv, and the claims those of the experiment files
expect 0 "" "$SOURCE/scripts/verdicts" --check
cp "$SOURCE/scripts/verdicts" copy/scripts/
cp -r "$SOURCE/experiments" copy/
cp "$SOURCE/docs/verdicts.csv" copy/docs/
cp "$SOURCE/docs/open-questions.md" "$SOURCE/docs/which-policy.md" copy/docs/
sed 's/| \*\*holds\*\* |$/| **does not hold** |/' "$SOURCE/docs/reproduction.md" >copy/docs/reproduction.md
expect 1 'differ from docs/verdicts.csv' copy/scripts/verdicts --check
expect 0 "" copy/scripts/verdicts
same copy/docs/reproduction.md "$SOURCE/docs/reproduction.md"
sed -i 's/TS-Cascade seems to underperform significantly/TS-Cascade wins/' copy/experiments/noncontextual.yaml
expect 1 'noncontextual.yaml has no claim' copy/scripts/verdicts --check
expect 1 'is a quick report' copy/scripts/verdicts "$PWD/tour"
expect 1 'make it with oltr reproduce' copy/scripts/verdicts "$PWD/nowhere"

# the tables of docs/open-questions.md are those of docs/questions.csv, and these are of docs/results.csv
expect 0 "" "$SOURCE/scripts/questions" --check
cp "$SOURCE/scripts/questions" copy/scripts/
cp "$SOURCE/docs/questions.csv" copy/docs/
sed -i 's/^| GTS | [0-9]/| GTS | 9/' copy/docs/open-questions.md
cmp -s copy/docs/open-questions.md "$SOURCE/docs/open-questions.md" && fail "the change did nothing"
expect 1 'differ from docs/questions.csv' copy/scripts/questions --check
expect 0 "" copy/scripts/questions
same copy/docs/open-questions.md "$SOURCE/docs/open-questions.md"
sed -i '/^maillard,1,Maillard,/s/,[0-9.]*,\([0-9.]*,[0-9.]*,[0-9]*\)$/,1,\1/' copy/docs/results.csv
expect 1 'docs/results.csv 1' copy/scripts/questions --check
expect 1 'is a quick report' copy/scripts/questions "$PWD/tour"
cp "$SOURCE/docs/results.csv" copy/docs/

# a report of one experiment replaces its rows, and no others
expect 0 "" "$OLTR" run "$SOURCE/experiments/maillard.yaml" -o part/maillard -q --no-figures --replications 3 --set 'figures=[]' --set 'claims=[]'
expect 0 "" "$OLTR" report part
echo '{"quick": false}' >part/report.json
for script in readme verdicts questions; do
    expect 0 "" "copy/scripts/$script" "$PWD/part"
done
for table in results verdicts questions; do
    same <(grep -v '^maillard,' "copy/docs/$table.csv") <(grep -v '^maillard,' "$SOURCE/docs/$table.csv")
done
grep -q '^maillard,1,Maillard,10000,.*,3$' copy/docs/results.csv || fail "the rows of the report are missing"
echo ok

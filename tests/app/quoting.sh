# quoting.sh - titles, names of policies, swept values and names of files reach the figures as they are written.
. "$(dirname "$0")/common.bash"
need gnuplot
need python3

# shows FILE.svg TEXT...: the picture is XML and each TEXT is one of its texts.
shows() {
    python3 - "$@" <<'PYTHON' || fail "$1 does not show: ${*:2}"
import sys, xml.etree.ElementTree as tree
texts = {"".join(e.itertext()).strip() for e in tree.parse(sys.argv[1]).iter() if e.tag.endswith("}text")}
missing = [t for t in sys.argv[2:] if t not in texts]
if missing:
    sys.exit(f"missing {missing} in {sorted(texts)}")
PYTHON
}

titles=(
    "'leading apostrophe" "''" "\"double\" trailing'" "back\\slash \\n \`date\` \$(date) \\" "{open 50% %g %s %%"
    "close} a_b^c {/Bold x} &{y} @t" "#hash, b; é ß 漢字 √ − <tag> & entity"
)
{
    small
    echo "figures:"
    for i in "${!titles[@]}"; do
        echo "  - {file: f$i, title: '${titles[i]//\'/\'\'}'}"
    done
} | sed "s/name: GTS/name: '''GTS\" \`\\\\{'/" >titles.yaml
expect 0 "results and figures in t" "$OLTR" run titles.yaml -o t
for i in "${!titles[@]}"; do
    shows t/f$i.svg "${titles[i]}" "'GTS\" \`\\{" TS-Beta
done
long=$(printf 'ü%.0s' $(seq 80))

# A swept value is the label of a tic, where gnuplot formats numbers.
{
    small
    echo 'sweep: {key: policies.TS-Beta.prior, values: [none, full]}'
    echo 'figures: [{file: s, x: sweep}]'
} >sweep.yaml
expect 0 "" "$OLTR" run sweep.yaml -o s --no-figures
sed -i "s/\"none\"/\"'5%g\"/" s/manifest.json
sed -i "s/^none,/'5%g,/" s/results.csv
expect 0 "1 figure drawn" "$OLTR" plot s
shows s/s.svg "'5%g" full

# The name of a file is the title: a quote, and a byte that is not UTF-8.
name=$'\'odd" \xff\n\`name'
printf '1 qid:1 1:0.5\n0 qid:1 1:0.25\n' >"$name"
expect 0 "" "$OLTR" data inspect "$name" -o d
shows d/*.svg $'\'odd" \xef\xbf\xbd \`name: 2 rows of 1 feature, 1 query'

# A name that is cut is cut between characters.
printf '1 qid:1 1:0.5\n0 qid:1 1:0.25\n' >"x$long"
expect 0 "" "$OLTR" data inspect "x$long" -o e
shows e/*.svg "x${long:0:29}: 2 rows of 1 feature, 1 query"
echo ok

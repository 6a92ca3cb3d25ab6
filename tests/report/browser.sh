# browser.sh - runs a tour of three experiments of the project and one with other axes, whose words look like markup, and looks
# at the report without and with a browser; the same for a report of experiments that are not those of the paper.  usage: browser.sh OLTR WORKDIR PYTHON
set -eu
oltr=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
mkdir -p "$2"
cd "$2"
command -v chromium >/dev/null || { echo "skipped: no chromium"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
rm -rf tour
"$oltr" reproduce --quick -q -o tour noncontextual misspecification concentration # found beside the program, as a user finds them
cat >hostile.yaml <<'YAML'
title: "<!-- <script> \u2028 title"
world: {kind: beta, items: 10}
sweep: {key: slots, values: [1, 2, 4]}
rounds: 1000
replications: 3
seed: 7
policies:
  - {kind: gts, name: "</script><script>obeyed = 1</script>"}
  - {kind: random, name: "Random"}
figures:
  - {file: one, x: round, title: "<i>slanted</i>", caption: "<b>bold</b> & \"quoted\""}
  - {file: two, x: round, log: true, bounds: true}
  - {file: three, x: sweep, log: true}
claims:
  - {figure: one, says: "<img src=x onerror='obeyed = 1'>", tests: [{of: "<i>x</i>", not_measurable: "</ul></section>"}]}
YAML
"$oltr" run hostile.yaml -q -o tour/hostile
sed -i "s/^4,/<b>4<\/b>,/" tour/hostile/results.csv tour/hostile/pairs.csv # a folder that somebody has changed
sed -i "s/\"sweep\": \"4\"/\"sweep\": \"<b>4<\/b>\"/; s/\"sweep_key\": \"slots\"/\"sweep_key\": \"<img src=x onerror='obeyed = 1'>\"/" tour/hostile/manifest.json
"$oltr" report tour >/dev/null
"$3" "$here/check.py" tour
# A report of other experiments: two that `oltr run` has made.
rm -rf own
cat >two.yaml <<'YAML'
title: Two policies
world: {kind: beta, items: 10}
slots: 2
rounds: 1000
replications: 20
policies: [{kind: gts, seen: last}, {kind: random}]
sweep: {key: world.clicks, values: [cascade, dcm]}
figures: [{file: words, x: sweep, title: Two click models}]
YAML
"$oltr" run two.yaml -q -o own/two
cp -r tour/hostile own/hostile
"$oltr" report own >/dev/null
"$3" "$here/check.py" own
exec "$3" "$here/browser.py" tour own pictures

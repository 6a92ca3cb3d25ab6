# config_errors.sh - every mistake in an experiment file has an answer that names the place, and exit status 2.
. "$(dirname "$0")/common.bash"

# bad TEXT, the file on standard input
bad() {
    local text=$1
    cat >bad.yaml
    expect 2 "$text" "$OLTR" run bad.yaml -o out -q
    [ ! -e out ] || fail "made a folder for a bad file"
    grep -q '^oltr: ' said || fail "does not begin with oltr:"
}

# change TEXT SED...: the small experiment, changed
change() {
    local text=$1
    shift
    small | sed "$@" >changed.yaml
    cmp -s changed.yaml <(small) && fail "the change did nothing: $*"
    bad "$text" <changed.yaml
}

# without KEY: the small experiment without one top-level key
without() {
    small | awk -v key="$1" '/^[a-z]/ { skip = index($0, key ":") == 1 } !skip' >changed.yaml
    bad "\`$1\` is missing; add it, for example \`$1: " <changed.yaml
}

# --- YAML itself
bad 'bad.yaml:1:1: the file is empty; an experiment needs rounds, world and policies' </dev/null
bad 'YAML: ' <<<'a: [1, 2'
bad 'bad.yaml:2:1: line 2 uses a tab; YAML indents with spaces' <<<$'rounds: 10\n\tslots: 3'
bad 'bad.yaml:3:3: line 3 uses a tab; YAML indents with spaces' <<<$'world:\n  kind: beta\n  \titems: 3'
bad 'bad.yaml:2:1: line 2 uses a tab; YAML indents with spaces' <<<$'world:\n\tkind: beta\n\titems: 3'
bad 'an experiment is a map of keys' <<<'- 1'
bad 'an experiment is a map of keys' <<<'hello'
bad 'bad.yaml:2:1: a second document begins here' <<<$'rounds: 1\n---\nrounds: 2'
bad 'bad.yaml:2:1: `rounds` is given twice (first in line 1)' <<<$'rounds: 1\nrounds: 2'
bad 'aliases (*name) are not supported' <<<$'rounds: &r 1\nslots: *r'
bad 'merge keys (<<) are not supported' <<<$'world:\n  <<: {kind: beta}'
bad 'tags (!name) are not supported' <<<'rounds: !!int 3'
bad 'a key must be a word' <<<'[1, 2]: 3'
bad 'bad.yaml:2:8: ' < <(printf 'rounds: 1\ntitle: \377\376\n')
bad 'bad.yaml:2:1: slotz: unknown key' <<<$'\xef\xbb\xbfrounds: 10\nslotz: 3' # a byte order mark
bad 'save the file as UTF-8' < <(printf 'rounds: 1\ntitle: \377\376\n')
bad 'nested deeper than any experiment' < <(printf 'a: '; printf '[%.0s' {1..200}; printf ']%.0s' {1..200})
bad 'nested deeper than any experiment' < <(printf '[%.0s' {1..50000})
bad 'a zero byte' <<<'title: "a\0b"'
bad 'more keys in one map' < <(for i in {1..300}; do echo "k$i: 1"; done)
bad 'must be one line of UTF-8 text' <<<$'title: "a\\nb"\nrounds: 1'
bad 'must be one line of UTF-8 text' <<<$'title: "a\\eb"\nrounds: 1'
change 'is longer than 120 bytes' "s/A small one/$(printf 'x%.0s' {1..200})/"

# --- keys
change 'bad.yaml:3:1: ronds: unknown key in the experiment; did you mean `rounds`?' 's/^rounds/ronds/'
change 'bad.yaml:9:3: world.itmes: unknown key in world; did you mean `items`?' 's/items/itmes/'
change 'qqqqqqqqq: unknown key in the experiment; the keys are title, kind, seed' 's/^rounds/qqqqqqqqq/'
for key in rounds slots replications world policies; do
    without "$key"
done

# --- numbers
change 'rounds: must be at least 1, not 0' 's/rounds: 200/rounds: 0/'
change 'rounds: must be at least 1, not -5' 's/rounds: 200/rounds: -5/'
change 'rounds: must be at most 1099511627776, not 1e300' 's/rounds: 200/rounds: 1e300/'
change 'rounds: must be a whole number, not `2.5`' 's/rounds: 200/rounds: 2.5/'
change 'rounds: must be a whole number, not `200x`' 's/rounds: 200/rounds: 200x/'
change 'rounds: must be a whole number, not `.nan`' 's/rounds: 200/rounds: .nan/'
change 'rounds: must be a whole number, not `nan`' 's/rounds: 200/rounds: nan/'
change 'rounds: must be a whole number, not `0x10`' 's/rounds: 200/rounds: 0x10/'
change 'write it without separators' 's/rounds: 200/rounds: 10_000/'
change 'write it without separators' 's/rounds: 200/rounds: 10,000/'
change 'leave the quotes out' 's/rounds: 200/rounds: "200"/'
change 'rounds: must be a whole number, not a list' 's/rounds: 200/rounds: [200]/'
change 'rounds: must be a whole number, not a map' 's/rounds: 200/rounds: {a: 1}/'
change 'rounds: has no value' 's/rounds: 200/rounds:/'
change 'rounds: has no value' 's/rounds: 200/rounds: null/'
change 'seed: must be at least 0, not -1' 's/seed: 7/seed: -1/'
change 'seed: must be at most' 's/seed: 7/seed: 99999999999999999999/'
change 'replications: must be at least 1' 's/replications: 8/replications: 0/'
change 'bad.yaml:4:8: slots: there are 40 slots, but the world has only 10 items' 's/slots: 3/slots: 40/'
change 'checkpoints: must be at least 1' 's/checkpoints: 10/checkpoints: 0/'
change 'checkpoints: the list is empty' 's/checkpoints: 10/checkpoints: []/'
change 'checkpoints must rise: 5 comes after 50' 's/checkpoints: 10/checkpoints: [50, 5]/'
change 'checkpoint 300 is beyond the last round, 200' 's/checkpoints: 10/checkpoints: [50, 300]/'
change ']: must be a whole number' 's/checkpoints: 10/checkpoints: [50, x]/'

# --- the world
change 'world: must be a map' 's/^world:/world: 3/; /^  kind: beta/d; /^  items/d'
change 'no world is called `betta`; did you mean `beta`?' 's/kind: beta/kind: betta/'
change '`kind` is missing' '/^  kind: beta/d'
change '`items` is missing' '/^  items/d'
change 'items: must be at most 10000000' 's/items: 10/items: 4000000000/'
change 'no click model is called `cascde`; did you mean `cascade`?' 's/items: 10/items: 10\n  clicks: cascde/'
change 'no_click: must be at most 3, not 4' 's/items: 10/items: 10\n  no_click: 4/'
change 'no_click: must be a whole number' 's/items: 10/items: 10\n  no_click: some/'
change '`attraction` belongs to a world of kind fixed' 's/items: 10/items: 10\n  attraction: [0.1]/'
change '`a` is missing' 's/items: 10/items: 10\n  prior: {b: 2}/'
change 'a: the list has 2 numbers, and the world 10 items' 's/items: 10/items: 10\n  prior: {a: [1, 2], b: 2}/'
change 'prior.a: a shape of a Beta prior must be above 0' 's/items: 10/items: 10\n  prior: {a: 0, b: 2}/'
change 'b: must be at least 0' 's/items: 10/items: 10\n  prior: {a: 1, b: -2}/'
change 'prior: must be a map' 's/items: 10/items: 10\n  prior: 3/'
change '`a_max` is for worlds of kind beta without `prior`' 's/items: 10/items: 10\n  a_max: 3\n  prior: {a: 1, b: 1}/'
change 'instances_per_prior: must be at least 1' 's/items: 10/items: 10\n  instances_per_prior: 0/'
change 'policies would get Beta(11, 0)' 's/items: 10/items: 10\n  misspecification: 10/'
small | sed 's/kind: beta/kind: logistic\n  dim: 2\n  misspecification: -1/; /clicks:/d' | bad 'policies of a logistic world would get Beta(a-1, 11) with an a that may be near 0; keep misspecification at 0 or above, and below 10'
small | sed 's/kind: beta/kind: logistic\n  dim: 2\n  misspecification: 10/; /clicks:/d' | bad 'Beta(a+10, 0)'
change 'policies would get Beta(5, -3)' 's/items: 10/items: 10\n  misspecification: 4\n  prior: {a: 1, b: 1}/'

# what only the simulator refuses: the place of the policy, or the flag that made it one of this kind
no_features='glm-ucb ranks by features, and this world has none: take world linear, logistic, scalar, or dataset or fixed with features'
small | sed '/GTS/s/gts/glm-ucb/' >bad.yaml
line=$(grep -n glm-ucb bad.yaml | cut -d: -f1)
expect 2 "bad.yaml:$line:5: policy GTS: $no_features" "$OLTR" run bad.yaml -o out -q
small >good.yaml
expect 2 "--set policies.GTS.kind=glm-ucb: policy GTS: $no_features" "$OLTR" run good.yaml -o out -q --set policies.GTS.kind=glm-ucb
line=$(grep -n 'name: TS-Beta' good.yaml | cut -d: -f1)
expect 2 "good.yaml:$line:5: policy TS-Beta: with clicks pbm" "$OLTR" run good.yaml -o out -q --set world.clicks=pbm --set policies.GTS.seen=last
small | sed "s/name: GTS,/name: GTS $(printf 'x%.0s' {1..100}),/; /GTS/s/gts/glm-ucb/" | bad 'dataset or fixed with features'

# drift
drifting() { # the value of drift
    small | sed "s/items: 10/items: 10\n  drift: $1/"
}
drifting 3 | bad 'world.drift: must be a map'
drifting '{kind: walk}' | bad '`rate` is missing; add it, for example `rate: 0.01`'
drifting '{rate: 0.1}' | bad '`kind` is missing; add it, for example `kind: walk`'
drifting '{kind: run, rate: 0.1}' | bad 'world.drift.kind: must be walk or jump, not `run`'
drifting '{kind: walk, rate: 11}' | bad 'world.drift.rate: must be at most 10, not 11'
drifting '{kind: jump, rate: 1.5}' | bad 'world.drift.rate: must be at most 1, not 1.5'
drifting '{kind: jump, rate: 0.1, every: 3}' | bad 'world.drift.every: unknown key in drift'
drifting '{kind: walk, rate: 0.1}' | sed 's/kind: beta/kind: linear/' | bad '`drift` belongs to a world of kind beta, uniform, log-uniform or fixed; this one is linear'

# fixed worlds
fixed() { sed "s/kind: beta/kind: fixed/; s/  items: 10/  $1/"; }
change 'a fixed world needs either' 's/kind: beta/kind: fixed/'
small | fixed 'attraction: [0.5, 0.2, 1.5]' | bad ']: must be at most 1, not 1.5'
small | fixed 'attraction: []' | bad 'attraction: the list is empty'
small | fixed 'attraction: 0.5' | bad 'attraction: must be a list'
small | fixed 'levels: [3]' | bad 'a level must be a pair'
small | fixed 'levels: [[3]]' | bad 'a level must be a pair'
small | fixed 'levels: [[0, 0.5]]' | bad 'must be at least 1, not 0'
small | fixed 'levels: [[10000000, 0.5], [1, 0.1]]' | bad 'add up to more than 10000000 items'
small | fixed 'levels: [[5, 0.5]]\n  attraction: [0.1]' | bad 'not both'
small | fixed 'levels: [[5, 0.5]]\n  items: 6' | bad '`items` is 6, but the attractions are 5'
small | fixed 'levels: [[5, 0.5]]' | bad '`prior: full` needs a prior, and this world has none'
small | fixed 'levels: [[5, 0.5]]\n  misspecification: 1' | bad 'has no prior that could be wrong'
small | fixed 'levels: [[5, 0.5]]\n  prior_noise: 1' | bad 'world.prior_noise: this world has no prior that could be wrong'
change '`prior: full` needs a prior, and this world has none; add `prior_n: 20` to it' 's/kind: beta/kind: uniform/'
change 'world.prior_shift: world uniform has no prior that could be wrong; add `prior_n: 20` to it' 's/kind: beta/kind: uniform\n  prior_shift: 2/'
small | sed 's/kind: beta/kind: logistic\n  contexts: fresh\n  prior_noise: 1/; s/, prior: full//' | bad 'world.prior_noise: a logistic world with fresh contexts has no prior that could be wrong'
change 'world uniform: low is 0.5 and high is 0.1' 's/kind: beta/kind: uniform\n  prior_n: 2\n  low: 0.5/'
change 'world log-uniform needs a low above 0' 's/kind: beta/kind: log-uniform\n  prior_n: 2\n  low: 0/'
change 'must be own, permuted or reversed, not `mixed`' 's/items: 10/items: 10\n  prior_order: mixed/'
change 'world.prior_share: must be at most 1, not 50' 's/items: 10/items: 10\n  prior_share: 50/'
change '`misspecification` belongs to a world of kind' 's/kind: beta/kind: uniform\n  prior_n: 2\n  misspecification: 1/'
small | fixed 'levels: [[5, 0.5]]\n  a_max: 3' | bad '`a_max` belongs to a world of kind beta'

# datasets: what can be said without looking at them
dataset() { sed "s/kind: beta/kind: dataset/; s/  items: 10/  $1/"; }
change '`items` belongs to a world of kind' 's/kind: beta/kind: dataset/'
small | dataset 'grades: err' | bad 'a dataset needs `data: DIR`'
small | dataset 'shape: web10k' | bad 'world.shape: no shape of data is called `web10k`; did you mean `web30k`?'
small | dataset 'shape: web30k\n  queries: 0' | bad 'queries: must be at least 1, not 0'
small | dataset 'shape: web30k\n  grades: er' | bad 'no mapping of grades is called `er`; did you mean `err`?'
small | dataset 'shape: web30k\n  largest_grade: 31' | bad 'largest_grade: must be at most 30'
small | dataset 'shape: web30k\n  normalise: maybe' | bad 'normalise: must be standard, minmax or none, not `maybe`'
small | dataset 'shape: web30k\n  rankers: 1001' | bad 'rankers: must be at most 1000'
small | dataset 'shape: web30k\n  rankers: 0' | bad 'give it `rankers: 10` or `scores: FILE`'
small | dataset 'shape: web30k\n  rankers: 3\n  scores: a.csv' | bad '`scores` are there already'
small | dataset 'shape: web30k\n  generated: {train: 1}' | bad 'train: must be at least 2'
small | dataset 'shape: web30k\n  generated: {tests: 5}' | bad 'did you mean `test`?'
small | dataset 'shape: web30k\n  generated: 5' | bad 'generated: must be a map'
small | dataset 'shape: web30k\n  dim: 5' | bad '`dim` belongs to a world of kind linear'
small | dataset "data: $(printf 'x%.0s' {1..4001})" | bad 'data: is longer than 4000 bytes'
change '`data` belongs to a world of kind dataset or fitted; this one is beta' 's/items: 10/items: 10\n  data: x/'

# --- policies
change '`policies` must have at least one entry' '/^  - /d; s/^policies:/policies: []/'
change 'policies: must be a list' '/^  - /d; s/^policies:/policies: {kind: gts}/'
change 'a policy must be a map' 's/{name: GTS, kind: gts}/gts/'
change 'bad.yaml:11:23: policies.GTS.kind: no policy is called `gst`; did you mean `gts`?' 's/kind: gts/kind: gst/'
change '`oltr policies` lists all of them' 's/kind: gts/kind: qqqqqqqqqqqq/'
change '`kind` is missing' 's/, kind: gts//'
change 'gts has no parameter `examine`; `oltr policies gts` lists what it has' 's/kind: gts/kind: gts, examine: [0.5]/'
change 'has a number for slot 1, too; give one of the two' 's/kind: gts/kind: pbm-ts, seen: all, examine: [0.5], examine1: 0.9/'
change 'gts has no parameter `sigmma`; did you mean `sigma`?' 's/kind: gts/kind: gts, sigmma: 1/'
change '`oltr policies gts` lists what it has' 's/kind: gts/kind: gts, qqqqqqqqq: 1/'
change 'sigma must' 's/kind: gts/kind: gts, sigma: -1/'
change 'sigma must be a number' 's/kind: gts/kind: gts, sigma: nan/'
change 'sigma must be a number' 's/kind: gts/kind: gts, sigma: 1x/'
change 'prior must be one of' 's/kind: gts/kind: gts, prior: fulll/'
change 'sigma: must be text, not a list' 's/kind: gts/kind: gts, sigma: [1]/'
change 'two policies are called `GTS`' 's/TS-Beta/GTS/'

# --- the sweep
sweep() { small | { cat; echo "sweep: $1"; }; }
sweep '{key: world.items}' | bad '`values` is missing'
sweep '{values: [1]}' | bad '`key` is missing'
sweep '{key: world.items, values: []}' | bad 'values: the list is empty'
sweep '{key: world.items, values: 3}' | bad 'values: must be a list'
sweep '{key: world.items, values: [5, 5]}' | bad '`5` is in the sweep twice'
sweep '{key: world.items, values: [5, x]}' | bad 'bad.yaml:13:39: world.items: must be a whole number, not `x`'
sweep '{key: world.items, values: [5, 2]}' | bad 'there are 3 slots, but the world has only 2 items'
sweep '{key: world.itmes, values: [5]}' | bad 'itmes: unknown key in world; did you mean `items`?'
sweep '{key: policies.GTZ.sigma, values: [5]}' | bad 'no entry is called `GTZ`; did you mean `GTS`?'
sweep '{key: policies.GTS.sigma, values: [-5]}' | bad 'sigma must'
sweep '{key: policies.GTS.name, values: [a]}' | bad 'names cannot be swept'
sweep '{key: title, values: [a]}' | bad '`title` cannot be swept'
sweep '{key: world, values: [a]}' | bad '`world` cannot be swept'
sweep '{key: rounds.x, values: [1]}' | bad 'this key has no keys below it'
sweep '{kye: rounds, values: [1]}' | bad 'kye: unknown key in sweep; did you mean `key`?'
sweep '[]' | bad 'a sweep is a map, or a list of at most 2 of them'
sweep '[{key: rounds, values: [9]}, {key: slots, values: [1]}, {key: seed, values: [1]}]' | bad 'a sweep is a map, or a list of at most 2 of them'
sweep '[{key: rounds, values: [9]}, {key: rounds, values: [10]}]' | bad 'sweep.rounds.key: both entries of the sweep set this key'
sweep '[{key: rounds, values: [9]}, {cases: {a: {}, b: {rounds: 3}}}]' | bad 'both entries of the sweep set this key'
sweep '[{key: rounds, values: [9]}, {key: policies.GTS.note, values: [a | b]}]' | bad 'a value of a sweep over two keys cannot contain ` | `'
sweep '[{key: rounds, values: [9]}, {key: slots, values: [1, x]}]' | bad 'bad.yaml:13:62: slots: must be a whole number, not `x`'
sweep "[{key: seed, values: [$(seq -s, 40)]}, {key: rounds, values: [$(seq -s, 40)]}]" | bad 'a sweep has at most 1000 combinations of values, not 1600'
sweep '{cases: {}}' | bad 'cases: must be a map of cases, like {right: {}, shifted: {world.prior_shift: 2}}'
sweep '{cases: [a]}' | bad 'cases: must be a map of cases'
sweep '{cases: {a: 3}}' | bad 'cases.a: a case must be a map of keys'
sweep '{cases: {a: {world: x}}}' | bad '`world` cannot be swept'
sweep '{cases: {a: {world.items: [1]}}}' | bad 'must be text, not a list'
sweep '{cases: {a: {world.itmes: 5}}}' | bad 'itmes: unknown key in world; did you mean `items`?'
sweep '{cases: {a: {slots: 2}}, key: slots}' | bad '`key` and `cases` exclude each other'
sweep '{cases: {a: {slots: 2}}, values: [1]}' | bad '`values` and `cases` exclude each other'
sweep '{key: rounds, values: [100, 50]}' >swept.yaml
expect 2 'the sweep sets this key, and so does --rounds 20' "$OLTR" run swept.yaml --rounds 20 -o out

# --- figures
figure() { small | { cat; echo "figures: [$1]"; }; }
figure '{title: x}' | bad '`file` is missing'
figure '3' | bad 'figures[0]: must be a map'
figure '{file: a/b}' | bad 'a figure cannot be called `a/b`; take letters'
figure '{file: ../b}' | bad 'a figure cannot be called'
figure '{file: results}' | bad 'another file of the folder has that name'
figure '{file: metrics}' | bad 'another file of the folder has that name'
figure '{file: a}, {file: a}' | bad 'two figures are called `a`'
figure '{file: a, y: loss}' | bad 'figures.a.y: must be regret, ctr, ndcg or worst, not `loss`'
figure '{file: a, y: worst, bands: 2}' | bad 'figures.a.bands: a largest regret has no standard error; leave out `bands`'
figure '{file: a, y: ndcg, bounds: [thm1]}' | bad 'bounds are on regret; leave out `bounds` or `y`'
figure '{file: a, y: ndcg}' | sed 's/kind: beta/kind: scalar/; /TS-Beta/d' |
    bad 'world scalar has mean rewards of any sign, which have no NDCG; take regret or ctr'
figure '{file: a, polices: [GTS]}' | bad 'did you mean `policies`?'
figure '{file: a, policies: [GTZ]}' | bad 'no policy of this experiment is called `GTZ`; did you mean `GTS`?'
figure '{file: a, policies: [GTS, GTS]}' | bad 'is in the list twice'
figure '{file: a, policies: []}' | bad 'policies: the list is empty'
figure '{file: a, x: sweep}' | bad '`x: sweep` needs a `sweep`'
figure '{file: a, x: time}' | bad 'x: must be round or sweep'
figure '{file: a, bands: 4}' | bad 'bands: must be at most 3'
figure '{file: a, log: yes}' | bad 'log: must be auto, false or true, not `yes`'
figure '{file: a, rounds: 0}' | bad 'rounds: must be at least 1'

# --- the other kind
change 'kind: an experiment must be of kind regret or concentration' 's/^title: .*/kind: regrets/'
conc() { printf 'kind: concentration\n%s\n' "$1"; }
conc 'attraction: [0.1]' | bad '`observations` is missing'
conc $'attraction: [2]\nobservations: 10\nsigma: [1]' | bad 'must be at most 1, not 2'
conc $'attraction: [0.1]\nobservations: 0\nsigma: [1]' | bad 'observations: must be at least 1'
conc $'attraction: [0.1]\nobservations: 10\nsigma: [0]' | bad 'must be at least 1e-06, not 0'
conc $'attraction: [0,0.1,0.2,0.3,0.4,0.5,0.6]\nobservations: 10\nsigma: [1]' | bad 'at most 6 fit into one figure'
conc $'attraction: [0.1]\nobservations: 10\nsigma: [1]\nrounds: 3' | bad 'rounds: unknown key in an experiment of kind'
conc $'attraction: [0.1]\nobservations: 10\nsigma: [1]\nfigures: [{file: a}, {file: b}]' | bad 'has one figure'
echo ok

# claims.sh - claims in an experiment file: judged into claims.csv, and every mistake in them named with its place.
. "$(dirname "$0")/common.bash"

{
    small
    cat <<'YAML'
figures:
  - {file: one, label: "fig:one", caption: "A caption, with a comma."}
claims:
  - figure: one
    source: paper
    says: TS-Beta, which is told the prior, has less regret than GTS.
    tests:
      - {less: [TS-Beta, GTS]}
      - {of: half, less: [TS-Beta, GTS], factor: 0.5, round: 100}
      - {of: never, not_measurable: nobody looked}
      - {of: swept, over: {f: [0.001, 1000]}, less: [TS-Beta, GTS], factor: "{f}"}
      - {of: named, over: {f: {1/1000: 0.001, big: 1000}}, less: [TS-Beta, GTS], factor: "{f}"}
      - {of: below theory, bound: thm1, less: [TS-Beta, GTS]}
  - says: They are the same.
    tests: [{close: [GTS, TS-Beta], within: 0.01, from: 10}]
YAML
} | sed 's/^replications: .*/replications: 12/' >good.yaml
expect 0 "" "$OLTR" run good.yaml -o a -q --no-figures
there a/claims.csv
head -1 a/claims.csv | grep -q '^figure,claim,source,reading,setting,verdict,overall,reason,sweep,against,round,policy,other,value,' || fail "no heading"
[ "$(wc -l <a/claims.csv)" -eq 11 ] || fail "ten comparisons"
grep -q '^one,"TS-Beta, which is told the prior, has less regret than GTS.",paper,printed,,' a/claims.csv || fail "the words are lost"
grep -q '^,They are the same.,ours,printed,,' a/claims.csv || fail "whose claim it is"
grep -q ',never,,not measurable,not measurable,nobody looked,' a/claims.csv || fail "no reason"
grep -q ',swept,f = 0.001,does not hold,holds for f = 1000; not at 0.001,' a/claims.csv || fail "no verdict of a setting"
grep -q ',swept,f = 1000,holds,holds for f = 1000; not at 0.001,' a/claims.csv || fail "no verdict of the other setting"
grep -q ',named,f = 1/1000,does not hold,holds for f = big; not at 1/1000,' a/claims.csv || fail "no verdict of a named setting"
[ "$(grep -c ',below theory,,holds,holds,.*,Theorem 1: 22 K √(L T),' a/claims.csv)" -eq 2 ] || fail "two policies against a bound"
grep -q '"label": "fig:one"' a/manifest.json || fail "no label in the manifest"
# the folder's own experiment has the claims too
expect 0 "" "$OLTR" run a/experiment.yaml -o b -q --no-figures
same a/claims.csv b/claims.csv
# a shorter run is no mistake
expect 0 "" "$OLTR" run good.yaml -o c -q --no-figures --rounds 50
grep -q 'was not recorded at round 100' c/claims.csv || fail "a round that was not played"
expect 0 "" "$OLTR" run good.yaml -o d -q --no-figures --replications 9
grep -q '9 replications are too few to tell' d/claims.csv || fail "nine replications decide nothing"

# a sweep over two keys: a list has a value for each, "*" for all; against keeps what "*" stands for
{
    small | sed 's/^replications: .*/replications: 12/'
    cat <<'YAML'
sweep: [{key: world.items, values: [10, 20]}, {key: world.prior_shift, values: [0, 3]}]
claims:
  - says: A shifted prior costs regret.
    tests:
      - {of: each, less: [TS-Beta], at: ["*", 0], against: ["*", 3]}
      - {of: one, less: [TS-Beta, GTS], at: [20, 0]}
      - {of: text, less: [TS-Beta, GTS], at: 20 | 0}
      - {of: all, less: [TS-Beta, GTS]}
      - {of: nowhere, less: [TS-Beta, GTS], at: [7, "*"]}
      - {of: missing, less: [TS-Beta], at: ["*", 0], against: ["*", 4]}
YAML
} >two.yaml
expect 0 "" "$OLTR" run two.yaml -o two -q --no-figures
rows() { grep -c ",$1,$2" two/claims.csv || true; }
[ "$(rows each ',[a-z ]*,[a-z ]*,,10 | 0,10 | 3,200,TS-Beta,TS-Beta,')$(rows each ',[a-z ]*,[a-z ]*,,20 | 0,20 | 3,200,TS-Beta,TS-Beta,')$(rows each '')" = 112 ] || fail "one value of two keys against another"
[ "$(rows one ',[a-z ]*,[a-z ]*,,20 | 0,,200,TS-Beta,GTS,')$(rows one '')$(rows text ',[a-z ]*,[a-z ]*,,20 | 0,,')$(rows text '')$(rows all '')" = 11114 ] || fail "points of two keys"
[ "$(rows nowhere ',inconclusive,inconclusive,nothing was measured at 7 | \*,')" = 1 ] || fail "a value that is not there"
[ "$(rows missing ',inconclusive,inconclusive,TS-Beta was not recorded')" = 1 ] || fail "a value to compare with that is not there"

bad() {
    local text=$1
    { small; echo 'figures: [{file: one}]'; echo 'claims:'; cat; } >bad.yaml
    expect 2 "$text" "$OLTR" run bad.yaml -o out -q
    grep -q '^oltr: bad.yaml:[0-9]*:[0-9]*: ' said || fail "no place"
}
bad 'claims: must be a list' <<<'  3'
bad '`says` is missing' <<<'  - {tests: [{less: [GTS, TS-Beta]}]}'
bad '`tests` is missing' <<<'  - {says: x}'
bad 'sayz: unknown key in a claim; did you mean `says`?' <<<'  - {sayz: x}'
bad 'no figure of this experiment is called `onee`; did you mean `one`?' <<<'  - {says: x, figure: onee, tests: [{less: [GTS, TS-Beta]}]}'
bad 'no policy of this experiment is called `GTZ`; did you mean `GTS`?' <<<'  - {says: x, tests: [{less: [GTZ, TS-Beta]}]}'
bad 'this name is in the list twice' <<<'  - {says: x, tests: [{less: [GTS, GTS]}]}'
bad 'at least two names' <<<'  - {says: x, tests: [{less: [GTS]}]}'
bad 'needs one of `less`, `more`, `close` and `not_measurable`' <<<'  - {says: x, tests: [{of: y}]}'
bad 'needs one of `less`, `more`, `close` and `not_measurable`' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta], more: [GTS, TS-Beta]}]}'
bad '`within` does not belong to `less`' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta], within: 0.1}]}'
bad '`factor` does not belong to `close`' <<<'  - {says: x, tests: [{close: [GTS, TS-Beta], factor: 2}]}'
bad '`at` names a swept value' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta], at: 3}]}'
bad 'a list has one value for each key of a sweep over two keys' <<<$'  - {says: x, tests: [{less: [GTS, TS-Beta], at: [1, 2]}]}\nsweep: {key: slots, values: [1, 2]}'
bad '`against` needs a `sweep`' <<<'  - {says: x, tests: [{less: [GTS], against: 3}]}'
bad '`measure` belongs to experiments of kind concentration' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta], measure: sd}]}'
bad 'only `of` and `over` may be given with `not_measurable`' <<<'  - {says: x, tests: [{not_measurable: y, round: 3}]}'
bad 'untold: unknown key in a test' <<<'  - {says: x, tests: [{untold: y}]}'
bad 'must be ours or paper' <<<'  - {says: x, source: press, tests: [{less: [GTS, TS-Beta]}]}'
bad 'must be one setting and its values, like {sigma: [1, 0.5]}' <<<'  - {says: x, tests: [{over: 3, less: [GTS, TS-Beta]}]}'
bad 'must be one setting and its values' <<<'  - {says: x, tests: [{over: {a: [1], b: [2]}, less: [GTS, TS-Beta]}]}'
bad 'over.s: must be a list' <<<'  - {says: x, tests: [{over: {s: 1}, less: [GTS, TS-Beta]}]}'
bad 'must be a value, or a short text' <<<'  - {says: x, tests: [{over: {s: [[1]]}, less: ["GTS {s}", TS-Beta]}]}'
bad 'this value is in the list twice' <<<'  - {says: x, tests: [{over: {s: [1, 2, 1]}, less: ["GTS {s}", TS-Beta]}]}'
bad 'nothing in this test has `{s}` in it' <<<'  - {says: x, tests: [{over: {s: [1, 2]}, less: [GTS, TS-Beta]}]}'
bad 'claims[0].tests[1].less[0]: no policy of this experiment is called `GTS 2`' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta]}, {over: {s: [2]}, less: ["GTS {s}", TS-Beta]}]}'
bad 'the bound `thm2` needs a world with features' <<<'  - {says: x, tests: [{bound: thm2, less: [GTS]}]}'
bad 'must be trivial, thm1, thm2, thm3, thm4, thm4-sqrt-t or lower' <<<'  - {says: x, tests: [{bound: thm9, less: [GTS]}]}'
bad 'at most 100 tests' <<<"  - {says: x, tests: [{over: {f: [$(seq -s, 101)]}, less: [GTS, TS-Beta], factor: \"{f}\"}]}"
bad 'factor: must be' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta], factor: -1}]}'
bad 'this name is in the list twice' <<<'  - {says: x, tests: [{less: [GTS, TS-Beta, GTS, GTS, GTS, GTS, GTS]}]}'
bad 'says: is longer than 1000 bytes' < <(printf '  - {says: '; printf 'x%.0s' {1..1100}; echo '}')

concentration() {
    local text=$1
    { printf 'kind: concentration\nattraction: [0.1]\nobservations: 10\nsigma: [1]\nclaims:\n'; cat; } >bad.yaml
    expect 2 "$text" "$OLTR" run bad.yaml -o out -q
}
concentration 'needs a `measure`' <<<'  - {says: x, tests: [{less: [Beta, Gaussian (sigma 1)]}]}'
concentration 'no measure of this experiment is called `sq`' <<<'  - {says: x, tests: [{less: [Beta, Gaussian (sigma 1)], measure: sq}]}'
concentration 'no posterior of this experiment is called `Beto`; did you mean `Beta`?' <<<'  - {says: x, tests: [{less: [Beto, Gaussian (sigma 1)], measure: sd}]}'
concentration 'has no rounds' <<<'  - {says: x, tests: [{less: [Beta, Gaussian (sigma 1)], measure: sd, round: 3}]}'
expect 2 'cannot be swept' "$OLTR" run good.yaml -o out -q --set 'sweep={key: claims, values: [1]}'
[ ! -e out ] || fail "made a folder for a bad file"
echo ok

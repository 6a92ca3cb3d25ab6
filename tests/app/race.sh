# race.sh - the race and the full sampler draw from the same law: with the same users their regrets agree.
. "$(dirname "$0")/common.bash"

cat >race.yaml <<'YAML'
rounds: 600
slots: 10
replications: 60
world: {kind: log-uniform, items: 10000, low: 0.001, high: 0.3}
policies:
  - {name: GTS, kind: gts}
  - {name: GTS race, kind: gts, sampler: race}
  - {name: TS-Beta, kind: ts-beta}
  - {name: TS-Beta race, kind: ts-beta, sampler: race}
YAML
expect 0 "" "$OLTR" run race.yaml -o out -q --no-figures

# agrees POLICY: the paired difference at the end is within 5.7 standard errors, which sixty replications of one law pass
# but once in a million pairs.
agrees() {
    awk -F, -v policy="$1" '$3 == policy && $4 == policy " race" { d = $5; se = $6; n++ }
        END { print policy ": " d " +- " se; exit !(n > 1 && se > 0 && d <= 5.7 * se && d >= -5.7 * se) }' out/pairs.csv ||
        fail "$1 and its race have other regrets"
}
agrees GTS
agrees TS-Beta
awk -F, '$3 == "GTS" && $4 == "TS-Beta" { d = $5; se = $6 } END { exit !(d > 5.7 * se || d < -5.7 * se) }' out/pairs.csv ||
    fail "the test has no power: two different policies agree"

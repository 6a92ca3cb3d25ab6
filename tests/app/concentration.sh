# concentration.sh - the experiment without a simulation: its tables are right and its figure is drawn.
. "$(dirname "$0")/common.bash"
need python3

expect 0 "results in c" "$OLTR" run "$SOURCE/experiments/concentration.yaml" -o c --no-figures
there c/density.csv c/summary.csv c/manifest.json c/experiment.yaml
python3 - <<'PY' || fail "the tables"
import csv, math

rows = {(r["attraction"], r["posterior"]): r for r in csv.DictReader(open("c/summary.csv"))}
assert len(rows) == 9, len(rows)
assert list(next(iter(rows.values()))) == ["attraction", "posterior", "mean", "sd", "entropy", "width95", "coverage95"]
n = 100


def near(got, wanted, tolerance=1e-7):
    assert abs(float(got) - wanted) <= tolerance * max(1, abs(wanted)), (got, wanted)


def density(nu, name, x):
    s = round(n * nu)
    if name == "Beta":
        a, b = 1 + s, 1 + n - s
        if not 0 < x < 1:
            return 0.0
        log_b = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        return math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_b)
    sigma = float(name.split()[-1].rstrip(")"))
    v = 1 / (1 + n / sigma**2)
    return math.exp(-((x - v * s / sigma**2) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)


grid = [-1 + 4 * (i + 0.5) / 40000 for i in range(40000)]
for (attraction, name), row in rows.items():
    p = [density(float(attraction), name, x) for x in grid]
    step = grid[1] - grid[0]
    mean = sum(x * q for x, q in zip(grid, p)) * step
    near(row["mean"], mean, 1e-6)
    near(row["sd"], math.sqrt(sum((x - mean) ** 2 * q for x, q in zip(grid, p)) * step), 1e-6)
    near(row["entropy"], -sum(q * math.log(q) for q in p if q > 0) * step, 1e-5)
    total, low, high = 0.0, None, None
    for x, q in zip(grid, p):
        total += q * step
        low = x if low is None and total >= 0.025 else low
        high = x if high is None and total >= 0.975 else high
    near(row["width95"], high - low, 3e-4)
    assert 0.9 < float(row["coverage95"]) <= 1
# The Gaussian of sigma 0.5 covers nu = 0.5 exactly as often as |s - 50| is small enough.
v = 1 / (1 + n / 0.25)
inside = [s for s in range(n + 1) if abs(0.5 - v * s / 0.25) <= 1.959963984540054 * math.sqrt(v)]
near(rows["0.5", "Gaussian (sigma 0.5)"]["coverage95"], sum(math.comb(n, s) for s in inside) / 2**n)

count = 0
for r in csv.DictReader(open("c/density.csv")):
    near(r["density"], density(float(r["attraction"]), r["posterior"], float(r["x"])), 1e-6)
    count += 1
assert count == 9 * 361, count
PY
expect 0 "" "$OLTR" run c/experiment.yaml -o again --no-figures
same c/density.csv again/density.csv
same c/summary.csv again/summary.csv

if command -v gnuplot >/dev/null; then
    expect 0 "1 figure drawn in c" "$OLTR" plot c
    there c/fig-bvsgpost.svg c/fig-bvsgpost.png c/fig-bvsgpost.pdf c/fig-bvsgpost.gp c/fig-bvsgpost.csv
    for text in 'ν = 0.1' 'ν = 0.5' 'ν = 0.9' 'Gaussian (sigma 1)' 'Gaussian (sigma 0.5)'; do
        grep -qF "$text" c/fig-bvsgpost.svg || fail "the figure lacks $text"
    done
    sed -i '9d' c/density.csv
    expect 2 'density.csv is broken' "$OLTR" plot c
    no_leftovers c
fi
echo ok

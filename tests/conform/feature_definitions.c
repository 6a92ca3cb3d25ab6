/* feature_definitions.c - is each policy with features the algorithm that its paper defines?
 *
 * The twin here keeps the whole history and nothing else.  Before every round it builds its
 * matrices from scratch, inverts them by elimination, solves the score equation by Newton's method
 * from zero, and takes widths straight from the formulas: slow, dense and obvious.  Engine and twin
 * see the same lists and the same clicks, of items whose features stay and of items whose features
 * change; what the engine believes and ranks by must be what the twin computes. Where a test is
 * statistical its seed is fixed: 19 laws of 4 means and 10 covariances, each rejected beyond 7
 * standard errors, which has a false-alarm rate below 1e-8 in all.
 */
#include "conform/fixtures.h"

enum { L = 12, K = 3, ROUNDS = 150, MOST_SEEN = ROUNDS * K };

/* ---- dense linear algebra, d = 4 */

typedef struct matrix {
    double at[DIM][DIM];
} matrix;

static matrix times_identity(double c)
{
    matrix m = {{{0}}};
    for (int i = 0; i < DIM; i++)
        m.at[i][i] = c;
    return m;
}

static void add_square(matrix *m, double weight, const double *x)
{
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
            m->at[i][j] += weight * x[i] * x[j];
}

/* out = m^-1 b, by elimination with pivots. */
static void solve(matrix m, const double *b, double *out)
{
    double y[DIM];
    memcpy(y, b, sizeof y);
    for (int c = 0; c < DIM; c++) {
        int pivot = c;
        for (int r = c + 1; r < DIM; r++)
            pivot = fabs(m.at[r][c]) > fabs(m.at[pivot][c]) ? r : pivot;
        for (int j = 0; j < DIM; j++) {
            double held = m.at[c][j];
            m.at[c][j] = m.at[pivot][j];
            m.at[pivot][j] = held;
        }
        double held = y[c];
        y[c] = y[pivot];
        y[pivot] = held;
        for (int r = c + 1; r < DIM; r++) {
            double f = m.at[r][c] / m.at[c][c];
            for (int j = c; j < DIM; j++)
                m.at[r][j] -= f * m.at[c][j];
            y[r] -= f * y[c];
        }
    }
    for (int r = DIM; r-- > 0;) {
        for (int j = r + 1; j < DIM; j++)
            y[r] -= m.at[r][j] * out[j];
        out[r] = y[r] / m.at[r][r];
    }
}

static double logistic_of(double z)
{
    return 1 / (1 + exp(-z));
}

/* mu of the policy's link and its derivative. */
typedef enum link_kind { LOGIT, PROBIT, CLOGLOG } link_kind;

/* Read once for a twin: names are compared, and the links are in the innermost loops. */
static link_kind link_of(const variant *v)
{
    bool has = is_kind(v, "logts") || is_kind(v, "glm-ucb");
    return has && chosen(v, "link", "probit")    ? PROBIT
           : has && chosen(v, "link", "cloglog") ? CLOGLOG
                                                 : LOGIT;
}

static double mu_of(link_kind by, double z)
{
    if (by == PROBIT)
        return erfc(-z / sqrt(2)) / 2;
    return by == CLOGLOG ? -expm1(-exp(z)) : logistic_of(z);
}

static double slope_of(link_kind by, double z)
{
    if (by == PROBIT)
        return exp(-z * z / 2) / sqrt(2 * acos(-1));
    return by == CLOGLOG ? exp(z - exp(z)) : logistic_of(z) * logistic_of(-z);
}

static double dot(const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < DIM; i++)
        sum += x[i] * y[i];
    return sum;
}

/* x'm^-1 y */
static double form(const matrix *m, const double *x, const double *y)
{
    double z[DIM];
    solve(*m, y, z);
    return dot(x, z);
}

/* ---- the twin: all that was examined, in order, and the clock */

typedef struct seen {
    double x[DIM], y;
    double weight; /* of cascade-woful's second regression */
    double stale;  /* mu' at the estimate of its own round */
    bool examined; /* or only shown */
} seen;

typedef struct twin {
    const variant *v;
    link_kind by;
    uint32_t n;
    uint64_t t; /* the round to be ranked, from 1 */
    seen at[MOST_SEEN];
} twin;

/* A posterior N(mean, spread^2 precision^-1) on theta. */
typedef struct belief {
    double mean[DIM];
    matrix precision;
    double spread;
} belief;

static belief ridge(const twin *w, double lambda, double spread)
{
    belief b = {.precision = times_identity(lambda), .spread = spread};
    double moment[DIM] = {0};
    for (uint32_t i = 0; i < w->n; i++) {
        const seen *s = &w->at[i];
        if (!s->examined)
            continue;
        add_square(&b.precision, 1, s->x);
        for (int j = 0; j < DIM; j++)
            moment[j] += s->y * s->x[j];
    }
    solve(b.precision, moment, b.mean);
    return b;
}

/* The printed radius of LinTS-LTR, with the logarithms of its doubling argument in base 2. */
static double printed_beta(const twin *w)
{
    double lambda = param_of(w->v, "lambda"), sigma = param_of(w->v, "sigma"),
           horizon = param_of(w->v, "horizon"), t = (double)w->t;
    double delta = 1 / (horizon * (log2(horizon) + 2)),
           delta_t = delta / pow(2, fmax(1, ceil(log2(t))));
    return sigma * sigma * sqrt(DIM * log(1 + t / lambda) + 2 * log(1 / delta_t)) +
           sqrt(lambda) * param_of(w->v, "S");
}

static belief lints_belief(const twin *w, uint32_t k)
{
    if (chosen(w->v, "radius", "released"))
        return ridge(w, 0.25, 0.5);
    return ridge(w, param_of(w->v, "lambda"),
                 chosen(w->v, "radius", "bayes") ? param_of(w->v, "sigma") : printed_beta(w));
}

static belief lints_cascade_belief(const twin *w, uint32_t k)
{
    if (chosen(w->v, "variant", "released"))
        return ridge(w, 0.25, 0.5);
    return ridge(w, 1,
                 param_of(w->v, "lambda") * 3 * param_of(w->v, "R") *
                     sqrt(DIM * log((double)w->t)) * sqrt(k));
}

/* M = I + sigma^-2 sum x x', theta = sigma^-2 M^-1 B, literally. */
static belief zong_belief(const twin *w, uint32_t k)
{
    bool half =
        is_kind(w->v, "cascade-linucb") && chosen(w->v, "width", "released"); /* its sigma is 1/2 */
    double sigma = half ? 0.5 : param_of(w->v, "sigma"), precision = 1 / (sigma * sigma),
           moment[DIM] = {0};
    belief b = {.precision = times_identity(1), .spread = 1};
    for (uint32_t i = 0; i < w->n; i++) {
        add_square(&b.precision, precision, w->at[i].x);
        for (int j = 0; j < DIM; j++)
            moment[j] += precision * w->at[i].y * w->at[i].x[j];
    }
    solve(b.precision, moment, b.mean);
    return b;
}

/* ---- logistic */

/* H = lambda I + sum mu' x x', and g = sum (y - mu) x - lambda theta, whose root is wanted. */
static matrix curvature(const twin *w, double lambda, const double *theta, double *gradient)
{
    matrix h = times_identity(lambda);
    for (int j = 0; j < DIM; j++)
        gradient[j] = -lambda * theta[j];
    for (uint32_t i = 0; i < w->n; i++) {
        double z = dot(w->at[i].x, theta), mu = mu_of(w->by, z);
        add_square(&h, slope_of(w->by, z), w->at[i].x);
        for (int j = 0; j < DIM; j++)
            gradient[j] += (w->at[i].y - mu) * w->at[i].x[j];
    }
    return h;
}

/* g'step at theta + size step, which becomes `next`. */
static double slope_along(const twin *w, double lambda, const double *theta, const double *step,
                          double size, double *next)
{
    double gradient[DIM];
    for (int j = 0; j < DIM; j++)
        next[j] = theta[j] + size * step[j];
    curvature(w, lambda, next, gradient);
    return dot(gradient, step);
}

/* The slope falls along a step; where it ends below zero, the step is halved until it does not. */
static void newton(const twin *w, double lambda, double *theta)
{
    memset(theta, 0, DIM * sizeof *theta);
    for (int iteration = 0; iteration < 200; iteration++) {
        double gradient[DIM], step[DIM], next[DIM], size = 1;
        matrix h = curvature(w, lambda, theta, gradient);
        solve(h, gradient, step);
        double rounding = 1e-3 * dot(gradient, step);
        while (slope_along(w, lambda, theta, step, size, next) < -rounding && size > 1e-12)
            size /= 2;
        memcpy(theta, next, sizeof next);
        if (sqrt(dot(step, step)) < 1e-13 * (1 + sqrt(dot(theta, theta))))
            return;
    }
}

static belief logts_belief(const twin *w, uint32_t k)
{
    belief b = {.spread = 1};
    double lambda = param_of(w->v, "lambda"), gradient[DIM], bound = param_of(w->v, "S");
    newton(w, lambda, b.mean);
    b.precision = curvature(w, lambda, b.mean, gradient);
    if (!chosen(w->v, "weights", "fresh")) {
        b.precision = times_identity(lambda);
        for (uint32_t i = 0; i < w->n; i++)
            add_square(&b.precision, chosen(w->v, "weights", "none") ? 1 : w->at[i].stale,
                       w->at[i].x);
    }
    if (chosen(w->v, "scale", "theory"))
        b.spread = printed_beta(w) / fmin(slope_of(w->by, bound), slope_of(w->by, -bound));
    return b;
}

/* The root, and the matrix without weights. */
static belief glm_ucb_belief(const twin *w, uint32_t k)
{
    double lambda = param_of(w->v, "lambda");
    belief b = {.precision = times_identity(lambda), .spread = 1};
    newton(w, lambda, b.mean);
    for (uint32_t i = 0; i < w->n; i++)
        add_square(&b.precision, 1, w->at[i].x);
    return b;
}

static double glm_ucb_score(const twin *w, const double *x, uint32_t k)
{
    double bound = param_of(w->v, "S"), t = (double)w->t, alpha = param_of(w->v, "alpha");
    belief b = glm_ucb_belief(w, k);
    if (chosen(w->v, "width", "theory"))
        alpha = param_of(w->v, "sigma") / fmin(slope_of(w->by, bound), slope_of(w->by, -bound)) *
                sqrt(DIM / 2.0 * log(1 + 2 * t / DIM) + log(param_of(w->v, "horizon")));
    return dot(b.mean, x) + alpha * sqrt(form(&b.precision, x, x));
}

/* Laplace's approximation, by which pg-ts predicts. */
static belief pg_ts_belief(const twin *w, uint32_t k)
{
    double lambda = param_of(w->v, "lambda"), gradient[DIM];
    belief b = {.spread = 1};
    newton(w, lambda, b.mean);
    b.precision = curvature(w, lambda, b.mean, gradient);
    return b;
}

static void newton_printed_step(belief *b, double alpha, const double *x, double s)
{
    double step[DIM], share = alpha * logistic_of(-s * dot(b->mean, x)) * s;
    add_square(&b->precision, 1, x);
    solve(b->precision, x, step);
    for (int j = 0; j < DIM; j++)
        b->mean[j] += share * step[j];
}

/* The maximum of log mu(s x'theta) - (theta - mean)'V (theta - mean) / 2 lies at mean + c s V^-1 x;
 * c by halving. */
static void newton_exact_step(belief *b, const double *x, double s)
{
    double step[DIM], low = 0, high = 1, z = dot(b->mean, x);
    solve(b->precision, x, step);
    for (int i = 0; i < 80; i++) {
        double c = (low + high) / 2;
        *(c < logistic_of(-s * z - c * dot(step, x)) ? &low : &high) = c;
    }
    for (int j = 0; j < DIM; j++)
        b->mean[j] += low * s * step[j];
    add_square(&b->precision, logistic_of(dot(b->mean, x)) * logistic_of(-dot(b->mean, x)), x);
}

/* The recursion from the first observation on. */
static belief newton_step_belief(const twin *w, uint32_t k)
{
    belief b = {.precision = times_identity(param_of(w->v, "slots")),
                .spread = param_of(w->v, "v")};
    double clip = param_of(w->v, "clip");
    for (uint32_t i = 0; i < w->n; i++) {
        if (chosen(w->v, "step", "exact"))
            newton_exact_step(&b, w->at[i].x, w->at[i].y > 0.5 ? 1 : -1);
        else
            newton_printed_step(&b, param_of(w->v, "alpha"), w->at[i].x, w->at[i].y > 0.5 ? 1 : -1);
        double length = sqrt(dot(b.mean, b.mean));
        for (int j = 0; j < DIM && clip > 0 && length > clip; j++)
            b.mean[j] *= clip / length;
    }
    return b;
}

/* ---- cascade-woful */

/* Theorem 2 of Abbasi-Yadkori, Pal and Szepesvari as the released code has it: lambda = 1, R = 1/2,
 * S = sqrt(d), delta = 1/T, rows of length 1. */
static double released_width(const variant *v)
{
    double horizon = param_of(v, "horizon"), delta = 1 / horizon;
    return sqrt(DIM) + 0.5 * sqrt(DIM * log((1 + horizon) / delta));
}

/* What both of its index policies do with a regression: gram = I + 4 sum w x x', moment = 4 sum w x
 * y, and a bound that divides the inverse by sigma^2 = 1/4. */
static double released_bound(const twin *w, const double *x, bool weighted, double width)
{
    double moment[DIM] = {0}, mean[DIM];
    matrix gram = times_identity(1);
    for (uint32_t i = 0; i < w->n; i++) {
        const seen *s = &w->at[i];
        double weight = weighted ? s->weight : s->examined;
        add_square(&gram, 4 * weight, s->x);
        for (int j = 0; j < DIM; j++)
            moment[j] += 4 * weight * s->y * s->x[j];
    }
    solve(gram, moment, mean);
    return dot(mean, x) + width * sqrt(form(&gram, x, x) * 4);
}

/* Both radii of the round to be ranked. */
static void woful_radii(const twin *w, double *first, double *second)
{
    double k = param_of(w->v, "slots"), t = (double)w->t, delta = 1 / param_of(w->v, "horizon"),
           S = param_of(w->v, "S");
    double log_term = log(4 * t * t * k * k / delta), scale = param_of(w->v, "scale");
    *first = scale * (S + 0.5 * sqrt(DIM * log(1 + t * k / DIM) + 2 * log(1 / delta)));
    *second = scale * (sqrt(k) * S + 8 * sqrt(DIM * log(1 + t * k * k / (DIM * k)) * log_term) +
                       4 * sqrt(k) * log_term);
}

/* U_H, before and U_B after the weights: which of the two. */
static double woful_index(const twin *w, const double *x, bool weighted)
{
    double alpha[2], moment[DIM] = {0}, mean[DIM];
    matrix g = times_identity(weighted ? param_of(w->v, "slots") : 1);
    if (chosen(w->v, "variant", "released")) /* ranks with K times the width of its CascadeLinUCB */
        return released_bound(w, x, weighted,
                              param_of(w->v, "scale") * released_width(w->v) *
                                  (weighted ? param_of(w->v, "slots") : 1));
    woful_radii(w, &alpha[0], &alpha[1]);
    for (uint32_t i = 0; i < w->n; i++) {
        const seen *s = &w->at[i];
        if (!s->examined)
            continue;
        double weight = weighted ? s->weight : 1;
        add_square(&g, weight, s->x);
        for (int j = 0; j < DIM; j++)
            moment[j] += weight * s->y * s->x[j];
    }
    solve(g, moment, mean);
    double u = dot(mean, x) + alpha[weighted] * sqrt(form(&g, x, x));
    return weighted ? u : fmin(1, fmax(0, u));
}

static double woful_score(const twin *w, const double *x, uint32_t k)
{
    return woful_index(w, x, 1);
}

static double linucb_score(const twin *w, const double *x, uint32_t k)
{
    double sigma = param_of(w->v, "sigma"), horizon = param_of(w->v, "horizon"), tk = horizon * k;
    double c =
        sqrt(DIM * log(1 + tk / (DIM * sigma * sigma)) + 2 * log(tk)) / sigma + param_of(w->v, "S");
    belief b = zong_belief(w, k);
    if (chosen(w->v, "width", "released"))
        return fmin(1, released_bound(w, x, 0, released_width(w->v)));
    if (chosen(w->v, "width", "given"))
        c = param_of(w->v, "c");
    return fmin(1, dot(b.mean, x) + c * sqrt(form(&b.precision, x, x)));
}

/* ---- rounds for both */

typedef struct stage {
    oltr_query query;
    float x[L * DIM];
    double wide[L][DIM]; /* the same */
    uint32_t item[L];
    double score[L];
} stage;

/* The features of round t: the first of the pool, or new ones. */
static void set_stage(stage *g, dice *d, bool changing)
{
    g->query = (oltr_query){L, NULL, DIM, DIM, g->x};
    for (uint32_t j = 0; j < L; j++) {
        if (changing)
            draw_row(d, g->x + j * DIM);
        else
            memcpy(g->x + j * DIM, pool_row(j), DIM * sizeof(float));
        for (uint32_t i = 0; i < DIM; i++)
            g->wide[j][i] = (double)g->x[j * DIM + i];
    }
}

/* The user of the cascade: reads down to the first click. */
static uint32_t draw_clicks(const stage *g, dice *d, double *reward)
{
    for (uint32_t s = 0; s < K; s++) {
        const double *x = g->wide[g->item[s]];
        reward[s] = unit(d) < logistic_of(1.5 * x[0] - 2 * x[1] + 0.5 * x[3] - 0.5);
        if (reward[s] > 0)
            return s + 1;
    }
    return K;
}

/* The weights of the second regression: of the estimate with which the list was shown; in the
 * released code, of the one that has learned from it. */
static void weigh(twin *w, const stage *g, uint32_t first, uint32_t end)
{
    double weight[K];
    for (uint32_t s = first; s < end; s++)
        weight[s - first] =
            1 / fmax(woful_index(w, g->wide[g->item[s - first]], 0), 1 / param_of(w->v, "slots"));
    for (uint32_t s = first; s < end; s++)
        w->at[s].weight = weight[s - first];
}

/* The estimates of the round that the list was shown in belong to its observations. */
static void teach_twin(twin *w, const stage *g, uint32_t n_examined, const double *reward)
{
    double theta[DIM] = {0};
    bool woful = is_kind(w->v, "cascade-woful"),
         after = woful && chosen(w->v, "variant", "released");
    uint32_t first = w->n, end = first + (woful ? K : n_examined);
    if (is_kind(w->v, "logts"))
        newton(w, param_of(w->v, "lambda"), theta);
    for (uint32_t s = 0; first + s < end; s++) {
        double z = dot(theta, g->wide[g->item[s]]);
        seen *o = &w->at[first + s];
        *o = (seen){.y = s < n_examined ? reward[s] : 0,
                    .stale = slope_of(w->by, z),
                    .examined = s < n_examined};
        memcpy(o->x, g->wide[g->item[s]], sizeof o->x);
    }
    if (woful && !after)
        weigh(w, g, first, end);
    w->n = end;
    if (after)
        weigh(w, g, first, end);
    w->t++;
}

/* One round for both: the engine ranks, the user clicks, both learn. */
static void play(oltr_policy *p, twin *w, stage *g, dice *d, bool changing)
{
    double reward[K];
    set_stage(g, d, changing);
    expect(rank_with(p, &g->query, w->t, K, g->item, g->score), OLTR_OK);
    uint32_t n = draw_clicks(g, d, reward);
    teach_twin(w, g, n, reward);
    expect(oltr_learn(p, &g->query, &(oltr_ranking){K, g->item, NULL}, &(oltr_feedback){n, reward}),
           OLTR_OK);
}

/* ---- samplers: what is predicted */

typedef struct law {
    const char *kind;
    belief (*of)(const twin *, uint32_t k);
    bool clicks;     /* predicts mu(x'theta), not x'theta */
    double mean, sd; /* tolerances, relative */
} law;

static const law laws[] = {
    {"lints", lints_belief, 0, 1e-9, 1e-9},
    {"lints-cascade", lints_cascade_belief, 0, 1e-9, 1e-9},
    {"cascade-lints", zong_belief, 0, 1e-9, 1e-9},
    {"cascade-linucb", zong_belief, 0, 1e-9, 1e-9},
    {"logts", logts_belief, 1, 1e-7, 1e-5},
    {"logts-newton", newton_step_belief, 1, 1e-9, 1e-9},
    {"glm-ucb", glm_ucb_belief, 1, 1e-7, 1e-5},
    {"pg-ts", pg_ts_belief, 1, 1e-7, 1e-5},
};

static const law *law_of(const variant *v)
{
    for (size_t i = 0; i < COUNT(laws); i++)
        if (is_kind(v, laws[i].kind))
            return &laws[i];
    return NULL;
}

/* A covariance whose weights are off by up to `drift`. */
static double sd_tolerance(const variant *v, const law *rule)
{
    double drift = is_kind(v, "logts") && chosen(v, "weights", "fresh") ? param_of(v, "drift") : 0;
    if (is_kind(v, "pg-ts"))
        drift = 0.1;
    return rule->sd + drift / (1 - drift) / 2 + drift * drift;
}

static void assert_prediction(const oltr_policy *p, const twin *w, const stage *g, const belief *b)
{
    const law *rule = law_of(w->v);
    double mean[L], sd[L], allowed = sd_tolerance(w->v, rule);
    expect(oltr_predict(p, &g->query, mean, sd), OLTR_OK);
    for (uint32_t j = 0; j < L; j++) {
        double m = dot(b->mean, g->wide[j]),
               s = b->spread * sqrt(form(&b->precision, g->wide[j], g->wide[j]));
        if (rule->clicks) {
            s *= slope_of(w->by, m);
            m = mu_of(w->by, m);
        }
        if (!near(mean[j], m, rule->mean) || fabs(sd[j] - s) > allowed * s + 1e-300)
            fail_msg("round %u, item %u: mean %.15g for %.15g, sd %.15g for %.15g", (uint32_t)w->t,
                     j, mean[j], m, sd[j], s);
    }
}

static void predictions_are_the_definition(void **state)
{
    const variant *v = *state;
    for (int changing = 0; changing < 2; changing++) {
        oltr_policy *p = policy_of(v, L);
        twin w = {.v = v, .by = link_of(v), .t = 1};
        stage g;
        dice d = {100};
        while (w.t <= ROUNDS) {
            set_stage(&g, &(dice){d.state}, changing);
            belief b = law_of(v)->of(&w, 1);
            assert_prediction(p, &w, &g, &b);
            play(p, &w, &g, &d, changing);
        }
        oltr_policy_free(p);
    }
}

/* ---- samplers: what is sampled */

/* Sums of the sampled scores of four candidates, and of their products. */
typedef struct moments {
    uint32_t n;
    double mean[DIM], product[DIM][DIM]; /* around what is expected */
} moments;

static moments sample_scores(const oltr_policy *p, const stage *g, const double *expected,
                             uint32_t n)
{
    moments m = {.n = n};
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_query four = g->query;
    four.n_items = DIM;
    for (uint64_t round = 0; round < n; round++) {
        uint32_t item[DIM];
        double score[DIM], off[DIM];
        oltr_ranking out = {DIM, item, score};
        expect(oltr_rank(p, &four, rng_of(1000 + round), scratch, &out), OLTR_OK);
        for (int s = 0; s < DIM; s++)
            off[item[s]] = score[s] - expected[item[s]];
        for (int i = 0; i < DIM; i++) {
            m.mean[i] += off[i] / n;
            for (int j = 0; j < DIM; j++)
                m.product[i][j] += off[i] * off[j] / n;
        }
    }
    oltr_scratch_free(scratch);
    return m;
}

static void assert_moments(const moments *m, double c[DIM][DIM], double slack)
{
    for (int i = 0; i < DIM; i++) {
        if (fabs(m->mean[i]) > 7 * sqrt(c[i][i] * (1 + slack) / m->n) + 1e-9)
            fail_msg("mean of candidate %d is off by %g, its standard error is %g", i, m->mean[i],
                     sqrt(c[i][i] / m->n));
        for (int j = 0; j <= i; j++) {
            double se = sqrt((c[i][i] * c[j][j] + c[i][j] * c[i][j]) / m->n),
                   size = sqrt(c[i][i] * c[j][j]);
            if (fabs(m->product[i][j] - c[i][j]) > 7 * se + slack * size)
                fail_msg("covariance of %d and %d: %g, not %g; standard error %g", i, j,
                         m->product[i][j], c[i][j], se);
        }
    }
}

static void scores_follow_the_law(void **state)
{
    enum { SAMPLES = 40000 };
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = {.v = v, .by = link_of(v), .t = 1};
    stage g;
    dice d = {101};
    double expected[DIM], c[DIM][DIM];
    while (w.t <= ROUNDS)
        play(p, &w, &g, &d, 1);
    belief b = law_of(v)->of(&w, DIM); /* lists of four */
    for (int i = 0; i < DIM; i++) {
        expected[i] = dot(b.mean, g.wide[i]);
        for (int j = 0; j < DIM; j++)
            c[i][j] = b.spread * b.spread * form(&b.precision, g.wide[i], g.wide[j]);
    }
    moments m = sample_scores(p, &g, expected, SAMPLES);
    assert_moments(&m, c, 2 * sd_tolerance(v, law_of(v)));
    oltr_policy_free(p);
}

/* ---- indices */

typedef double index_rule(const twin *, const double *x, uint32_t k);

static index_rule *rule_of(const variant *v)
{
    if (is_kind(v, "glm-ucb"))
        return glm_ucb_score;
    return is_kind(v, "cascade-woful") ? woful_score : linucb_score;
}

/* The shown scores are the indices of their items, and no other item has a larger one. */
static void assert_top(const twin *w, const stage *g, index_rule *rule)
{
    /* the root is found to 1e-8 */
    double lowest = INFINITY, allowed = is_kind(w->v, "glm-ucb") ? 1e-7 : 1e-9;
    bool shown[L] = {false};
    for (uint32_t s = 0; s < K; s++) {
        double u = rule(w, g->wide[g->item[s]], K);
        if (!near(g->score[s], u, allowed))
            fail_msg("round %u, item %u: score %.15g, index %.15g", (uint32_t)w->t, g->item[s],
                     g->score[s], u);
        assert_true(s == 0 || g->score[s] <= g->score[s - 1]);
        lowest = fmin(lowest, u);
        shown[g->item[s]] = true;
    }
    for (uint32_t i = 0; i < L; i++)
        if (!shown[i] && rule(w, g->wide[i], K) > lowest + allowed * fmax(1, fabs(lowest)))
            fail_msg("round %u: item %u has index %g and is not shown", (uint32_t)w->t, i,
                     rule(w, g->wide[i], K));
}

static void lists_are_the_definition(void **state)
{
    const variant *v = *state;
    for (int changing = 0; changing < 2; changing++) {
        oltr_policy *p = policy_of(v, L);
        twin w = {.v = v, .by = link_of(v), .t = 1};
        stage g;
        dice d = {102};
        while (w.t <= ROUNDS) {
            dice same = d;
            set_stage(&g, &same, changing);
            expect(rank_with(p, &g.query, w.t, K, g.item, g.score), OLTR_OK);
            assert_top(&w, &g, rule_of(v));
            play(p, &w, &g, &d, changing);
        }
        oltr_policy_free(p);
    }
}

/* Clipped at 1 all items tie at first; among ties the first slot is anybody's: uniform, by a
 * chi-square of 11 degrees of freedom below 60 (p < 1e-8). */
static void ties_are_broken_evenly(void **state)
{
    enum { SAMPLES = 6000 };
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    stage g;
    double count[L] = {0}, chi = 0;
    set_stage(&g, &(dice){1}, 0);
    for (uint64_t round = 0; round < SAMPLES; round++) {
        expect(rank_with(p, &g.query, round, 1, g.item, g.score), OLTR_OK);
        assert_true(g.score[0] >= 1 && g.score[0] <= 1);
        count[g.item[0]] += 1;
    }
    for (int i = 0; i < L; i++)
        chi += (count[i] - SAMPLES / L) * (count[i] - SAMPLES / L) / (SAMPLES / L);
    if (chi > 60)
        fail_msg("chi-square %g", chi);
    oltr_policy_free(p);
}

/* ---- policies of one logistic posterior */

/* A round for two policies: the list is that of the first, whose scores are in the stage. */
static void play_two(oltr_policy *p, oltr_policy *q, stage *g, dice *d, uint64_t t)
{
    double reward[K];
    set_stage(g, d, t % 2);
    expect(rank_with(p, &g->query, t, K, g->item, g->score), OLTR_OK);
    oltr_feedback clicks = {draw_clicks(g, d, reward), reward};
    expect(oltr_learn(p, &g->query, &(oltr_ranking){K, g->item, NULL}, &clicks), OLTR_OK);
    expect(oltr_learn(q, &g->query, &(oltr_ranking){K, g->item, NULL}, &clicks), OLTR_OK);
}

/* The estimate of glm-ucb is that of logts; with alpha 0 the list is greedy. */
static void the_root_is_that_of_logts(void **state)
{
    variant ucb = with(with(variant_of("glm-ucb"), "rows", 4096), "alpha", 0),
            greedy = with_choice(ucb, "width", "given"),
            other = with(with(variant_of("logts"), "rows", 4096), "lambda", 1);
    oltr_policy *p = policy_of(&greedy, L), *q = policy_of(&other, L);
    stage g;
    dice d = {103};
    double mean[2][L], sd[L];
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        play_two(p, q, &g, &d, t);
        expect(oltr_predict(p, &g.query, mean[0], sd), OLTR_OK);
        expect(oltr_predict(q, &g.query, mean[1], sd), OLTR_OK);
        for (uint32_t j = 0; j < L; j++)
            assert_true(fabs(mean[0][j] - mean[1][j]) <= 1e-8);
        expect(rank_with(p, &g.query, t, L, g.item, g.score), OLTR_OK);
        for (uint32_t s = 1; s < L; s++)
            assert_true(mean[0][g.item[s - 1]] >= mean[0][g.item[s]]);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* Without sweeps pg-ts ranks by the draw of logts, to the bit. */
static void no_sweeps_are_logts(void **state)
{
    variant none = with(with(variant_of("pg-ts"), "rows", 4096), "sweeps", 0),
            other = with(with(variant_of("logts"), "rows", 4096), "lambda", 1);
    oltr_policy *p = policy_of(&none, L), *q = policy_of(&other, L);
    stage g, h;
    dice d = {104};
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        play_two(p, q, &g, &d, t);
        expect(rank_with(p, &g.query, t, K, g.item, g.score), OLTR_OK);
        expect(rank_with(q, &g.query, t, K, h.item, h.score), OLTR_OK);
        assert_memory_equal(g.item, h.item, K * sizeof *g.item);
        assert_memory_equal(g.score, h.score, K * sizeof *g.score);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- the suite: which settings, by name */

static variant_list samplers, indices, gibbs;

static void list_linear(void)
{
    variant lints = variant_of("lints"), cascade = variant_of("lints-cascade"),
            zong = variant_of("cascade-lints");
    add_variant(&samplers, lints);
    add_variant(&samplers, with(with(with(lints, "lambda", 0.7), "horizon", 500), "S", 2.5));
    add_variant(&samplers, with(with_choice(lints, "radius", "bayes"), "sigma", 0.3));
    add_variant(&samplers, with_choice(lints, "radius", "released"));
    add_variant(&samplers, cascade);
    add_variant(&samplers, with(with(cascade, "lambda", 0.1), "R", 0.5));
    add_variant(&samplers, with_choice(cascade, "variant", "released"));
    add_variant(&samplers, zong);
    add_variant(&samplers, with(zong, "sigma", 0.25));
}

static void list_logistic(void)
{
    variant logts = with(variant_of("logts"), "rows", 4096),
            newton_steps = variant_of("logts-newton");
    variant exact = with(logts, "drift", 0), tame = with(logts, "lambda", 1);
    add_variant(&samplers, exact);
    add_variant(&samplers, logts);
    add_variant(&samplers, with(tame, "drift", 0));
    add_variant(&samplers, with(tame, "drift", 0.3));
    add_variant(&samplers, with_choice(tame, "weights", "stale"));
    add_variant(&samplers, with_choice(with_choice(tame, "weights", "none"), "scale", "theory"));
    add_variant(&samplers, with_choice(with(tame, "drift", 0), "scale", "theory"));
    for (int i = 0; i < 2; i++) {
        const char *link = i ? "cloglog" : "probit";
        variant other = with_choice(exact, "link", link), loose = with_choice(tame, "link", link),
                printed = with_choice(with_choice(loose, "weights", "stale"), "scale", "theory");
        add_variant(&samplers, other);
        add_variant(&samplers, loose);
        add_variant(&samplers, with(printed, "S", 1.5));
    }
    add_variant(&samplers, newton_steps);
    add_variant(&samplers, with(with(newton_steps, "alpha", 1), "v", 2));
    add_variant(&samplers, with(with(newton_steps, "clip", 0.5), "slots", 7));
}

static void list_indices(void)
{
    variant linucb = variant_of("cascade-linucb"), woful = variant_of("cascade-woful");
    add_variant(&indices, linucb);
    add_variant(&indices, with(with(linucb, "sigma", 2), "S", 0.5));
    add_variant(&indices, with_choice(linucb, "width", "released"));
    add_variant(&indices,
                with(with_choice(linucb, "width", "released"), "sigma", 3)); /* is not read */
    add_variant(&indices, with(with_choice(linucb, "width", "given"), "c", 0.1));
    add_variant(&indices,
                with(with(with_choice(linucb, "width", "given"), "c", 0.5), "sigma", 0.5));
    add_variant(&indices, woful);
    add_variant(&indices, with(woful, "scale", 0.05));
    add_variant(&indices, with(with(with(woful, "scale", 0.2), "S", 2), "horizon", 300));
    add_variant(&indices, with_choice(woful, "variant", "released"));
    add_variant(&indices,
                with(with(with_choice(woful, "variant", "released"), "scale", 0.02), "slots", 5));
}

static void list_logistic_bounds(void)
{
    variant ucb = with(variant_of("glm-ucb"), "rows", 4096),
            given = with_choice(ucb, "width", "given");
    add_variant(&indices, ucb);
    add_variant(&indices, with(with(with(ucb, "sigma", 0.1), "S", 2), "horizon", 300));
    add_variant(&indices, with(given, "alpha", 0));
    add_variant(&indices, with(with(given, "alpha", 0.3), "lambda", 0.2));
    add_variant(&indices, with_choice(given, "link", "probit"));
    add_variant(&indices, with(with_choice(ucb, "link", "cloglog"), "S", 1.5));
    add_variant(&gibbs, with(variant_of("pg-ts"), "rows", 4096));
    add_variant(&gibbs, with(with(variant_of("pg-ts"), "rows", 4096), "lambda", 0.2));
}

static bool can_predict(const variant *v)
{
    return v->info->can_predict;
}

static bool is_wide(const variant *v)
{
    return is_kind(v, "cascade-linucb") && !chosen(v, "width", "given");
}

int main(void)
{
    static suite all;
    list_linear();
    list_logistic();
    list_indices();
    list_logistic_bounds();
    ON_VARIANTS(&all, &samplers, predictions_are_the_definition);
    ON_VARIANTS(&all, &samplers, scores_follow_the_law);
    ON_VARIANTS(&all, &indices, lists_are_the_definition);
    ON_SOME_VARIANTS(&all, &indices, predictions_are_the_definition, can_predict);
    ON_SOME_VARIANTS(&all, &indices, ties_are_broken_evenly, is_wide);
    ON_VARIANTS(&all, &gibbs, predictions_are_the_definition);
    ONCE(&all, the_root_is_that_of_logts);
    ONCE(&all, no_sweeps_are_logts);
    return cmocka_run_group_tests_name("every policy with context is its definition", all.test,
                                       NULL, NULL);
}

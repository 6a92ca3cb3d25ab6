/* keys.c - see keys.h. */
#include "lab/plan/keys.h"

#include <string.h>

#include "lab/plan/pool.h"
#include "lab/plan/world_keys.h"

const struct key experiment_keys[] = {
    {"title", "Synthetic non-contextual setting",
     "the name of the experiment (default: the name of the file)"},
    {"kind", "regret",
     "regret: simulate and measure (default); concentration: compare posteriors, see below"},
    {"seed", "1", "every random number follows from it (default 1)"},
    {"rounds", "10000", "the horizon T"},
    {"slots", "3", "how many items are shown in a round, K"},
    {"replications", "400", "how often everything is repeated; with a dataset, on each query"},
    {"checkpoints", "200",
     "how many rounds are recorded, evenly and at powers of ten (default 200), or a list of "
     "rounds"},
    {"world", "{kind: beta, items: 30}", "the environment: items, and what users do"},
    {"policies", "[{name: GTS, kind: gts}]", "the policies to compare"},
    {"sweep", "{key: world.items, values: [10, 100]}",
     "repeat all of it for each value of one key, for named cases, or with a list of two maps for "
     "every combination"},
    {"figures", "[{file: fig-all}]", "what to draw (default: one figure `regret` of all policies)"},
    {"claims", "[{says: GTS wins, tests: [{less: [GTS, TS-Beta]}]}]",
     "what to judge by the results (default: nothing)"},
    {NULL, NULL, NULL},
};

const struct key kind_keys[] = {
    {"kind", "beta", "where the attractions of items come from; the kinds are listed below"},
    {"clicks", "cascade",
     "the click model: what users do with a list (default cascade; of worlds with real rewards "
     "abandon)"},
    {NULL, NULL, NULL},
};

const struct key item_keys[] = {
    {"items", "30", "how many items there are, L; world fixed takes it from its attractions"},
    {NULL, NULL, NULL},
};

const struct key shift_keys[] = {
    {"misspecification", "0",
     "policies get Beta(a+c, b-c) instead of the true prior, c being this number (default 0)"},
    {NULL, NULL, NULL},
};

const struct key given_prior_keys[] = {
    {"prior", "{a: 1, b: 10}",
     "the Beta parameters of the items (default for beta: a uniform on 1..a_max, b = 10)"},
    {NULL, NULL, NULL},
};

const struct key attraction_keys[] = {
    {"attraction", "[0.2, 0.1, 0.05]", "the attraction of each item"},
    {"levels", "[[2, 0.2], [14, 0.05]]", "the same in short, [count, value] pairs"},
    {"features", "[[1, 0], [0.6, 0.8]]",
     "one row of features for each item, for policies with context"},
    {NULL, NULL, NULL},
};

const struct key drifting_keys[] = {
    {"drift", "{kind: walk, rate: 0.01}",
     "attractions that change from round to round (default: they stay)"},
    {NULL, NULL, NULL},
};

const struct key drift_keys[] = {
    {"kind", "walk",
     "walk: in every round the log-odds of every attraction move by a normal; jump: in every round "
     "every item has a chance that its attraction is drawn anew"},
    {"rate", "0.01",
     "walk: the standard deviation of the normal, 0 to 10; jump: the chance, 0 to 1"},
    {NULL, NULL, NULL},
};

const struct key dataset_keys[] = {
    {"data", "Fold1",
     "a folder with train.txt, vali.txt and test.txt, each of them may be a .txt.gz; without "
     "vali.txt a fifth of the training queries serves; of world fitted the file with the click "
     "models, or the folder in which `file` is.  --data sets it"},
    {"shape", "web30k", "without `data`, a set is generated in the shape of web30k or istella"},
    {"generated", "{train: 200, vali: 50, test: 50}", "how many queries are generated"},
    {"queries", "50",
     "at most this many test queries are played, chosen by the seed (default all)"},
    {"grades", "err",
     "how grades attract: err, (2^g - 1) / 2^largest (default), linear, g / largest, or for grades "
     "0..4 perfect, navigational, informational, near-random"},
    {"largest_grade", "4", "where the scale of grades ends (default: at the largest of the data)"},
    {"normalise", "standard",
     "features squashed, standardised and of length at most 1 (default); minmax: to [0,1] in each "
     "query; none"},
    {"rankers", "10", "how many rankers are trained to make the prior (default 10; 0: no prior)"},
    {"scores", "scores.csv",
     "the prior from these scores, one row for each document of the test split"},
    {"scores_as", "calibrated",
     "how scores become probabilities: calibrated (default; those of a file must be from 0 to 1), "
     "minmax or sigmoid within each query, raw"},
    {NULL, NULL, NULL},
};

const struct key fitted_keys[] = {
    {"data", "models.json",
     "the file with the click models, or the folder in which `file` is.  --data sets it"},
    {"file", "models.json", "the name of the file in the folder `data`"},
    {"model", "DCM",
     "which model of the file: CM (clicks cascade), DCM (clicks dcm), DBN (clicks dbn) or PBM "
     "(clicks pbm)"},
    {NULL, NULL, NULL},
};

const struct key prior_keys[] = {
    {"a", "1", "one number, or a list with one for each item"},
    {"b", "10", "the same"},
    {NULL, NULL, NULL},
};

const struct key generated_keys[] = {
    {"train", "200", "queries for the rankers and for scaling features (default 200)"},
    {"vali", "50", "queries that end the training (default 50)"},
    {"test", "50", "queries to be played (default 50)"},
    {NULL, NULL, NULL},
};

const struct key policy_keys[] = {
    {"name", "GTS", "the label in tables and figures (default: the kind)"},
    {"kind", "gts", "which policy it is; `oltr policies` lists them"},
    {"note", "samples with deviation 1/n",
     "what is special about it, for a report (default: nothing)"},
    {"shared", "true",
     "where the queries of a dataset share the rounds: one policy for all of them (default false: "
     "one for each query)"},
    {"items", "10000",
     "how many items it knows: the first ones of the world, and it shows no others (default: all)"},
    {"feedback", "clicks",
     "where users click and give rewards (clicks: abandon): learn from rewards (default), clicks "
     "or both"},
    {"seen", "last",
     "which slots count as examined: first, last (down to that click), true or all "
     "(default: "
     "as the click model of the world has it; needed with clicks: pbm, unless the policy knows "
     "about slots)"},
    {"examine", "[1, 0.6, 0.4]",
     "of pbm-ts and pbm-ucb, how likely each slot is examined: their parameters examine1, "
     "examine2, "
     "... as one list (default: those of the world, where it has clicks: pbm)"},
    {"forget", "{keep: 0.99, every: 100}",
     "after every so many rounds all that it has learned is multiplied by `keep` (default: never)"},
    {NULL, NULL, NULL},
};

const struct key forget_keys[] = {
    {"keep", "0.99", "what is left of all that was learned, 0 to 1"},
    {"every", "100", "after how many rounds, again and again (default 1)"},
    {NULL, NULL, NULL},
};

const struct key sweep_keys[] = {
    {"key", "world.misspecification", "any key that --set takes"},
    {"values", "[0, 2, 4]", "its values, one after the other"},
    {"cases", "{right: {}, shifted: {world.prior_shift: 2}}",
     "in place of key and values: named cases, each a map of the keys that it sets"},
    {"name", "prior", "what tables and figures call it (default: the key; of cases: case)"},
    {NULL, NULL, NULL},
};

const struct key figure_keys[] = {
    {"file", "fig-stand", "the name of the files, without an ending"},
    {"title", "Synthetic non-contextual setting",
     "above the figure (default: the title of the experiment)"},
    {"label", "fig:stand", "the name of the figure in the paper, for a report (default: none)"},
    {"caption", "Cumulative regret.", "under the figure in a report (default: nothing)"},
    {"policies", "[GTS, TS-Beta]", "which labels to show (default: all)"},
    {"rounds", "1000", "the last round to show (default: all)"},
    {"x", "round",
     "round, or sweep: the last regret against the swept key (default when there is a sweep)"},
    {"y", "regret", "regret, ctr (the click rate) or ndcg (of the shown list) (default: regret)"},
    {"bands", "1",
     "half the height of the error bands, in standard errors: 0, 1 (default), 2 or 3"},
    {"bounds", "[thm1, lower]",
     "bounds of the theory to draw: trivial, thm1, thm2, thm3, thm4, thm4-sqrt-t, lower; true: "
     "thm1 (default none)"},
    {"log", "true",
     "logarithmic axes: true, false or auto, where values differ by more than 20 times (default)"},
    {NULL, NULL, NULL},
};

const struct key concentration_keys[] = {
    {"title", "Concentration of posteriors",
     "the name of the experiment (default: the name of the file)"},
    {"kind", "concentration",
     "nothing is simulated: posteriors after the expected number of clicks"},
    {"attraction", "[0.1, 0.5, 0.9]", "one panel for each"},
    {"observations", "100", "how often the item was examined"},
    {"sigma", "[1, 0.5]", "one Gaussian posterior for each"},
    {"figures", "[{file: fig-bvsgpost}]",
     "the name of the figure, and its title (default: fig-bvsgpost)"},
    {"claims", "[{says: Beta is narrow, tests: [{less: [Beta, Gaussian (sigma 1)], measure: sd}]}]",
     "what to judge by summary.csv (default: nothing)"},
    {NULL, NULL, NULL},
};

const struct key panel_keys[] = {
    {"file", "fig-bvsgpost", "the name of the files, without an ending"},
    {"title", "Concentration of posteriors",
     "above the figure (default: the title of the experiment)"},
    {"label", "fig:stand", "the name of the figure in the paper, for a report (default: none)"},
    {"caption", "Cumulative regret.", "under the figure in a report (default: nothing)"},
    {NULL, NULL, NULL},
};

const struct key claim_keys[] = {
    {"figure", "fig-stand", "the file of the figure it is about (default: none)"},
    {"says", "GTS has less regret than TS-Beta", "the claim in words"},
    {"source", "paper", "paper: `says` quotes a paper; ours: it does not (default)"},
    {"tests", "[{of: printed, less: [GTS, TS-Beta]}]", "one for each reading of the claim"},
    {NULL, NULL, NULL},
};

const struct key test_keys[] = {
    {"of", "printed", "which reading it is (default: printed)"},
    {"less", "[GTS, TS-Beta, Ensemble]", "the first has less regret than each of the others"},
    {"more", "[TS-Cascade, GTS, TS-Beta]", "the first has more regret than each of the others"},
    {"factor", "0.5", "less, more: than this many times theirs (default 1)"},
    {"close", "[GTS, TS-Beta]", "each of the others is close to the first"},
    {"within", "0.1", "close: within this share of the first's regret (default 0.1)"},
    {"bound", "thm1", "less, more: each of them is compared with this bound, not with the first"},
    {"not_measurable", "nothing here can decide it",
     "in place of less, more and close: why nothing that is measured can decide it"},
    {"over", "{sigma: [1, 0.5]}",
     "the test once for each value of a setting; {sigma} in its texts stands for the value"},
    {"round", "1000", "when (default: the last round)"},
    {"from", "100", "at all checkpoints from this round on (default: only at `round`)"},
    {"at", "8",
     "at this swept value, or attraction (default: at each of them); of two keys a list, [10, 8] "
     "or [\"*\", 8]"},
    {"against", "0", "each policy at `at` is compared with itself at this swept value"},
    {"measure", "sd", "concentration: mean, sd, entropy, width95 or coverage95"},
    {NULL, NULL, NULL},
};

const struct key_section *key_sections(struct pool *pool)
{
    static const struct key_section sections[] = {
        {"experiment", experiment_keys, NULL},
        {"world", NULL, NULL},
        {"world.prior", prior_keys, NULL},
        {"world.drift", drift_keys, NULL},
        {"world.generated", generated_keys, NULL},
        {"policies", policy_keys,
         "Any parameter of that kind may follow; `oltr policies KIND` lists them. A parameter "
         "`horizon` that is not given is set to `rounds`, a parameter `slots` to `slots`."},
        {"policies.forget", forget_keys, NULL},
        {"sweep", sweep_keys, NULL},
        {"figures", figure_keys, NULL},
        {"claims", claim_keys, NULL},
        {"tests of a claim", test_keys,
         "A test holds, or does not hold, by three standard errors of the paired difference; in "
         "between it is inconclusive."},
        {"experiment of kind concentration", concentration_keys, NULL},
        {NULL, NULL, NULL},
    };
    struct key_section *all = pool_get(pool, 1, sizeof sections);
    if (!all)
        return NULL;
    memcpy(all, sections, sizeof sections);
    all[1].keys = world_section(pool, &all[1].note);
    return all[1].keys ? all : NULL;
}

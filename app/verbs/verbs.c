/* verbs.c - the table of verbs, and the program from its words to its exit code: finds the verb,
 * reads its options, runs it.  command.h explains the tables. */
#define _POSIX_C_SOURCE 200809L
#include "app/verbs/verbs.h"
#include "app/verbs/offers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

static const struct option no_options[] = {{0, NULL, NULL, NULL, NULL}};

const struct verb verbs[] = {
    {"run", "FILE", 1, 1, "run an experiment and write its results and figures",
     "FILE is an experiment in YAML, or `-` for standard input; `oltr help experiment` explains "
     "its keys.  Options override the file.\n"
     "The results go to a folder (see -o).  Ctrl-C stops a run and keeps the finished "
     "replications; `--resume` goes on from there and gives the same bytes as a run that was never "
     "stopped.  A second Ctrl-C ends the program at once.\n"
     "Results of a finished run are not overwritten: with `--resume` they stay as they are, with "
     "`--force` they are replaced.",
     run_options, cmd_run, NULL},
    {"reproduce", "[EXPERIMENT...]", 0, ANY_NUMBER,
     "run every experiment of the paper and write a report",
     "Runs all experiments, or those that are named, each into its own folder, and writes "
     "index.html: every figure, the claims of the paper about it, and whether they hold.  Without "
     "--data the experiments on Web30K and Istella use generated data of the same shape, and the "
     "report says so.\n"
     "Ctrl-C stops it and keeps finished work; the same command goes on from there.  Finished "
     "experiments are not run again.  If an experiment fails, the others still run, and the exit "
     "code is 1.",
     reproduce_options, cmd_reproduce, NULL, offer_experiments},
    {"merge", "DIR...", 1, ANY_NUMBER, "merge the shards of a run",
     "Each DIR is the folder of one or more runs with --shard, all of the same experiment.  "
     "Together they must hold every shard once.  The results are the same bytes as those of a "
     "single run.",
     merge_options, cmd_merge, NULL},
    {"policies", "[NAME]", 0, 1, "list the policies, or explain one with its parameters",
     "NAME is what `kind` of a policy takes in an experiment file.", policies_options, cmd_policies,
     NULL, offer_policies},
    {"plot", "DIR", 1, 1, "draw the figures of a folder of results again",
     "Reads only results.csv (or density.csv) and manifest.json of the folder; nothing is "
     "simulated.  To change a figure, edit its entry in manifest.json and plot again, or edit its "
     ".gp script and run gnuplot on it.",
     plot_options, cmd_plot, NULL},
    {"data", "COMMAND", 0, 0, "inspect, convert or generate files of judged queries",
     "A data set is text with one judged document per line: its grade, its query, its features "
     "(docs/data.md).",
     no_options, NULL, data_verbs},
    {"prior", "COMMAND", 0, 0, "make a prior from judged queries, or measure how good one is",
     "A prior is what a policy assumes about documents before the first click: here, the scores of "
     "offline models.",
     no_options, NULL, prior_verbs},
    {"model", "COMMAND", 0, 0, "keep a model in a file: learn from click logs, rank, look into it",
     "A model is a policy that is served: items with names that come and go, lists that count "
     "once, in a file that survives a crash.  The same files are read and written from C "
     "(oltr/store.h).",
     no_options, NULL, model_verbs},
    {"ope", "LOG...", 1, ANY_NUMBER,
     "off-policy evaluation: what would another policy have earned?",
     "LOG is a log of what was shown and clicked, with the chances that the policy which made it "
     "had "
     "to show it: a decision log of `oltr model rank --log`, CSV with the columns list_id, item, "
     "position, click and prefix_propensity or slot_propensity, Open Bandit CSV (without list "
     "ids), "
     "or queries and events of UBI (docs/off-policy.md).  Plain or gzip, `-` for standard input.\n"
     "A policy is one of `oltr policies` with its parameters, like ts-beta:prior=full, which "
     "learns "
     "from --train or --train-share; greedy:POLICY, which ranks by its mean; columns:NAME, whose "
     "chances are the columns NAME_prefix and NAME_slot of LOG; log:FILE, which shows items in "
     "slots "
     "as often as FILE does; or, by --model, a model in a file.  Several are compared in one "
     "table.\n"
     "A model that has learned from the lists it is evaluated on looks better than it is.  "
     "`--train-share 0.5` learns from half of the lists, chosen by their ids, and evaluates on the "
     "others.",
     ope_options, cmd_ope, NULL},
    {"report", "DIR", 1, 1, "write the page and the tables of a report again",
     "DIR holds folders of results, as `oltr reproduce` leaves them.  Writes index.html (a page "
     "that needs no network and no server), results.csv, summary.csv, claims.csv and summary.tex "
     "(booktabs) from their files; nothing is simulated.",
     report_options, cmd_report, NULL},
    {"version", "", 0, 0, "print the version, and the vector instructions found and used",
     "The environment variable OLTR_CPU limits the instructions that are used: plain, avx2, avx512 "
     "or neon.  Results do not depend on it, only speed.",
     no_options, cmd_version, NULL},
    {"help", "[COMMAND]", 0, 2, "explain a command, or the experiment file",
     "`oltr help experiment` explains the keys of an experiment file.", help_options, cmd_help,
     NULL, offer_commands},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

static int run_verb(const struct verb *verb, int count, char **word)
{
    struct arguments arguments;
    int code = arguments_parse(verb, count, word, &arguments);
    if (code == EXIT_OK && arguments_has(&arguments, "help"))
        help_verb(stdout, verb);
    else if (code == EXIT_OK)
        code = verb->run(&arguments);
    arguments_free(&arguments);
    return code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_all(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--complete") == 0)
        return complete(stdout, (uint32_t)argc - 2, (const char *const *)argv + 2);
    static char help[] = "help", version[] = "version";
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = help;
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        argv[1] = version;
    uint32_t used;
    const struct verb *verb = verb_find((uint32_t)argc - 1, (const char *const *)argv + 1, &used);
    return verb ? run_verb(verb, argc - 1 - (int)used, argv + 1 + used) : EXIT_USAGE;
}

/* Without this the first file that is opened would take the number of a closed standard stream, and
 * answers would be written into it.  Writing to the closed output stays an error. */
static bool hold_standard_streams(void)
{
    static const int access_of[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int stream = 0; stream < 3; stream++)
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", access_of[stream]) != stream)
            return false;
    return true;
}

int cli_main(int argc, char **argv)
{
    if (!hold_standard_streams())
        return EXIT_FAILED;
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of the write, with a
                                       message, not the end */
    int code = dispatch(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK)
        code = complain_output();
    return code;
}

/* help.c - the help on a terminal and the manual pages, both made from the tables of verbs, options
 * and keys. */
#include "app/args/command.h"
#include "lab/plan/keys.h"
#include "lab/plan/pool.h"
#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <string.h>

enum { WIDTH = 78, HELP_COLUMN = 26, PARAGRAPH_SIZE = 1024 };

static const char about[] = "experiments in online learning to rank";

static const char description[] =
    "oltr runs experiments in online learning to rank: policies show lists of items to simulated "
    "users, learn from their clicks, and are compared by their cumulative regret.  An experiment "
    "is a YAML file; its results are CSV and JSON files and figures in a folder.  The same seed "
    "gives the same bytes for any number of threads.\n"
    "It also keeps models in files (`oltr model`): a policy that learns from click logs and ranks.";

struct pair {
    const char *name, *text;
};

static const struct pair files[] = {
    {"results.csv", "one row per swept value, policy and recorded round: sweep, policy, round, "
                    "regret, regret_se, reward, replications"},
    {"summary.csv", "the rows of the last recorded round"},
    {"pairs.csv",
     "the difference between every two policies, paired by replication, with its standard error"},
    {"metrics.csv", "click rate, NDCG and largest regret of every policy at every recorded round"},
    {"queries.csv", "the regret on each query of a dataset"},
    {"claims.csv", "the claims of the experiment with their verdicts"},
    {"manifest.json", "what was run: effective configuration, seed, version, compiler, host, "
                      "seconds, nanoseconds per round of each policy, figures"},
    {"experiment.yaml", "the effective experiment; `oltr run` on it repeats the run"},
    {"FIGURE.svg, .png, .pdf", "each figure, with its script FIGURE.gp and its data FIGURE.csv"},
    {"density.csv", "of an experiment of kind concentration, instead of results.csv"},
    {"MODEL, MODEL.log", "a model, and the calls since it was last written whole (`oltr model`)"},
    {"partial.oltr", "the finished part of a run that was stopped; --resume goes on from it"},
    {NULL, NULL},
};

static const struct pair exit_codes[] = {
    {"0", "success"},
    {"1", "failure: out of memory, a full disk, an error of gnuplot, a partial file that does not "
          "fit, a "
          "model that is damaged or that another process changes, a bad request of a filter"},
    {"2",
     "a mistake in the request: an unknown option, a file or folder that does not exist or is "
     "of the wrong kind, a finished folder without --force, a mistake in the experiment file, a "
     "bad line of a log"},
    {"130", "stopped by Ctrl-C; `run`, `reproduce` and `prior train` also by SIGTERM, which ends "
            "the other commands as a signal (143 in a shell)"},
    {NULL, NULL},
};

static const struct pair examples[] = {
    {"oltr run experiments/noncontextual.yaml",
     "Run an experiment; results and figures go to out/noncontextual."},
    {"oltr run my.yaml -o try1 --rounds 1000 --replications 20 -j 2",
     "A short run, with fewer rounds and replications."},
    {"oltr run my.yaml --set world.items=100 --set policies.GTS.sigma=1",
     "Change single keys of the file."},
    {"oltr run my.yaml --resume", "Go on with a run that was stopped by Ctrl-C."},
    {"oltr policies gts", "Explain a policy and its parameters."},
    {"oltr plot out/noncontextual", "Draw the figures again; nothing is simulated."},
    {"oltr data inspect train.txt -o pictures",
     "Describe a file of judged queries, as a table and a picture."},
    {"oltr model create home.oltr --policy ts-hyper --prior priors.csv",
     "Make a model in a file, with priors of its items."},
    {"oltr model learn home.oltr clicks.csv", "Learn from a click log; each list counts once."},
    {"oltr model rank home.oltr -k 10 --seed \"user 7\"", "Rank its items for a user."},
    {NULL, NULL},
};

/* ---- on a terminal */

void help_fold(FILE *out, const char *words, int indent, int column)
{
    bool first = true;
    for (;;) {
        words += strspn(words, " ");
        size_t length = strcspn(words, " ");
        if (length == 0)
            break;
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)(length < 255 ? length : 255), words);
        int columns = (int)text_width(word);
        if (!first && column + 1 + columns > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%s", first ? "" : " ", word);
        column += columns + !first;
        first = false;
        words += length;
    }
    fputc('\n', out);
}

/* Copies the first paragraph of `text`; returns where the next begins. */
static const char *paragraph(const char *text, char one[PARAGRAPH_SIZE])
{
    size_t length = strcspn(text, "\n");
    snprintf(one, PARAGRAPH_SIZE, "%.*s", (int)length, text);
    return text + length + (text[length] == '\n');
}

static void paragraphs(FILE *out, const char *text)
{
    char one[PARAGRAPH_SIZE];
    while (*text != '\0') {
        text = paragraph(text, one);
        fputc('\n', out);
        help_fold(out, one, 0, 0);
    }
}

/* "  name   words", the words in a column of their own. */
static void entry(FILE *out, const char *name, const char *words)
{
    int used = fprintf(out, "  %s", name);
    if (used + 2 > HELP_COLUMN) {
        fputc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - used, "");
    help_fold(out, words, HELP_COLUMN, HELP_COLUMN);
}

static void option_entry(FILE *out, const struct option *option)
{
    char name[80], letter[8] = "    ";
    if (option->letter != '\0')
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    entry(out, name, option->help);
}

/* "name operands   summary" of all verbs of a table that do something. */
static void verb_entries(FILE *out, const struct verb *table)
{
    for (const struct verb *verb = table; verb->name; verb++) {
        char name[64];
        if (verb->members) {
            verb_entries(out, verb->members);
            continue;
        }
        snprintf(name, sizeof name, "%s %s", verb->name, verb->operands);
        entry(out, name, verb->summary);
    }
}

void help_verb(FILE *out, const struct verb *verb)
{
    fprintf(out, "usage: oltr %s%s%s%s\n\n", verb->name, *verb->operands != '\0' ? " " : "",
            verb->operands, verb->options->name || verb->members ? " [options]" : "");
    help_fold(out, verb->summary, 0, 0);
    paragraphs(out, verb->details);
    if (verb->members) {
        fputs("\ncommands:\n", out);
        verb_entries(out, verb->members);
        fprintf(out, "\n`oltr help %s COMMAND` explains one of them.\n", verb->name);
    }
    fputs("\noptions:\n", out);
    for (const struct option *option = verb->options; option->name; option++)
        option_entry(out, option);
    entry(out, "-h, --help", "print this help");
}

void help_all(FILE *out)
{
    fprintf(out, "oltr %s - %s\n\nusage: oltr COMMAND [options]\n\ncommands:\n", oltr_version(),
            about);
    verb_entries(out, verbs);
    fputs("\n`oltr help COMMAND` explains a command, `oltr help experiment` the experiment "
          "file.\n\nexamples:\n",
          out);
    for (const struct pair *example = examples; example->name; example++)
        fprintf(out, "  %s\n      %s\n", example->name, example->text);
}

void help_experiment(FILE *out)
{
    help_fold(out, "An experiment is a YAML file.  Its keys, each with an example:", 0, 0);
    struct pool pool = {NULL, 0};
    const struct key_section *section = key_sections(&pool);
    for (; section && section->title; section++) {
        fprintf(out, "\n%s:\n", section->title);
        for (const struct key *key = section->keys; key->name; key++) {
            fprintf(out, "  %s: %s\n      ", key->name, key->example);
            help_fold(out, key->help, 6, 6);
        }
        if (section->note) {
            fputs("  ", out);
            help_fold(out, section->note, 2, 2);
        }
    }
    pool_free(&pool);
}

/* ---- as manual pages: man(7) */

/* Text for troff: dots, quotes, backslashes and hyphens are escaped; `words` become bold. */
static void troff(FILE *out, const char *text)
{
    static const char special[] = "\\-'^~";
    static const char *const escape[] = {"\\e", "\\-", "\\(aq", "\\(ha", "\\(ti"};
    bool bold = false, start = true;
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        start = *text == '\n';
        bold = bold != (*text == '`');
        if (*text == '`')
            fputs(bold ? "\\fB" : "\\fR", out);
        else if (found)
            fputs(escape[found - special], out);
        else
            fputc(*text, out);
    }
}

/* An entry of a list: a bold name, and its text below. */
static void man_entry(FILE *out, const char *name, const char *example, const char *text)
{
    fputs(".TP\n\\fB", out);
    troff(out, name);
    fputs(*example != '\0' ? "\\fR: " : "\\fR", out);
    troff(out, example);
    fputc('\n', out);
    troff(out, text);
    fputc('\n', out);
}

static void man_pairs(FILE *out, const char *section, const struct pair *pair)
{
    fprintf(out, ".SH %s\n", section);
    for (; pair->name; pair++)
        man_entry(out, pair->name, "", pair->text);
}

static void man_option(FILE *out, const struct option *option)
{
    fputs(".TP\n", out);
    if (option->letter != '\0')
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    troff(out, option->name);
    fputs("\\fR", out);
    if (option->argument)
        fprintf(out, " \\fI%s\\fR", option->argument);
    fputc('\n', out);
    troff(out, option->help);
    fputc('\n', out);
}

static void man_synopsis(FILE *out, const struct verb *table)
{
    for (const struct verb *verb = table; verb->name; verb++) {
        if (verb->members) {
            man_synopsis(out, verb->members);
            continue;
        }
        fprintf(out, "%s\\fBoltr %s\\fR %s%s\n", verb == verbs ? "" : ".br\n", verb->name,
                verb->operands, verb->options->name ? " [\\fIoptions\\fR]" : "");
    }
}

/* The summary, what there is to know, and the options. */
static void man_details(FILE *out, const struct verb *verb)
{
    for (const char *text = verb->details; *text != '\0';) {
        char one[PARAGRAPH_SIZE];
        text = paragraph(text, one);
        fputs(".PP\n", out);
        troff(out, one);
        fputc('\n', out);
    }
}

static void man_verb(FILE *out, const struct verb *verb)
{
    fprintf(out, ".SS oltr %s %s\n", verb->name, verb->operands);
    troff(out, verb->summary);
    fputc('\n', out);
    man_details(out, verb);
    for (const struct option *option = verb->options; option->name; option++)
        man_option(out, option);
    for (const struct verb *member = verb->members; member && member->name; member++)
        man_verb(out, member);
}

static void man_keys(FILE *out, const char *heading)
{
    struct pool pool = {NULL, 0};
    const struct key_section *section = key_sections(&pool);
    for (; section && section->title; section++) {
        fprintf(out, ".%s %s\n", heading, section->title);
        for (const struct key *key = section->keys; key->name; key++)
            man_entry(out, key->name, key->example, key->help);
        if (section->note) {
            fputs(".PP\n", out);
            troff(out, section->note);
            fputc('\n', out);
        }
    }
    pool_free(&pool);
}

/* The first lines of a page; `title` in capitals, as man(7) has it. */
static void man_head(FILE *out, const char *name, const char *section, const char *summary)
{
    fputs(".TH ", out);
    for (const char *at = name; *at != '\0'; at++)
        fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, out);
    fprintf(out, " %s \"\" \"oltr %s\" \"%s\"\n.SH NAME\n", section, oltr_version(),
            *section == '1' ? "User Commands" : "File Formats");
    troff(out, name);
    fputs(" \\- ", out);
    troff(out, summary);
    fputc('\n', out);
}

const char *help_page_name(const struct verb *verb, char name[PAGE_NAME_SIZE])
{
    snprintf(name, PAGE_NAME_SIZE, "oltr-%s", verb->name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == ' ')
            *at = '-';
    return name;
}

static void man_page_links(FILE *out, const struct verb *table)
{
    char name[PAGE_NAME_SIZE];
    for (const struct verb *verb = table; verb->name; verb++) {
        fputs("\\fB", out);
        troff(out, help_page_name(verb, name));
        fputs("\\fR(1),\n", out);
    }
}

void help_man(FILE *out)
{
    man_head(out, "oltr", "1", about);
    fputs(".SH SYNOPSIS\n", out);
    man_synopsis(out, verbs);
    fputs(".SH DESCRIPTION\n", out);
    troff(out, description);
    fputs("\n.SH COMMANDS\nEvery command takes \\fB\\-h\\fR and \\fB\\-\\-help\\fR.\n", out);
    for (const struct verb *verb = verbs; verb->name; verb++)
        man_verb(out, verb);
    fputs(".SH EXPERIMENT FILE\nYAML, with these keys:\n", out);
    man_keys(out, "SS");
    man_pairs(out, "FILES", files);
    man_pairs(out, "EXIT STATUS", exit_codes);
    man_pairs(out, "EXAMPLES", examples);
    fputs(".SH SEE ALSO\n", out);
    man_page_links(out, verbs);
    fputs("\\fBoltr\\-experiment\\fR(5)\n", out);
}

static const struct option help_switch = {'h', "help", NULL, NULL, "print the help"};

void help_man_verb(FILE *out, const struct verb *verb)
{
    char name[PAGE_NAME_SIZE];
    man_head(out, help_page_name(verb, name), "1", verb->summary);
    fprintf(out, ".SH SYNOPSIS\n\\fBoltr %s\\fR %s [\\fIoptions\\fR]\n", verb->name,
            verb->operands);
    fputs(".SH DESCRIPTION\n", out);
    if (*verb->details == '\0')
        troff(out, verb->summary);
    man_details(out, verb);
    fputs(verb->members ? "\n.SH COMMANDS\n" : "\n.SH OPTIONS\n", out);
    for (const struct verb *member = verb->members; member && member->name; member++)
        man_entry(out, member->name, "", member->summary);
    for (const struct option *option = verb->options; !verb->members && option->name; option++)
        man_option(out, option);
    if (!verb->members)
        man_option(out, &help_switch);
    man_pairs(out, "EXIT STATUS", exit_codes);
    fputs(".SH SEE ALSO\n", out);
    if (verb->members)
        man_page_links(out, verb->members);
    fputs("\\fBoltr\\fR(1), \\fBoltr\\-experiment\\fR(5)\n", out);
}

void help_man_experiment(FILE *out)
{
    man_head(out, "oltr-experiment", "5", "the experiment file of oltr run");
    fputs(".SH DESCRIPTION\nAn experiment is a YAML file.  Each key is shown with an example.\n",
          out);
    man_keys(out, "SH");
    fputs(".SH SEE ALSO\n\\fBoltr\\-run\\fR(1), \\fBoltr\\fR(1)\n", out);
}

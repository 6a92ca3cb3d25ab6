/* model_calls.c - one model of oltr/model.h, driven by lines on the standard input; the twin of a
 * key of the Redis module in tests/serve/twin.py.
 *
 * A line is a call and its words, separated by single spaces; bytes are in hexadecimal, `-` is
 * none.  The answer is one line: `ok` and what the call gives, or `error` and the status.
 *
 *   new KIND [NAME VALUE]...        load HEX        like STRENGTH        image
 *   learn ID EXAMINE DEPTH LIST REWARD... (- | WEIGHT...) (- | MASK...)
 *   prior N (NAME FIRST SECOND)...  remove N NAME...   reset N NAME...   trim IDLE
 *   forget KEEP ID                  merge ID HEX
 *   rank K SEED SHOW LIST           predict LIST       propensity K DRAWS SEED SHOW LIST
 *   SHOW: GREEDY BELOW LEAST MOST   LIST: a | n N NAME... | x N DIM HEX
 */
#include <oltr/model.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LIST = 1 << 16, MOST_LINE = 1 << 26 };

static oltr_model *model;
static oltr_model_scratch *scratch;
static oltr_error failure;
static char *rest; /* of the line */
static oltr_name name[MOST_LIST];
static double number[2 * MOST_LIST], second[2 * MOST_LIST];
static uint8_t mask[MOST_LIST];
static uint32_t place[MOST_LIST];

static void give_up(const char *why)
{
    fprintf(stderr, "model_calls: %s\n", why);
    exit(1);
}

static const char *word(void)
{
    char *w = rest;
    if (!w)
        give_up("a word is missing");
    rest = strchr(w, ' ');
    if (rest)
        *rest++ = 0;
    return w;
}

static double real(void)
{
    return strtod(word(), NULL);
}

static uint32_t whole(void)
{
    uint32_t n = (uint32_t)strtoul(word(), NULL, 10);
    if (n > MOST_LIST)
        give_up("a number is too large");
    return n;
}

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a word, in its own place. */
static oltr_name bytes(void)
{
    char *w = (char *)word();
    size_t n = strcmp(w, "-") == 0 ? 0 : strlen(w) / 2;
    for (size_t i = 0; i < n; i++)
        w[i] = (char)(nibble(w[2 * i]) << 4 | nibble(w[2 * i + 1]));
    return (oltr_name){w, (uint32_t)n};
}

static void names(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        name[i] = bytes();
}

static oltr_list list(void)
{
    static float x[1 << 20];
    oltr_list l = {0};
    char form = *word();
    if (form == 'a')
        return l;
    l.n = whole();
    if (form == 'n') {
        names(l.n);
        l.name = name;
        return l;
    }
    l.stride = whole();
    oltr_name rows = bytes();
    if (rows.size > sizeof x)
        give_up("too many features");
    memcpy(x, rows.bytes, rows.size);
    l.x = x;
    return l;
}

/* Numbers, unless the word is `-`. */
static const double *numbers(uint32_t n, double *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *w = word();
        if (i == 0 && strcmp(w, "-") == 0)
            return NULL;
        to[i] = strtod(w, NULL);
    }
    return to;
}

static void replace(oltr_model *by)
{
    if (!by)
        return;
    oltr_model_free(model);
    model = by;
}

static oltr_status make(void)
{
    oltr_model_settings s;
    oltr_status status = oltr_model_settings_init(&s, word(), &failure);
    while (status == OLTR_OK && rest) {
        const char *option = word();
        status = oltr_model_settings_set(&s, option, word(), &failure);
    }
    oltr_model *made = status == OLTR_OK ? oltr_model_new(&s, &failure) : NULL;
    replace(made);
    return made ? OLTR_OK : failure.code;
}

static oltr_status load(void)
{
    oltr_name image = bytes();
    oltr_model *made = oltr_model_load(image.bytes, image.size, NULL, NULL, &failure);
    replace(made);
    return made ? OLTR_OK : failure.code;
}

static oltr_status like(void)
{
    oltr_model *made = oltr_model_like(model, real(), NULL, &failure);
    replace(made);
    return made ? OLTR_OK : failure.code;
}

static oltr_status learn(void)
{
    oltr_lesson l = {.id = bytes()};
    int applied = 0;
    l.examine = whole();
    l.depth = whole();
    l.shown = list();
    l.reward = numbers(l.shown.n, number);
    l.weight = numbers(l.shown.n, second);
    if (l.examine == OLTR_EXAMINE_MASK)
        for (uint32_t i = 0; i < l.shown.n; i++)
            mask[i] = (uint8_t)whole();
    l.examined = l.examine == OLTR_EXAMINE_MASK ? mask : NULL;
    oltr_status status = oltr_model_learn(model, &l, &applied, &failure);
    if (status == OLTR_OK)
        printf("ok %d\n", applied);
    return status;
}

static oltr_status prior(void)
{
    uint32_t n = whole();
    for (uint32_t i = 0; i < n; i++) {
        name[i] = bytes();
        number[2 * i] = real();
        number[2 * i + 1] = real();
    }
    return oltr_model_prior(model, name, number, n, &failure);
}

static oltr_status count_of(oltr_status (*call)(oltr_model *, const oltr_name *, uint32_t,
                                                uint32_t *, oltr_error *))
{
    uint32_t n = whole(), done = 0;
    names(n);
    oltr_status status = call(model, name, n, &done, &failure);
    if (status == OLTR_OK)
        printf("ok %u\n", done);
    return status;
}

static oltr_status remove_items(void)
{
    return count_of(oltr_model_remove);
}

static oltr_status reset_items(void)
{
    return count_of(oltr_model_reset);
}

static oltr_status trim(void)
{
    uint32_t removed = 0;
    oltr_status status = oltr_model_trim(model, strtoull(word(), NULL, 10), &removed, &failure);
    if (status == OLTR_OK)
        printf("ok %u\n", removed);
    return status;
}

static oltr_status forget(void)
{
    double keep = real();
    int applied = 0;
    oltr_status status = oltr_model_forget(model, keep, bytes(), &applied, &failure);
    if (status == OLTR_OK)
        printf("ok %d\n", applied);
    return status;
}

static oltr_status merge(void)
{
    oltr_name id = bytes(), image = bytes();
    int applied = 0;
    oltr_model *from = oltr_model_load(image.bytes, image.size, NULL, NULL, &failure);
    oltr_status status =
        from ? oltr_model_merge(model, from, id, &applied, &failure) : failure.code;
    oltr_model_free(from);
    if (status == OLTR_OK)
        printf("ok %d\n", applied);
    return status;
}

static oltr_status image(void)
{
    size_t bound = oltr_model_save_bound(model), size = 0;
    unsigned char *byte = malloc(bound ? bound : 1);
    oltr_status status =
        byte ? oltr_model_save(model, byte, bound, &size) : (failure.code = OLTR_ENOMEM);
    if (status == OLTR_OK) {
        printf("ok ");
        for (size_t i = 0; i < size; i++)
            printf("%02x", byte[i]);
        printf("\n");
    }
    free(byte);
    return status;
}

static void read_show(oltr_show *show)
{
    show->greedy = whole();
    show->fresh_below = real();
    show->least_fresh = whole();
    show->most_fresh = whole();
}

static oltr_rng seed(void)
{
    oltr_name text = bytes();
    return oltr_rng_text(text.bytes, text.size);
}

static oltr_status rank(void)
{
    oltr_show show = {.k = whole(), .place = place, .score = number};
    oltr_rng rng = seed();
    read_show(&show);
    oltr_list l = list();
    oltr_status status = oltr_model_rank(model, &l, rng, scratch, &show, &failure);
    if (status != OLTR_OK)
        return status;
    printf("ok");
    for (uint32_t i = 0; i < show.k; i++)
        printf(" %u %.17g", place[i], number[i]);
    printf("\n");
    return status;
}

static void print_pairs(uint32_t n)
{
    printf("ok");
    for (uint32_t i = 0; i < n; i++)
        printf(" %.17g %.17g", number[i], second[i]);
    printf("\n");
}

static oltr_status predict(void)
{
    oltr_list l = list();
    oltr_status status = oltr_model_predict(model, &l, number, second, &failure);
    if (status == OLTR_OK)
        print_pairs(l.n ? l.n : oltr_model_items(model));
    return status;
}

static oltr_status propensity(void)
{
    oltr_show show = {.k = whole()};
    uint32_t draws = whole();
    oltr_rng rng = seed();
    read_show(&show);
    oltr_list l = list();
    oltr_status status =
        oltr_model_propensity(model, &l, &show, draws, rng, scratch, number, second, &failure);
    if (status == OLTR_OK)
        print_pairs(l.n ? l.n : oltr_model_items(model));
    return status;
}

static const struct {
    const char *name;
    oltr_status (*run)(void);
    bool answers; /* prints its own `ok` */
} calls[] = {{"new", make, false},         {"load", load, false},
             {"like", like, false},        {"learn", learn, true},
             {"prior", prior, false},      {"remove", remove_items, true},
             {"reset", reset_items, true}, {"trim", trim, true},
             {"forget", forget, true},     {"merge", merge, true},
             {"image", image, true},       {"rank", rank, true},
             {"predict", predict, true},   {"propensity", propensity, true}};

static void run_line(void)
{
    const char *what = word();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(what, calls[i].name) != 0)
            continue;
        failure = (oltr_error){OLTR_OK, ""};
        oltr_status status = calls[i].run();
        if (status != OLTR_OK)
            printf("error %s %s\n", oltr_status_name(status), failure.msg);
        else if (!calls[i].answers)
            printf("ok\n");
        fflush(stdout);
        return;
    }
    give_up(what);
}

int main(void)
{
    char *line = malloc(MOST_LINE);
    scratch = oltr_model_scratch_new(NULL);
    if (!line || !scratch)
        give_up("no memory");
    while (fgets(line, MOST_LINE, stdin)) {
        line[strcspn(line, "\n")] = 0;
        rest = line;
        run_line();
    }
    oltr_model_free(model);
    oltr_model_scratch_free(scratch);
    free(line);
    return 0;
}

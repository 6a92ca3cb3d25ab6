/* hostile_commands.c - see hostile_commands.h. */
#include "hostile_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- choices */

uint32_t pick(chooser *c, uint32_t n)
{
    uint32_t x = 0;
    if (!c->byte)
        return below(&c->luck, n);
    for (uint32_t most = n; most > 1 && c->left > 0; most = (most + 255) / 256) {
        x = x << 8 | *c->byte++;
        c->left--;
    }
    return x % n;
}

bool chance(chooser *c, uint32_t percent)
{
    return pick(c, 100) < percent;
}

/* ---- a command */

void begin_command(command *c, const char *name)
{
    c->n = 0;
    c->used = 0;
    c->changed = false;
    add_word(c, name);
}

void add_bytes(command *c, const void *at, size_t size)
{
    if (c->n == MOST_ARGS || size > sizeof c->room - c->used)
        return;
    unsigned char *to = c->room + c->used;
    if (size)
        memcpy(to, at, size);
    c->used += size;
    c->arg[c->n++] = (text){to, size};
}

/* In any case. */
void add_word(command *c, const char *word)
{
    add_bytes(c, word, strlen(word));
}

void add_long(command *c, long long x)
{
    char room[32];
    add_bytes(c, room, (size_t)snprintf(room, sizeof room, "%lld", x));
}

void add_number(command *c, double x)
{
    char room[40];
    add_bytes(c, room, (size_t)snprintf(room, sizeof room, "%.17g", x));
}

/* ---- names */

text key_at(uint32_t i)
{
    static const char *const names[N_SHELVES] = {"k0", "k1", "k2", "LIKE", "\r\nk4", "k5"};
    return text_of(names[i]);
}

int shelf_of(text key)
{
    for (uint32_t i = 0; i < N_SHELVES; i++)
        if (same_text(key, key_at(i)))
            return (int)i;
    return -1;
}

text pool_name(uint32_t i)
{
    static unsigned char byte[N_POOL][OLTR_LONGEST_NAME + 1];
    static size_t size[N_POOL];
    static const text odd[] = {{"", 0},       {NULL, 513},    {NULL, 512}, {"\0", 1},
                               {"a\0b", 3},   {"\r\n+OK", 5}, {"ALL", 3},  {"%s%n", 4},
                               {"CLICKS", 6}, {"\xff\xfe", 2}};
    if (size[N_POOL - 1] == 0)
        for (uint32_t j = 0; j < N_POOL; j++) {
            size[j] =
                (size_t)snprintf((char *)byte[j], 64, j >= N_POOL - 16 ? "%04u" : "item-%u", j);
            if (j >= COUNT(odd))
                continue;
            size[j] = odd[j].size;
            memset(byte[j], 'n', sizeof byte[j]);
            if (odd[j].bytes)
                memcpy(byte[j], odd[j].bytes, odd[j].size);
        }
    return (text){byte[i], size[i]};
}

bool is_servable(const oltr_policy_info *info)
{
    return info->contextual || info->by_item;
}

void keep_picture(generator *g, const void *image, size_t size)
{
    picture *p = &g->picture[pick(&g->choose, N_PICTURES)];
    if (size > 1 << 16)
        return;
    free(p->byte);
    p->byte = malloc(size ? size : 1);
    p->size = p->byte ? size : 0;
    if (p->byte)
        memcpy(p->byte, image, size);
}

void forget_pictures(generator *g)
{
    for (uint32_t i = 0; i < N_PICTURES; i++) {
        free(g->picture[i].byte);
        g->picture[i] = (picture){NULL, 0};
    }
}

/* ---- parts of commands */

static void add_seed(generator *g)
{
    char seed[16];
    snprintf(seed, sizeof seed, "user %u", pick(&g->choose, 8));
    add_word(&g->command, "SEED");
    add_word(&g->command, seed);
}

static void add_id(generator *g)
{
    char id[24];
    bool again = g->id > 0 && chance(&g->choose, 30);
    snprintf(id, sizeof id, "id-%u", again ? pick(&g->choose, g->id) : g->id++);
    add_word(&g->command, "ID");
    add_word(&g->command, id);
}

static float feature(chooser *c)
{
    static const float odd[] = {0, 1, -1, 1e-30f, 1e6f, 1e30f};
    if (chance(c, 4))
        return odd[pick(c, COUNT(odd))];
    return (float)((int)pick(c, 2001) - 1000) / 2000;
}

static void add_rows(generator *g, uint32_t n, uint32_t dim)
{
    float x[64 * 16];
    for (uint32_t i = 0; i < n * dim && i < COUNT(x); i++)
        x[i] = feature(&g->choose);
    add_word(&g->command, "FP32");
    add_bytes(&g->command, x, (n * dim < COUNT(x) ? n * dim : COUNT(x)) * sizeof *x);
}

/* Distinct names from `first` of the pool on. */
static uint32_t draw_names(chooser *c, uint32_t most, uint32_t first, uint32_t *out)
{
    bool taken[N_POOL] = {false};
    uint32_t n = 0;
    for (uint32_t tries = 1 + pick(c, most); tries > 0; tries--) {
        uint32_t i = first + pick(c, N_POOL - first);
        if (!taken[i])
            out[n++] = i;
        taken[i] = true;
    }
    return n;
}

static uint32_t add_fixed(generator *g, uint32_t most)
{
    uint32_t name[64], n = draw_names(&g->choose, most, N_POOL - 16, name);
    char ids[64 * 4];
    for (uint32_t i = 0; i < n; i++)
        memcpy(ids + 4 * i, pool_name(name[i]).bytes, 4);
    add_word(&g->command, "FIXED");
    add_long(&g->command, 4);
    add_bytes(&g->command, ids, 4 * n);
    return n;
}

static uint32_t add_items(generator *g, uint32_t most)
{
    uint32_t name[64], n = draw_names(&g->choose, most, 2, name);
    add_word(&g->command, "ITEMS");
    add_long(&g->command, n);
    for (uint32_t i = 0; i < n; i++)
        add_bytes(&g->command, pool_name(name[i]).bytes, pool_name(name[i]).size);
    return n;
}

/* How many candidates it has. */
static uint32_t add_list(generator *g, const shelf *at, bool all, uint32_t most)
{
    chooser *c = &g->choose;
    if (at->info && at->info->contextual && !chance(c, 3)) {
        uint32_t n = 1 + pick(c, most < at->candidates ? most : at->candidates);
        add_rows(g, n, at->dim);
        return n;
    }
    if (all && chance(c, 30)) {
        add_word(&g->command, "ALL");
        return at->items;
    }
    return chance(c, 40) ? add_fixed(g, most) : add_items(g, most);
}

static void add_show(generator *g)
{
    chooser *c = &g->choose;
    if (chance(c, 25))
        add_word(&g->command, "GREEDY");
    if (chance(c, 25)) {
        add_word(&g->command, "FRESH");
        add_long(&g->command, pick(c, 4));
        add_number(&g->command, pick(c, 5));
        if (chance(c, 40)) {
            add_word(&g->command, "LEAST");
            add_long(&g->command, pick(c, 3));
        }
    }
}

static void add_pair(generator *g, const oltr_policy_info *info)
{
    chooser *c = &g->choose;
    bool moments = info && info->takes_moments;
    add_number(&g->command, moments ? pick(c, 64) / 64.0 : 1 + pick(c, 64) / 8.0);
    add_number(&g->command, (1 + pick(c, 32)) / (moments ? 128.0 : 4.0));
}

/* ---- commands */

static void add_parameter(generator *g, const oltr_param *p)
{
    chooser *c = &g->choose;
    add_word(&g->command, p->name);
    if (p->type == OLTR_CHOICE) {
        uint32_t n = 0;
        while (p->choices[n])
            n++;
        add_word(&g->command, p->choices[pick(c, n)]);
        return;
    }
    double x = chance(c, 60) ? p->initial : chance(c, 50) ? p->min : p->max;
    add_number(&g->command, x);
}

static void add_parameters(generator *g, const oltr_policy_info *info, bool told)
{
    chooser *c = &g->choose;
    add_word(&g->command, "SET");
    if (told) {
        add_word(&g->command, "prior");
        add_word(&g->command, "full");
    }
    for (uint32_t i = 0; i < info->n_params; i++)
        if (strcmp(info->params[i].name, "prior") != 0 && chance(c, 30))
            add_parameter(g, &info->params[i]);
}

static void draw_like(generator *g)
{
    chooser *c = &g->choose;
    text parent = key_at(pick(c, N_SHELVES));
    add_word(&g->command, "LIKE");
    add_bytes(&g->command, parent.bytes, parent.size);
    if (chance(c, 50)) {
        static const double strength[] = {1, 0.5, 0.1, 1e-3};
        add_word(&g->command, "STRENGTH");
        add_number(&g->command, strength[pick(c, COUNT(strength))]);
    }
}

static void add_sizes(generator *g, const oltr_policy_info *info)
{
    chooser *c = &g->choose;
    command *k = &g->command;
    if (info->contextual) {
        add_word(k, "DIM");
        add_long(k, 1 + pick(c, 4));
        add_word(k, "CANDIDATES");
        add_long(k, 1 + pick(c, 24));
    } else if (chance(c, 30)) {
        add_word(k, "MAXITEMS");
        add_long(k, 1 + pick(c, 40));
    }
    if (!info->contextual && chance(c, 20)) {
        add_word(k, "CAPACITY");
        add_long(k, 1 + pick(c, 40));
    }
    if (chance(c, 50)) {
        add_word(k, "WINDOW");
        add_long(k, pick(c, 12));
    }
}

static void draw_create(generator *g, const shelf *at)
{
    static const char *const rules[] = {"CASCADE", "LAST", "ALL", "cascade"};
    chooser *c = &g->choose;
    const oltr_policy_info *info = oltr_policy_info_at(pick(c, oltr_policy_count()));
    bool told = info->uses_prior && chance(c, 60);
    (void)at;
    if (chance(c, 15)) {
        draw_like(g);
        return;
    }
    add_word(&g->command, info->name);
    add_sizes(g, info);
    if (chance(c, 40)) {
        add_word(&g->command, "EXAMINE");
        add_word(&g->command, rules[pick(c, COUNT(rules))]);
    }
    if (told) {
        add_word(&g->command, "PRIOR");
        add_pair(g, info);
    }
    if (told || chance(c, 20))
        add_parameters(g, info, told);
}

static void draw_rank(generator *g, const shelf *at)
{
    add_long(&g->command, 1 + pick(&g->choose, 20));
    add_list(g, at, true, 16);
    if (chance(&g->choose, 60))
        add_seed(g);
    if (chance(&g->choose, 40))
        add_word(&g->command, "WITHSCORES");
    add_show(g);
}

/* The clicked positions of n, in any order, and the last of them. */
static uint32_t add_positions(generator *g, const char *word, uint32_t n, bool always_first)
{
    uint32_t place[64], k = 0, last = 0;
    for (uint32_t i = 0; i < n; i++)
        if ((always_first && i == 0) || chance(&g->choose, 25)) {
            place[k++] = i + 1;
            last = i + 1;
        }
    add_word(&g->command, word);
    add_long(&g->command, k);
    for (uint32_t i = 0; i < k; i++)
        add_long(&g->command, place[k - 1 - i]);
    return last;
}

static void add_rewards(generator *g, const shelf *at, uint32_t n)
{
    static const double real[] = {0, 1, 0.5, -2, 1e30, 3e-300};
    add_word(&g->command, "REWARDS");
    for (uint32_t i = 0; i < n; i++)
        add_number(&g->command, at->info && at->info->rewards == OLTR_REALS
                                    ? real[pick(&g->choose, COUNT(real))]
                                    : pick(&g->choose, 2));
}

static void add_examined(generator *g, uint32_t n, uint32_t last)
{
    if (chance(&g->choose, 50)) {
        add_word(&g->command, "SEEN");
        add_long(&g->command, last + pick(&g->choose, n - last + 1));
    } else {
        add_word(&g->command, "EXAMINED");
        add_long(&g->command, n);
        for (uint32_t i = n; i > 0; i--)
            add_long(&g->command, i);
    }
}

static void draw_learn(generator *g, const shelf *at)
{
    chooser *c = &g->choose;
    uint32_t n = add_list(g, at, false, 8), last = n;
    if (chance(c, 60))
        last = add_positions(g, "CLICKS", n, false);
    else
        add_rewards(g, at, n);
    if (chance(c, 35))
        add_examined(g, n, last);
    if (chance(c, 20)) {
        static const double weight[] = {1, 0.25, 3, 1e6};
        add_word(&g->command, "WEIGHTS");
        for (uint32_t i = 0; i < n; i++)
            add_number(&g->command, weight[pick(c, COUNT(weight))]);
    }
    if (chance(c, 50))
        add_id(g);
}

static void draw_predict(generator *g, const shelf *at)
{
    add_list(g, at, true, 16);
}

static void draw_propensity(generator *g, const shelf *at)
{
    chooser *c = &g->choose;
    add_long(&g->command, 1 + pick(c, 8));
    add_list(g, at, true, 8);
    if (chance(c, 80)) {
        add_word(&g->command, "DRAWS");
        add_long(&g->command, 1 + pick(c, 16));
    }
    if (chance(c, 40))
        add_seed(g);
    add_show(g);
}

static void draw_prior(generator *g, const shelf *at)
{
    uint32_t name[8], n = draw_names(&g->choose, 6, 2, name);
    for (uint32_t i = 0; i < n; i++) {
        add_bytes(&g->command, pool_name(name[i]).bytes, pool_name(name[i]).size);
        add_pair(g, at->info);
    }
}

static void draw_removal(generator *g, const shelf *at)
{
    uint32_t name[8], n = draw_names(&g->choose, 5, 2, name);
    (void)at;
    for (uint32_t i = 0; i < n; i++)
        add_bytes(&g->command, pool_name(name[i]).bytes, pool_name(name[i]).size);
}

static void draw_trim(generator *g, const shelf *at)
{
    (void)at;
    add_word(&g->command, "IDLE");
    add_long(&g->command, 1 + pick(&g->choose, 12));
}

static void draw_scan(generator *g, const shelf *at)
{
    add_long(&g->command, pick(&g->choose, at->items + 2));
    if (chance(&g->choose, 50)) {
        add_word(&g->command, "COUNT");
        add_long(&g->command, 1 + pick(&g->choose, 12));
    }
}

static void draw_forget(generator *g, const shelf *at)
{
    static const double keep[] = {1, 0, 0.5, 0.99, 1e-300};
    (void)at;
    add_number(&g->command, keep[pick(&g->choose, COUNT(keep))]);
    if (chance(&g->choose, 60))
        add_id(g);
}

/* Of a model that was there once, or of one that is there: of this shelf where it is not NULL. */
static void add_picture(generator *g, const shelf *of)
{
    const picture *p = &g->picture[pick(&g->choose, N_PICTURES)];
    uint32_t which = of ? (uint32_t)(of - g->shelf) : pick(&g->choose, N_SHELVES);
    if (chance(&g->choose, 50) && g->live[which].at)
        add_bytes(&g->command, g->live[which].at, g->live[which].size);
    else
        add_bytes(&g->command, p->byte ? (const void *)p->byte : "OLTRMODL", p->byte ? p->size : 8);
}

static void draw_merge(generator *g, const shelf *at)
{
    add_picture(g, at);
    if (chance(&g->choose, 60))
        add_id(g);
}

static void draw_load(generator *g, const shelf *at)
{
    (void)at;
    add_picture(g, NULL);
    if (chance(&g->choose, 60))
        add_word(&g->command, "REPLACE");
}

static void draw_dump(generator *g, const shelf *at)
{
    (void)at;
    if (chance(&g->choose, 50)) {
        add_word(&g->command, "IFNEWER");
        add_long(&g->command, pick(&g->choose, 40));
    }
}

static void draw_nothing(generator *g, const shelf *at)
{
    (void)g;
    (void)at;
}

/* name, how often of a hundred where there is a model, its arguments */
static const struct grammar {
    const char *name;
    uint32_t often;
    void (*draw)(generator *g, const shelf *at);
} grammar[] = {{"OLTR.RANK", 16, draw_rank},
               {"OLTR.LEARN", 26, draw_learn},
               {"OLTR.PREDICT", 5, draw_predict},
               {"OLTR.EXPLAIN", 5, draw_predict},
               {"OLTR.PROPENSITY", 5, draw_propensity},
               {"OLTR.PRIOR", 6, draw_prior},
               {"OLTR.REM", 4, draw_removal},
               {"OLTR.RESET", 4, draw_removal},
               {"OLTR.TRIM", 2, draw_trim},
               {"OLTR.SCAN", 4, draw_scan},
               {"OLTR.FORGET", 4, draw_forget},
               {"OLTR.MERGE", 5, draw_merge},
               {"OLTR.DUMP", 3, draw_dump},
               {"OLTR.LOAD", 3, draw_load},
               {"OLTR.INFO", 3, draw_nothing},
               {"OLTR.KINDS", 1, draw_nothing},
               {"OLTR.CREATE", 4, draw_create}};

/* ---- mutations */

static void add_odd_argument(generator *g, text *to)
{
    static const char *const odd[] = {"",
                                      "0",
                                      "-1",
                                      "1",
                                      "2",
                                      "1e308",
                                      "nan",
                                      "inf",
                                      "-inf",
                                      "0x10",
                                      " 1",
                                      "1 ",
                                      "01",
                                      "+1",
                                      "1.5",
                                      "4294967296",
                                      "2147483648",
                                      "-9223372036854775808",
                                      "1e400",
                                      "1e-400",
                                      "65537",
                                      "1048577",
                                      "9223372036854775807",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "99999999999999999999999999",
                                      "ALL",
                                      "ITEMS",
                                      "FIXED",
                                      "FP32",
                                      "SEED",
                                      "WITHSCORES",
                                      "GREEDY",
                                      "FRESH",
                                      "LEAST",
                                      "CLICKS",
                                      "REWARDS",
                                      "SEEN",
                                      "EXAMINED",
                                      "WEIGHTS",
                                      "ID",
                                      "SET",
                                      "LIKE",
                                      "STRENGTH",
                                      "PRIOR",
                                      "DIM",
                                      "CANDIDATES",
                                      "CAPACITY",
                                      "MAXITEMS",
                                      "WINDOW",
                                      "EXAMINE",
                                      "REPLACE",
                                      "IFNEWER",
                                      "COUNT",
                                      "IDLE",
                                      "DRAWS",
                                      "gts",
                                      "lints",
                                      "toprank",
                                      "all",
                                      "prior",
                                      "k0",
                                      "string",
                                      "%s%s%s%n",
                                      "\r\n-ERR x",
                                      "OLTRMODL"};
    command *c = &g->command;
    uint32_t i = pick(&g->choose, COUNT(odd) + N_POOL);
    text t = i < COUNT(odd) ? text_of(odd[i]) : pool_name(i - (uint32_t)COUNT(odd));
    uint32_t n = c->n;
    add_bytes(c, t.bytes, t.size);
    if (c->n > n)
        *to = c->arg[--c->n];
}

static void remove_argument(command *c, uint32_t at)
{
    memmove(&c->arg[at], &c->arg[at + 1], (c->n - at - 1) * sizeof *c->arg);
    c->n--;
}

static void insert_argument(command *c, uint32_t at, text t)
{
    if (c->n == MOST_ARGS)
        return;
    memmove(&c->arg[at + 1], &c->arg[at], (c->n - at) * sizeof *c->arg);
    c->arg[at] = t;
    c->n++;
}

/* A flipped bit, a byte less, a byte more, or half of it. */
static void bend_argument(generator *g, text *t)
{
    command *c = &g->command;
    uint32_t n = c->n;
    if (t->size + 1 > sizeof c->room - c->used || c->n == MOST_ARGS)
        return;
    unsigned char *to = c->room + c->used;
    add_bytes(c, t->bytes, t->size);
    c->n = n;
    c->used++;
    to[t->size] = (unsigned char)pick(&g->choose, 256);
    size_t size = t->size;
    switch (pick(&g->choose, 4)) {
    case 0:
        if (size)
            to[pick(&g->choose, (uint32_t)size)] ^= (unsigned char)(1u << pick(&g->choose, 8));
        break;
    case 1:
        size -= size > 0;
        break;
    case 2:
        size++;
        break;
    default:
        size /= 2;
    }
    *t = (text){to, size};
}

/* The name of the command stays. */
static void mutate(generator *g)
{
    command *c = &g->command;
    chooser *choose = &g->choose;
    uint32_t at = c->n > 1 ? 1 + pick(choose, c->n - 1) : 0;
    text other = {"", 0};
    c->changed = true;
    add_odd_argument(g, &other);
    switch (at ? pick(choose, 8) : 7) {
    case 0:
        remove_argument(c, at);
        break;
    case 1: /* twice */
        insert_argument(c, at, c->arg[at]);
        break;
    case 2: { /* swapped with another */
        uint32_t with = 1 + pick(choose, c->n - 1);
        text held = c->arg[with];
        c->arg[with] = c->arg[at];
        c->arg[at] = held;
        break;
    }
    case 3:
    case 4:
        c->arg[at] = other;
        break;
    case 5:
        bend_argument(g, &c->arg[at]);
        break;
    case 6: /* cut */
        c->n = at;
        break;
    default:
        insert_argument(c, at ? at : c->n, other);
    }
}

/* ---- all together */

static const struct grammar *draw_grammar(generator *g, const shelf *at)
{
    uint32_t x = pick(&g->choose, 100), i = 0;
    if (!at->info && chance(&g->choose, 60))
        return &grammar[COUNT(grammar) - 1];
    while (x >= grammar[i].often)
        x -= grammar[i++].often;
    return &grammar[i];
}

static void draw_case(generator *g)
{
    command *c = &g->command;
    if (!chance(&g->choose, 10))
        return;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->arg[i].size > 1 && chance(&g->choose, 30) && i != 1) {
            unsigned char *at = (unsigned char *)(uintptr_t)c->arg[i].bytes;
            if (at[0] >= 'A' && at[0] <= 'Z')
                at[0] = (unsigned char)(at[0] + 32);
        }
    c->changed = true; /* a name may be another one now */
}

void draw_command(generator *g, uint32_t hostile)
{
    uint32_t which = pick(&g->choose, N_SHELVES);
    const shelf *at = &g->shelf[which];
    const struct grammar *rule = draw_grammar(g, at);
    begin_command(&g->command, rule->name);
    if (rule->draw == draw_nothing && strcmp(rule->name, "OLTR.KINDS") == 0) {
        if (chance(&g->choose, 70))
            add_word(&g->command, oltr_policy_info_at(pick(&g->choose, oltr_policy_count()))->name);
    } else {
        add_bytes(&g->command, key_at(which).bytes, key_at(which).size);
        rule->draw(g, at);
    }
    draw_case(g);
    if (chance(&g->choose, hostile))
        for (uint32_t i = 1 + pick(&g->choose, 3); i > 0; i--)
            mutate(g);
}

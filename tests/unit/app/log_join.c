/* log_join.c - rows to lists: every list of a random log becomes one lesson, whatever the order of
 * its rows; what is closed too early, comes back, is too long or has wrong positions; and logs of
 * each format against lessons that are written down. */
#define _POSIX_C_SOURCE 200809L
#include "app/logs/log_files.h"
#include "support/files.h"

#include <oltr/store.h>

/* ---- lessons that were learned, as text: "id: item=reward[/examined] ... " */

static char learned[1 << 20];
static const char *refuse; /* an id that the model refuses */

static oltr_status remember(void *with, const oltr_lesson *lesson, int *applied, oltr_error *error)
{
    size_t used = strlen(learned);
    bool *known = with;
    *applied = !(known && *known);
    if (refuse && lesson->id.size == strlen(refuse) &&
        memcmp(lesson->id.bytes, refuse, lesson->id.size) == 0) {
        snprintf(error->msg, sizeof error->msg, "refused");
        error->code = OLTR_EREWARD;
        return OLTR_EREWARD;
    }
    used += (size_t)snprintf(learned + used, sizeof learned - used, "%.*s:", (int)lesson->id.size,
                             (const char *)lesson->id.bytes);
    for (uint32_t i = 0; i < lesson->shown.n; i++) {
        if (lesson->shown.name)
            used += (size_t)snprintf(learned + used, sizeof learned - used, " %.*s=%g",
                                     (int)lesson->shown.name[i].size,
                                     (const char *)lesson->shown.name[i].bytes, lesson->reward[i]);
        else
            used += (size_t)snprintf(learned + used, sizeof learned - used, " (%g,%g)=%g",
                                     (double)lesson->shown.x[2 * i],
                                     (double)lesson->shown.x[2 * i + 1], lesson->reward[i]);
        if (lesson->examine == OLTR_EXAMINE_MASK)
            used +=
                (size_t)snprintf(learned + used, sizeof learned - used, "/%u", lesson->examined[i]);
        if (lesson->weight)
            used +=
                (size_t)snprintf(learned + used, sizeof learned - used, "*%g", lesson->weight[i]);
    }
    snprintf(learned + used, sizeof learned - used, "\n");
    return OLTR_OK;
}

static struct log_report report;

static void clear_learned(bool lenient)
{
    learned[0] = '\0';
    report = (struct log_report){.lenient = lenient};
}

/* ---- random logs */

enum { LISTS = 60, LONGEST = 12 };

struct random_row {
    uint32_t list, position, item;
    double reward;
};

static int by_place(const void *x, const void *y)
{
    const struct random_row *a = x, *b = y;
    return a->list != b->list ? (a->list > b->list) - (a->list < b->list)
                              : (a->position > b->position) - (a->position < b->position);
}

/* Rows of neighbouring lists are exchanged, so that each list is spread over a few others. */
static uint32_t random_rows(dice *d, struct random_row *row)
{
    uint32_t n = 0;
    for (uint32_t list = 0; list < LISTS; list++) {
        uint32_t k = 1 + below(d, LONGEST);
        for (uint32_t i = 0; i < k; i++)
            row[n++] = (struct random_row){list, i + 1, 100 * i + below(d, 100), below(d, 2)};
    }
    for (uint32_t i = 0; i < 4 * n; i++) {
        uint32_t a = below(d, n), b = a + below(d, 20);
        struct random_row held = row[a];
        if (b >= n)
            continue;
        row[a] = row[b];
        row[b] = held;
    }
    return n;
}

/* How many lists must be open so that none is closed before its last row. */
static uint32_t lists_needed(const struct random_row *row, uint32_t n)
{
    uint32_t first[LISTS], last[LISTS] = {0}, most = 0;
    for (uint32_t i = n; i-- > 0;)
        first[row[i].list] = i;
    for (uint32_t i = 0; i < n; i++)
        last[row[i].list] = i;
    for (uint32_t list = 0; list < LISTS; list++) {
        uint32_t open = 1;
        for (uint32_t other = 0; other < LISTS; other++)
            open += first[other] > first[list] && first[other] < last[list];
        most = open > most ? open : most;
    }
    return most;
}

/* With the smallest table that is enough, and with a large one. */
static void makes_one_lesson_of_a_list(void **state)
{
    static struct random_row row[LISTS * LONGEST], sorted[LISTS * LONGEST];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        dice d = {seed};
        struct log_join join;
        oltr_error error = {OLTR_OK, ""};
        uint32_t n = random_rows(&d, row);
        clear_learned(false);
        struct log_join_options options = {.learn = remember,
                                           .report = &report,
                                           .capacity = seed % 2 ? lists_needed(row, n) : 1000,
                                           .remember = 100,
                                           .wait = INFINITY};
        assert_int_equal(log_join_begin(&join, &options, &error), OLTR_OK);
        for (uint32_t i = 0; i < n; i++) {
            char list[16], item[16];
            struct log_row r = {.list = list,
                                .name = item,
                                .position = row[i].position,
                                .examined = EXAMINED_UNKNOWN,
                                .reward = row[i].reward,
                                .weight = 1,
                                .time = NAN};
            r.list_size = (uint32_t)snprintf(list, sizeof list, "list-%u", row[i].list);
            r.name_size = (uint32_t)snprintf(item, sizeof item, "i%u", row[i].item);
            assert_int_equal(log_join_row(&join, &r, "f", i + 1, &error), OLTR_OK);
        }
        assert_int_equal(log_join_end(&join, &error), OLTR_OK);
        log_join_free(&join);
        assert_int_equal(report.rows, n);
        assert_int_equal(report.lists, LISTS);
        assert_int_equal(report.learned, LISTS);
        memcpy(sorted, row, sizeof row);
        qsort(sorted, n, sizeof *sorted, by_place);
        for (uint32_t i = 0; i < n;) { /* each list, somewhere in what was learned */
            char line[512];
            uint32_t list = sorted[i].list;
            size_t used = (size_t)snprintf(line, sizeof line, "list-%u:", list);
            for (; i < n && sorted[i].list == list; i++)
                used += (size_t)snprintf(line + used, sizeof line - used, " i%u=%g", sorted[i].item,
                                         sorted[i].reward);
            snprintf(line + used, sizeof line - used, "\n");
            assert_non_null(strstr(learned, line));
        }
    }
}

/* ---- logs */

struct how {
    bool lenient, clicks_only, skip_unseen, known;
    uint32_t capacity, dim, shown;
    double wait; /* 0: the default */
    const char *columns, *features;
};

static oltr_status read_logs(const char *const *path, uint32_t n, const struct how *how,
                             struct log_found *found, oltr_error *error)
{
    bool known = how->known;
    clear_learned(how->lenient);
    struct log_files files = {
        .path = path, .n = n, .capacity = how->capacity, .wait = how->wait > 0 ? how->wait : -1};
    files.join = (struct log_join_options){.learn = remember,
                                           .with = &known,
                                           .report = &report,
                                           .remember = 1000,
                                           .unseen_seen = !how->skip_unseen};
    files.options = (struct log_options){.dim = how->dim,
                                         .clicks_only = how->clicks_only,
                                         .clicks = "click,buy",
                                         .impressions = "impression",
                                         .most_shown = how->shown ? how->shown : OLTR_MOST_SHOWN};
    files.options.names.features = how->features;
    if (how->columns)
        assert_int_equal(log_names_add(&files.options.names, how->columns, error), OLTR_OK);
    return log_files_learn(&files, found, error);
}

static void expect_lessons(const char *text, const struct how *how, const char *lessons)
{
    struct log_found found;
    oltr_error error = {OLTR_OK, ""};
    const char *path = write_text("log", text);
    if (read_logs(&path, 1, how, &found, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_string_equal(learned, lessons);
}

static void expect_refusal(const char *text, const struct how *how, const char *words)
{
    struct log_found found;
    oltr_error error = {OLTR_OK, ""};
    const char *path = write_text("log", text);
    oltr_status status = read_logs(&path, 1, how, &found, &error);
    if (status == OLTR_OK || !strstr(error.msg, words))
        fail_msg("expected `%s`, got `%s`", words, error.msg);
}

#define HEAD "list_id,item,position,click\n"

static void reads_csv(void **state)
{
    const struct how plain = {.clicks_only = true}, real = {.dim = 0};
    expect_lessons(HEAD "q,a,1,0\nq,b,2,1\nr,c,1,0\n", &plain, "q: a=0 b=1\nr: c=0\n");
    expect_lessons(HEAD "q,b,2,1\nr,c,1,0\nq,a,1,0\n", &plain, "q: a=0 b=1\nr: c=0\n");
    expect_lessons("request_id\tdoc\trank\tclicked\r\nq\ta, b\t1\tTrue\r\n", &plain, "q: a, b=1\n");
    expect_lessons("object_id;clicks\nx;1\nx;0\n", &plain, ": x=1\n: x=0\n");
    assert_int_equal(report.without_id, 2);
    expect_lessons("list,item,click\nq,a,0\nq,b,1\n", &plain, "q: a=0 b=1\n");
    expect_lessons("list,item,click,examined\nq,a,0,1\nq,b,1,1\nq,c,0,0\n", &plain,
                   "q: a=0/1 b=1/1 c=0/0\n");
    expect_lessons("list,item,click,reward\nq,a,0,2.5\n", &real, "q: a=2.5\n");
    expect_lessons("list,item,click,reward\nq,a,0,2.5\n", &plain, "q: a=0\n");
    expect_lessons("list,item,reward\nq,a,1\n", &plain, "q: a=1\n");
    const struct how named = {.columns = "list=s,item=sku,click=c,weight=w"};
    expect_lessons("s,sku,c,w,item\nq,a,1,2,z\nq,b,0,1,z\n", &named, "q: a=1*2 b=0*1\n");
    const struct how context = {.dim = 2, .features = "f"};
    expect_lessons("list,position,click,f2,f1\nq,2,1,3,4\nq,1,0,1,2\n", &context,
                   "q: (2,1)=0 (4,3)=1\n");
    expect_lessons("click,f1,f2\n1,1,2\n", &context, ": (1,2)=1\n");
}

/* One of the usual texts, or rarely a strange one. */
static const char *some_text(dice *d, const char *usual, const char *const *strange, uint32_t n)
{
    return below(d, 150) ? usual : strange[below(d, n)];
}

/* A row with its five fields in this order, the last one quoted in one of the two texts only. */
static void random_line(dice *d, const uint32_t *order, uint32_t list, uint32_t slot,
                        struct text *plain, struct text *quoted)
{
    static const char *const positions[] = {"0", "01", "", "1x", "100", "1025", "+1", "10x", "99"},
                             *const clicks[] = {"", "2", "true", "0.0", "01", "-1", "no"},
                             *const lists[] = {"", "a list with a longer name", "q1"},
                             *const items[] = {"", "x", "an item of thirty bytes, or so"};
    char id[16], item[16], position[16];
    snprintf(id, sizeof id, "q%u", list);
    snprintf(item, sizeof item, "i%.*u", (int)below(d, 12), below(d, 1000));
    snprintf(position, sizeof position, "%u", slot);
    const char *field[] = {some_text(d, id, lists, 3), some_text(d, item, items, 2),
                           some_text(d, position, positions, 9),
                           some_text(d, below(d, 5) ? "0" : "1", clicks, 7), "note"};
    for (uint32_t i = 0; i < 5;
         i++) { /* a newline for a separator makes two lines that are short */
        const char *before = i == 0 ? "" : below(d, 400) ? "," : "\n";
        text_printf(plain, "%s%s", before, field[order[i]]);
        text_printf(quoted, order[i] == 4 ? "%s\"%s\"" : "%s%s", before, field[order[i]]);
    }
    const char *end = below(d, 50) ? "\n" : below(d, 2) ? "\r\n" : below(d, 2) ? "\n\n" : ",\n";
    text_add(plain, end);
    text_add(quoted, end);
}

/* Most rows are taken by a short way, which ends at any quote in the piece. */
static void reads_rows_with_and_without_quotes_alike(void **state)
{
    static const char *const name[] = {"list", "item", "position", "click", "note"};
    static char expected[sizeof learned];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        dice d = {seed};
        struct text plain = {0}, quoted = {0};
        uint32_t order[] = {0, 1, 2, 3, 4};
        const struct how how = {.clicks_only = seed % 2, .lenient = true, .capacity = 20};
        for (uint32_t i = 5; i-- > 1;) {
            uint32_t other = below(&d, i + 1), held = order[i];
            order[i] = order[other];
            order[other] = held;
        }
        for (uint32_t i = 0; i < 5; i++)
            text_printf(&plain, "%s%s", i ? "," : "", name[order[i]]);
        text_add(&plain, "\n");
        text_add(&quoted, plain.bytes);
        for (uint32_t list = 0; list < (seed % 20 ? 60u : 600u); list++)
            for (uint32_t slot = 1, n = below(&d, 30); slot <= n; slot++)
                random_line(&d, order, below(&d, 60) ? list : below(&d, 60), slot, &plain, &quoted);
        assert_false(plain.failed || quoted.failed);
        struct log_found found[2];
        oltr_error error = {OLTR_OK, ""};
        const char *path = write_text("log", quoted.bytes);
        assert_int_equal(read_logs(&path, 1, &how, &found[0], &error), OLTR_OK);
        memcpy(expected, learned, sizeof learned);
        struct log_report counts = report;
        path = write_text("log", plain.bytes);
        assert_int_equal(read_logs(&path, 1, &how, &found[1], &error), OLTR_OK);
        assert_string_equal(learned, expected);
        assert_memory_equal(&report, &counts, sizeof report);
        assert_true(report.rows > 300 && report.bad > 10 && report.learned > 10);
        text_free(&plain);
        text_free(&quoted);
    }
}

static void names_bad_lines(void **state)
{
    const struct how plain = {.clicks_only = true}, real = {.dim = 0};
    expect_refusal("", &plain, "is empty");
    expect_refusal(" \n", &plain, "is empty");
    expect_refusal("q,a,1,0\n", &plain, "log:1: no column `item`; the first line must name");
    expect_refusal("\n[1]\n", &plain, "is a JSON array; give one object a line");
    expect_refusal(HEAD "q,a,1\n", &plain, "log:2: 3 fields, but the first line names 4 columns");
    expect_refusal(HEAD ",a,1,0\n", &plain, "log:2: the id of the list must have 1 to 512 bytes");
    expect_refusal(HEAD "q,,1,0\n", &plain, "log:2: the item must have 1 to 512 bytes");
    expect_refusal(HEAD "q,a,0,0\n", &plain, "log:2: the position must be a whole number from 1 ");
    expect_refusal(HEAD "q,a,1025,0\n", &plain, "to 1024, not `1025`");
    expect_refusal(HEAD "q,a,1.5,0\n", &plain, "not `1.5`");
    expect_refusal(HEAD "q,a,1,2\n", &plain,
                   "log:2: this model learns from clicks, 0 or 1, not `2`");
    expect_refusal(HEAD "q,a,1,x\n", &real, "log:2: a click must be 0 or 1; other numbers go into");
    expect_refusal("list_id,item,position,reward\nq,a,1,x\n", &real,
                   "log:2: the reward must be a number, not `x`");
    expect_refusal(HEAD "q,a,1,\n", &real, "it is ``");
    expect_refusal(HEAD "q,\"a\"b,1,0\n", &plain, "log:2: no separator behind the closing quote");
    expect_refusal(HEAD "q,a,1,\"0\n", &plain, "log:2: a quote that is opened here");
    expect_refusal("\"a\"b\n", &plain, "log:1: no separator behind");
    expect_refusal(HEAD "q,a,1,0\nq,b,3,0\n", &plain,
                   "log:2: list `q`, which begins here, has 2 rows and no position 2");
    expect_refusal(HEAD "q,a,1,0\nr,c,1,0\nq,b,1,0\n", &plain,
                   "log:4: position 1 of list `q` a second time; the first is in line 2");
    expect_refusal("list,item,click,seen\nq,a,1,0\n", &plain, "log:2: clicked, but not examined");
    expect_refusal("list,item,click,seen\nq,a,1,?\n", &plain, "must be 0 or 1, not `?`");
    const struct how weights = {.columns = "weight=w"}, waits = {.wait = 60};
    expect_refusal("item,click,w\na,1,0\n", &weights, "the weight must be a number above 0");
    expect_refusal("list,item,click,time\nq,a,1,noon\n", &waits, "the time must be like");
    const struct how context = {.dim = 2};
    expect_refusal("click,x1,x2\n1,a,2\n", &context, "log:2: a feature must be a number, not `a`");
    refuse = "r";
    expect_refusal(HEAD "q,a,1,0\nr,a,1,0\n", &plain, "log:3: list `r`: refused");
    refuse = NULL;
    char text[1 << 16] = HEAD;
    for (int i = 0; i <= OLTR_MOST_SHOWN; i++)
        sprintf(text + strlen(text), "q,i%d,%d,0\n", i, i < OLTR_MOST_SHOWN ? i + 1 : 1);
    expect_refusal(text, &plain, "log:1026: list `q` has more than 1024 rows");
}

static void skips_bad_lines(void **state)
{
    const struct how lenient = {.clicks_only = true, .lenient = true};
    expect_lessons(HEAD "q,a,1,0\nq,b\nq,b,2,7\n\"x\"y\nq,b,2,1\nr,a,2,0\ns,a,1,0\n", &lenient,
                   "q: a=0 b=1\ns: a=0\n");
    assert_int_equal(report.bad, 3);
    assert_int_equal(report.bad_lists, 1);
    assert_non_null(strstr(report.message[0], "log:3: 2 fields"));
    assert_non_null(strstr(report.message[3], "log:7: list `r`"));
    expect_refusal("a,b\n", &lenient, "no column `item`"); /* the header is needed */
}

static void closes_and_comes_back(void **state)
{
    const struct how two = {.clicks_only = true, .capacity = 2};
    expect_lessons(HEAD "a,x,1,0\nb,x,1,0\nc,x,1,0\nd,x,1,0\n", &two,
                   "a: x=0\nb: x=0\nc: x=0\nd: x=0\n");
    assert_int_equal(report.forced, 2);
    /* a is closed when c comes, and comes back; the test learns every lesson, a model would not */
    struct how known = {.clicks_only = true, .capacity = 2, .known = true};
    expect_lessons(HEAD "a,x,1,0\nb,x,1,0\nc,x,1,0\na,y,1,0\n", &known,
                   "a: x=0\nb: x=0\nc: x=0\na: y=0\n");
    assert_int_equal(report.came_back, 1);
    assert_int_equal(report.known, 3);
    assert_int_equal(report.learned, 0);
    /* by time: q is closed by r, a minute later */
    const struct how minute = {.clicks_only = true, .wait = 60, .lenient = true};
    expect_lessons("list,item,click,time\nq,a,0,100\nr,b,0,170\nq,c,0,180\n", &minute,
                   "q: a=0\nr: b=0\nq: c=0\n");
    expect_lessons("list,item,click,time\nq,a,0,100\nr,b,0,160\nq,c,0,160\n", &minute,
                   "q: a=0 c=0\nr: b=0\n");
}

static void reads_json(void **state)
{
    const struct how plain = {.clicks_only = true}, real = {.dim = 0}, context = {.dim = 2};
    expect_lessons("{\"list_id\": \"q\", \"item\": \"a\", \"position\": 1, \"click\": 0}\n\n"
                   "{\"list_id\": \"q\", \"item\": 17, \"position\": 2, \"click\": true}\n",
                   &plain, "q: a=0 17=1\n");
    expect_lessons("{\"id\": 5, \"items\": [\"a\", {\"hex\": \"62\"}], \"clicks\": [2]}\n"
                   "{\"items\": [\"a\"], \"clicks\": [], \"seen\": 0}\n",
                   &plain, "5: a=0 b=1\n: a=0\n");
    expect_lessons("{\"_source\": {\"items\": [\"a\", \"b\"], \"rewards\": [0.5, 2], "
                   "\"examined\": [1, 2], \"weights\": [1, 3]}}\n",
                   &real, ": a=0.5/1*1 b=2/1*3\n");
    expect_lessons("{\"features\": [[1, 2], [3, 4]], \"clicks\": [1]}\n"
                   "{\"list\": \"q\", \"features\": [5, 6], \"click\": 1}\n",
                   &context, ": (1,2)=1 (3,4)=0\nq: (5,6)=1\n");
    expect_refusal("{\"item\": \"a\"}\n", &plain, "log:1: no \"click\" and no \"reward\"");
    expect_refusal("{\"click\": 1}\n", &plain, "log:1: no \"item\"; a line is a row");
    expect_refusal("{}\n{", &plain, "log:1: no \"item\"");
    expect_refusal("{\"item\": \"a\", \"click\": 0}\nx", &plain, "log:2: not JSON");
    expect_refusal("{\"item\": \"a\", \"click\": 3}\n", &plain, "this model learns from clicks");
    expect_refusal("{\"item\": \"a\", \"click\": \"x\"}\n", &real, "a click must be 0 or 1");
    expect_refusal("{\"item\": \"a\", \"reward\": \"x\"}\n", &real, "the reward must be a number");
    expect_refusal("{\"item\": [], \"click\": 1}\n", &plain, "the item must be a text");
    expect_refusal("{\"list\": \"\", \"item\": 1, \"click\": 1}\n", &plain, "the id of the list");
    expect_refusal("{\"list\": \"q\", \"item\": 1, \"click\": 1, \"position\": 0}\n", &plain,
                   "the position must be");
    expect_refusal("{\"item\": 1, \"click\": 1, \"seen\": 0}\n", &plain, "clicked, but not");
    expect_refusal("{\"item\": 1, \"click\": 1, \"seen\": 3}\n", &plain, "must be 0 or 1");
    expect_refusal("{\"item\": 1, \"click\": 1, \"time\": \"noon\"}\n", &plain, "the time must be");
    expect_refusal("{\"click\": 1}\n", &context, "\"features\" must be an array");
    expect_refusal("{\"items\": [], \"clicks\": []}\n", &plain, "\"items\" must be an array of 1 ");
    expect_refusal("{\"clicks\": []}\n", &plain, "\"items\", what was shown, is missing");
    expect_refusal("{\"items\": [\"\"], \"clicks\": []}\n", &plain, "item 1 must be a text");
    expect_refusal("{\"items\": [{\"hex\": \"6\"}], \"clicks\": []}\n", &plain, "item 1 must be");
    expect_refusal("{\"items\": [1], \"clicks\": [2]}\n", &plain, "positions from 1 to 1, each");
    expect_refusal("{\"items\": [1, 2], \"clicks\": [1, 1]}\n", &plain, "number 2 is not");
    expect_refusal("{\"items\": [1], \"clicks\": [], \"rewards\": [1]}\n", &plain, "and not both");
    expect_refusal("{\"items\": [1]}\n", &plain, "give \"clicks\", an array of positions");
    expect_refusal("{\"items\": [1], \"rewards\": []}\n", &plain, "must be an array of 1 numbers");
    expect_refusal("{\"items\": [1], \"rewards\": [\"x\"]}\n", &plain, "number 1 is not a number");
    expect_refusal("{\"items\": [1], \"clicks\": [1], \"seen\": 0}\n", &plain,
                   "position 1 was clicked, but not examined");
    expect_refusal("{\"items\": [1], \"clicks\": [], \"seen\": 2}\n", &plain, "\"seen\" must be");
    expect_refusal("{\"items\": [1], \"clicks\": [], \"seen\": 1, \"examined\": []}\n", &plain,
                   "give \"seen\", a number of slots, or");
    expect_refusal("{\"items\": [1], \"clicks\": [], \"examined\": 1}\n", &plain,
                   "must be an array");
    expect_refusal("{\"id\": [], \"items\": [1], \"clicks\": []}\n", &plain, "the id must be");
    expect_refusal("{\"features\": [[1]], \"clicks\": []}\n", &context, "an array of 2 numbers");
    expect_refusal("{\"features\": [[1, \"x\"]], \"clicks\": []}\n", &context, "number 2 is not");
    expect_refusal("{\"items\": [1, 2], \"features\": [[1, 2]], \"clicks\": []}\n", &context,
                   "2 items, but 1 rows of features");
}

/* ---- UBI */

#define QUERY(id, second, hits)                                                                    \
    "{\"query_id\": \"" id "\", \"user_query\": \"x\", \"timestamp\": \"2024-11-01T12:00:" second  \
    "Z\", \"query_response_hit_ids\": " hits "}\n"
#define EVENT(action, id, second, what)                                                            \
    "{\"action_name\": \"" action "\", \"query_id\": \"" id                                        \
    "\", \"timestamp\": \"2024-11-01T12:00:" second "Z\", \"event_attributes\": {" what "}}\n"
#define ON(item) "\"object\": {\"object_id\": " item "}, \"position\": {\"ordinal\": 9}"
#define AT(position) "\"position\": {\"ordinal\": " position "}"

static void joins_ubi(void **state)
{
    const struct how plain = {.clicks_only = true}, skip = {.skip_unseen = true};
    expect_lessons(QUERY("q", "00", "[\"a\", 7, \"c\"]") EVENT("click", "q", "05", ON("7")), &plain,
                   "q: a=0 7=1 c=0\n");
    assert_int_equal(report.queries, 1);
    assert_int_equal(report.events, 1);
    /* an event before its query; by its position; a purchase; what is no click */
    expect_lessons(EVENT("click", "q", "05", ON("\"c\"")) EVENT("buy", "q", "05", AT("1"))
                       EVENT("hover", "q", "05", ON("\"b\"")) QUERY("q", "00",
                                                                    "[\"a\", \"b\", "
                                                                    "\"c\"]"),
                   &plain, "q: a=1 b=0 c=1\n");
    assert_int_equal(report.other, 1);
    /* impressions say what was examined */
    expect_lessons(QUERY("q", "00", "\"a,b,c\"") EVENT("impression", "q", "01", ON("\"a\""))
                       EVENT("click", "q", "02", ON("\"c\"")),
                   &plain, "q: a=0/1 b=0/0 c=1/1\n");
    /* lists without events, empty ones, orphans, events elsewhere, repeated queries */
    expect_lessons(QUERY("q", "00", "[\"a\"]") QUERY("r", "01", "[]") QUERY("q", "02", "[\"z\"]")
                       EVENT("click", "s", "03", ON("\"a\"")) EVENT(
                           "click", "q", "04",
                           ON("\"z\"")) "{\"action_name\": \"click\"}\n"
                                        "{\"query_id\": \"t\", \"user_query\": \"no hits\"}\n",
                   &plain, "q: a=0\n");
    assert_int_equal(report.unseen_learned, 1);
    assert_int_equal(report.empty, 2);
    assert_int_equal(report.orphans, 2);
    assert_int_equal(report.elsewhere, 1);
    assert_int_equal(report.repeated, 1);
    expect_lessons(QUERY("q", "00", "[\"a\"]") QUERY("r", "00", "[\"b\"]")
                       EVENT("click", "r", "01", ON("\"b\"")),
                   &skip, "r: b=1\n");
    assert_int_equal(report.unseen_skipped, 1);
    /* the window, by the times of the log */
    const struct how ten = {.wait = 10}, one = {.capacity = 1}, top = {.shown = 2};
    expect_lessons(QUERY("q", "00", "[\"a\"]") QUERY("r", "11", "[\"b\"]")
                       EVENT("click", "q", "12", ON("\"a\""))
                           EVENT("click", "r", "21", ON("\"b\"")),
                   &ten, "q: a=0\nr: b=1\n");
    assert_int_equal(report.late, 1);
    expect_lessons(QUERY("q", "00", "[\"a\"]") QUERY("r", "01", "[\"b\"]")
                       EVENT("click", "q", "02", ON("\"a\"")),
                   &one, "q: a=0\nr: b=0\n");
    assert_int_equal(report.forced, 1);
    expect_lessons(QUERY("q", "00", "[\"a\", \"b\", \"c\"]") EVENT("click", "q", "01", ON("\"c\"")),
                   &top, "q: a=0 b=0\n");
    /* a log that is not sorted by time is joined all the same */
    expect_lessons(QUERY("r", "59", "[\"b\"]") QUERY("q", "00", "[\"a\"]")
                       EVENT("click", "q", "05", ON("\"a\""))
                           EVENT("click", "r", "59", ON("\"b\"")),
                   &ten, "r: b=1\nq: a=1\n");
    const struct how context = {.dim = 2};
    expect_refusal(QUERY("q", "00", "[\"a\"]"), &context, "queries of UBI have no features");
    expect_refusal("{\"query_id\": 1.5, \"user_query\": \"x\"}\n", &plain, "\"query_id\" must be");
    expect_refusal("{\"query_id\": 1, \"doc_ids\": 3}\n", &plain, "must be an array of ids");
    expect_refusal(QUERY("q", "00", "[\"a\", \"\"]"), &plain, "each of \"query_response_hit_ids\"");
    expect_refusal(QUERY("q", "00", "\"a,,b\""), &plain, "each of \"query_response_hit_ids\"");
    expect_refusal("{\"action_name\": 3}\n", &plain, "\"action_name\" must be a text");
    expect_refusal(EVENT("click", "q", "00", ON("[]")), &plain, "\"object_id\" must be a text");
    char text[1 << 16] = "{\"query_id\": \"q\", \"query_response_hit_ids\": [0";
    for (int i = 1; i <= OLTR_MOST_SHOWN; i++)
        sprintf(text + strlen(text), ",%d", i);
    strcat(text, "]}\n");
    expect_refusal(text, &plain, "1025 hits; a list has at most 1024: say by --shown");
}

/* Two files meet by their times. */
static void merges_files(void **state)
{
    struct log_found found;
    oltr_error error = {OLTR_OK, ""};
    const struct how two = {.capacity = 2};
    const char *path[2] = {write_text("queries",
                                      QUERY("a", "00", "[\"x\"]") QUERY("b", "10", "[\"x\"]")
                                          QUERY("c", "20", "[\"x\"]") QUERY("d", "30", "[\"x\"]")),
                           write_text("events", EVENT("click", "a", "05", ON("\"x\""))
                                                    EVENT("click", "b", "15", ON("\"x\""))
                                                        EVENT("click", "d", "35", ON("\"x\"")))};
    assert_int_equal(read_logs(path, 2, &two, &found, &error), OLTR_OK);
    assert_string_equal(learned, "a: x=1\nb: x=1\nc: x=0\nd: x=1\n");
    path[1] = write_text("csv", HEAD "q,a,1,0\n");
    assert_int_equal(read_logs(path, 2, &two, &found, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "csv is CSV and"));
    const char *turned[2] = {path[1], path[0]};
    assert_int_equal(read_logs(turned, 2, &two, &found, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "queries is JSON lines and"));
    turned[1] = path[1];
    assert_int_equal(read_logs(turned, 2, &two, &found, &error), OLTR_EDATA); /* q, 1 twice */
    const char *many[JSON_MOST_FILES + 1];
    for (int i = 0; i <= JSON_MOST_FILES; i++)
        many[i] = path[0];
    assert_int_equal(read_logs(many, JSON_MOST_FILES + 1, &two, &found, &error), OLTR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_one_lesson_of_a_list),
        cmocka_unit_test(reads_csv),
        cmocka_unit_test(reads_rows_with_and_without_quotes_alike),
        cmocka_unit_test(names_bad_lines),
        cmocka_unit_test(skips_bad_lines),
        cmocka_unit_test(closes_and_comes_back),
        cmocka_unit_test(reads_json),
        cmocka_unit_test(joins_ubi),
        cmocka_unit_test(merges_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* ope_data.c - see ope_data.h. */
#include "app/ope/ope_data.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns */

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

/* "NAME_prefix", in new memory. */
static char *column_name(const char *policy, const char *ending)
{
    size_t size = strlen(policy) + strlen(ending) + 1;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s%s", policy, ending);
    return name;
}

oltr_status ope_data_columns(struct ope_data *data, const char *const *policy, uint32_t n,
                             oltr_error *error)
{
    static const char *const ending[2] = {"_prefix", "_slot"};
    data->extra[OPE_PREFIX] =
        (struct log_extra){.role = "prefix",
                           .usual = {"prefix_propensity", "propensity_prefix"},
                           .array = "prefix_propensities"};
    data->extra[OPE_SLOT] = (struct log_extra){
        .role = "slot",
        .usual = {"slot_propensity", "propensity_slot", "propensity_score", "propensity"},
        .array = "slot_propensities"};
    data->n_columns = OPE_LOGGED;
    if (OPE_LOGGED + 2 * (uint64_t)n > OPE_MOST_COLUMNS)
        return set_error(error, OLTR_EVALUE, "at most %d policies may be given by columns",
                         (OPE_MOST_COLUMNS - OPE_LOGGED) / 2);
    for (uint32_t i = 0; i < 2 * n; i++) {
        char *name = column_name(policy[i / 2], ending[i % 2]);
        if (!name)
            return no_memory(error);
        data->extra[data->n_columns++] =
            (struct log_extra){.role = name, .usual = {name}, .array = name, .may_be_zero = true};
    }
    return OLTR_OK;
}

/* ---- sets of candidates */

static uint32_t *set_slot(const struct ope_data *data, const uint32_t *item, uint32_t n)
{
    uint32_t at = (uint32_t)name_hash(item, n * sizeof *item).word[0] & data->set_mask;
    for (; data->set_slot[at] != 0; at = (at + 1) & data->set_mask) {
        const struct candidate_set *set = &data->set[data->set_slot[at] - 1];
        if (set->n == n && memcmp(data->member + set->from, item, n * sizeof *item) == 0)
            break;
    }
    return &data->set_slot[at];
}

static bool grow_sets(struct ope_data *data)
{
    uint32_t room = data->set_room > 0 ? 2 * data->set_room : 64;
    struct candidate_set *set = realloc(data->set, room * sizeof *set);
    data->set = set ? set : data->set;
    uint32_t *slot = set ? calloc((size_t)2 * room, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(data->set_slot);
    data->set_slot = slot;
    data->set_mask = 2 * room - 1;
    data->set_room = room;
    for (uint32_t i = 0; i < data->n_sets; i++)
        *set_slot(data, data->member + data->set[i].from, data->set[i].n) = i + 1;
    return true;
}

/* The items follow the last member; they become a new set, or are those of a known one. */
static bool keep_set(struct ope_data *data, uint32_t n, uint32_t *out)
{
    if (data->n_sets == data->set_room && !grow_sets(data))
        return false;
    uint32_t *slot = set_slot(data, data->member + data->n_members, n);
    if (*slot == 0) {
        data->set[data->n_sets] = (struct candidate_set){data->n_members, n};
        data->n_members += n;
        *slot = ++data->n_sets;
    }
    *out = *slot - 1;
    return true;
}

static bool reserve_members(struct ope_data *data, uint32_t n)
{
    if (data->member_room - data->n_members >= n)
        return true;
    uint64_t room = 2 * data->member_room + n;
    uint32_t *member = realloc(data->member, room * sizeof *member);
    if (!member)
        return false;
    data->member = member;
    data->member_room = room;
    return true;
}

/* ---- items of one list: each once */

/* Marks the item for this list; false if it was marked.  *failed when memory ran out. */
static bool mark(struct ope_data *data, uint32_t item, bool *failed)
{
    if (item >= data->seen_room) {
        uint32_t room = 2 * item + 64;
        uint32_t *seen = realloc(data->seen_in, room * sizeof *seen);
        if (!seen) {
            *failed = true;
            return true;
        }
        memset(seen + data->seen_room, 0, (room - data->seen_room) * sizeof *seen);
        data->seen_in = seen;
        data->seen_room = room;
    }
    bool is_new = data->seen_in[item] != data->stamp;
    data->seen_in[item] = data->stamp;
    return is_new;
}

static oltr_status item_of(struct ope_data *data, oltr_name name, const char *what, uint32_t *item,
                           oltr_error *error)
{
    char quoted[LOG_QUOTE_SIZE];
    bool failed = false;
    *item = name_table_add(&data->items, name);
    if (*item == NO_NAME)
        return no_memory(error);
    bool is_new = mark(data, *item, &failed);
    if (failed)
        return no_memory(error);
    return is_new ? OLTR_OK
                  : set_error(error, OLTR_EVALUE, "`%s` is %s",
                              log_quote(name.bytes, name.size, quoted), what);
}

static oltr_status take_candidates(struct ope_data *data, const struct log_list *list,
                                   uint32_t *set, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    *set = ALL_ITEMS;
    if (list->n_candidates == 0)
        return OLTR_OK;
    data->stamp++;
    if (!reserve_members(data, list->n_candidates))
        return no_memory(error);
    for (uint32_t i = 0; status == OLTR_OK && i < list->n_candidates; i++)
        status = item_of(data, list->candidate[i], "twice among the candidates",
                         &data->member[data->n_members + i], error);
    /* what is shown must have been marked */
    for (uint32_t l = 0; status == OLTR_OK && l < list->lesson->shown.n; l++) {
        oltr_name name = list->lesson->shown.name[l];
        uint32_t item = name_table_find(&data->items, name);
        char quoted[LOG_QUOTE_SIZE];
        if (item == NO_NAME || item >= data->seen_room || data->seen_in[item] != data->stamp)
            status = set_error(error, OLTR_EVALUE, "`%s` was shown, and is no candidate",
                               log_quote(name.bytes, name.size, quoted));
    }
    return status != OLTR_OK                         ? status
           : keep_set(data, list->n_candidates, set) ? OLTR_OK
                                                     : no_memory(error);
}

/* ---- room */

/* The larger array, or the one that was given and `good` false. */
static void *grown(void *array, uint64_t n, size_t size, bool *good)
{
    void *larger = *good ? realloc(array, n * size) : NULL;
    *good = *good && larger;
    return larger ? larger : array;
}

static bool reserve_lists(struct ope_lists *p)
{
    bool good = true;
    if (p->n < p->list_room)
        return true;
    uint64_t room = p->list_room > 0 ? 2 * p->list_room : 256;
    p->length = grown(p->length, room, sizeof *p->length, &good);
    p->set = grown(p->set, room, sizeof *p->set, &good);
    p->position = grown(p->position, room, sizeof *p->position, &good);
    p->file = grown(p->file, room, sizeof *p->file, &good);
    p->line = grown(p->line, room, sizeof *p->line, &good);
    p->choice = grown(p->choice, room, sizeof *p->choice, &good);
    p->id = grown(p->id, room, sizeof *p->id, &good);
    p->list_room = good ? room : p->list_room;
    return good;
}

static bool grow_rows(struct ope_lists *p, uint64_t room)
{
    bool good = true;
    p->item = grown(p->item, room, sizeof *p->item, &good);
    p->reward = grown(p->reward, room, sizeof *p->reward, &good);
    p->examined = grown(p->examined, room, 1, &good);
    for (uint32_t c = 0; c < OPE_MOST_COLUMNS; c++)
        if (p->column[c])
            p->column[c] = grown(p->column[c], room, sizeof(double), &good);
    p->row_room = good ? room : p->row_room;
    return good;
}

static bool reserve_rows(struct ope_lists *p, uint32_t n)
{
    if (p->row_room - p->rows >= n)
        return true;
    return grow_rows(p, 2 * p->row_room + n + 1024);
}

/* ---- a list */

/* The first list says what the log has; the others must have the same. */
static oltr_status begin_columns(struct ope_data *data, const struct log_list *list,
                                 oltr_error *error)
{
    struct ope_lists *parts[] = {&data->eval, &data->train};
    data->begun = true;
    data->by_row = list->lesson->id.size == 0 && list->lesson->shown.n == 1;
    snprintf(data->file, sizeof data->file, "%s", list->file);
    for (uint32_t c = 0; c < data->n_columns; c++)
        for (int p = 0; p < 2 && !isnan(list->extra[c]); p++) {
            parts[p]->column[c] = calloc(1, sizeof(double));
            if (!parts[p]->column[c])
                return no_memory(error);
        }
    return OLTR_OK;
}

static oltr_status check_columns(const struct ope_data *data, const struct log_list *list,
                                 oltr_error *error)
{
    for (uint32_t c = 0; c < data->n_columns; c++)
        for (uint32_t l = 0; l < list->lesson->shown.n; l++) {
            double value = list->extra[l * data->n_columns + c];
            if (isnan(value) != !data->eval.column[c])
                return set_error(error, OLTR_EVALUE,
                                 isnan(value) ? "it has no %s, which the first list has"
                                              : "it has %s, which the first list has not",
                                 data->extra[c].array);
            bool prefix = c == OPE_PREFIX || (c >= OPE_LOGGED && c % 2 == 0);
            if (prefix && l > 0 && value > list->extra[(l - 1) * data->n_columns + c] * (1 + 1e-9))
                return set_error(error, OLTR_EVALUE,
                                 "slot %u: a list cannot begin so more often than with one item "
                                 "less; %s must not rise, and it is %g after %g",
                                 l + 1, data->extra[c].array, value,
                                 list->extra[(l - 1) * data->n_columns + c]);
        }
    return OLTR_OK;
}

/* A list begins with the item of slot 1 as often as slot 1 has it.  Chances that this project
 * computes are accurate to 1e-9. */
static oltr_status check_first_slot(const struct ope_data *data, const struct log_list *list,
                                    uint32_t c, oltr_error *error)
{
    double prefix = list->extra[c], slot = list->extra[c + 1];
    if (!(fabs(prefix - slot) > 1e-6 * fmax(prefix, slot) + 2e-9)) /* NAN: one is not there */
        return OLTR_OK;
    return set_error(error, OLTR_EVALUE,
                     "slot 1: %s and %s must be equal there, the chance of the first item; "
                     "they are %g and %g",
                     data->extra[c].array, data->extra[c + 1].array, prefix, slot);
}

static oltr_status check_list(struct ope_data *data, const struct log_list *list, oltr_error *error)
{
    const oltr_lesson *lesson = list->lesson;
    bool by_row = lesson->id.size == 0 && lesson->shown.n == 1;
    if (by_row != data->by_row)
        return set_error(error, OLTR_EVALUE,
                         by_row ? "it has no id, and the first list has one"
                                : "it has an id or more than one item, and the first had neither: "
                                  "give all lists ids");
    for (uint32_t l = 0; l < lesson->shown.n; l++)
        if (!isfinite(lesson->reward[l]) || fabs(lesson->reward[l]) > 1e100)
            return set_error(error, OLTR_EVALUE, "slot %u: the reward must be a number up to 1e100",
                             l + 1);
    oltr_status status = check_columns(data, list, error);
    for (uint32_t c = 0; status == OLTR_OK && c + 1 < data->n_columns; c += 2)
        status = check_first_slot(data, list, c, error);
    return status;
}

/* Lists without ids are hashed by their number. */
static hash128 hash_id(const struct ope_data *data, const oltr_name *name)
{
    uint64_t number = data->eval.n + data->train.n;
    return name->size > 0 ? name_hash(name->bytes, name->size) : name_hash(&number, sizeof number);
}

static oltr_status take_id(struct ope_data *data, const oltr_name *name, hash128 id,
                           oltr_error *error)
{
    if (name->size == 0)
        return OLTR_OK;
    enum id_result result = id_set_add(&data->ids, id);
    if (result == ID_NO_MEMORY)
        return no_memory(error);
    return result == ID_NEW
               ? OLTR_OK
               : set_error(error, OLTR_EVALUE,
                           "this id was read before: the log has it twice, or its rows are more "
                           "than %u lists apart (--open)",
                           data->open);
}

static void keep_examined(const oltr_lesson *lesson, uint8_t *out)
{
    for (uint32_t l = 0; l < lesson->shown.n; l++)
        out[l] = lesson->examine == OLTR_EXAMINE_MASK    ? lesson->examined[l]
                 : lesson->examine == OLTR_EXAMINE_DEPTH ? l < lesson->depth
                                                         : EXAMINED_UNKNOWN;
}

static oltr_status keep_items(struct ope_data *data, const oltr_lesson *lesson, uint32_t *out,
                              oltr_error *error)
{
    oltr_status status = OLTR_OK;
    data->stamp++;
    for (uint32_t l = 0; status == OLTR_OK && l < lesson->shown.n; l++)
        status = item_of(data, lesson->shown.name[l], "in two slots", &out[l], error);
    return status;
}

static oltr_status keep_list(struct ope_data *data, struct ope_lists *p,
                             const struct log_list *list, hash128 id, oltr_error *error)
{
    const oltr_lesson *lesson = list->lesson;
    uint32_t n = lesson->shown.n, set;
    if (!reserve_lists(p) || !reserve_rows(p, n))
        return no_memory(error);
    oltr_status status = take_candidates(data, list, &set, error);
    if (status == OLTR_OK)
        status = keep_items(data, lesson, p->item + p->rows, error);
    if (status == OLTR_OK)
        status = take_id(data, &lesson->id, id, error);
    if (status != OLTR_OK)
        return status;
    memcpy(p->reward + p->rows, lesson->reward, n * sizeof *p->reward);
    keep_examined(lesson, p->examined + p->rows);
    for (uint32_t c = 0; c < data->n_columns; c++)
        for (uint32_t l = 0; p->column[c] && l < n; l++)
            p->column[c][p->rows + l] = list->extra[l * data->n_columns + c];
    p->id[p->n] = (oltr_name){NULL, lesson->id.size};
    text_bytes(&p->ids, lesson->id.bytes, lesson->id.size);
    if (p->ids.failed)
        return no_memory(error);
    p->length[p->n] = n;
    p->set[p->n] = set;
    p->position[p->n] = data->by_row ? list->position : 0;
    p->file[p->n] = list->file;
    p->line[p->n] = list->line;
    p->choice[p->n] = (uint32_t)(id.word[0] >> 32);
    p->k = n > p->k ? n : p->k;
    p->rows += n;
    p->n++;
    return OLTR_OK;
}

static void note_all_items(struct ope_data *data, const struct log_list *list)
{
    const struct all_items this = {list->all_items, list->file, list->line};
    if (data->fewest.n == 0 || this.n < data->fewest.n)
        data->fewest = this;
    if (this.n > data->most.n)
        data->most = this;
}

const struct all_items *ope_data_other_items(const struct ope_data *data)
{
    return data->fewest.n == 0               ? NULL
           : data->fewest.n != data->items.n ? &data->fewest
           : data->most.n != data->items.n   ? &data->most
                                             : NULL;
}

/* What is known of the whole log, from a list that was kept.  Only the lists to evaluate on need
 * their candidates. */
static void note_list(struct ope_data *data, const struct log_list *list, bool train)
{
    if (list->all_items > 0 && !train)
        note_all_items(data, list);
    data->no_candidates = data->no_candidates || (list->n_candidates == 0 && list->all_items == 0);
    if (data->by_row && list->position > data->most_position)
        data->most_position = list->position;
}

/* A list that was refused leaves no items behind, which would become candidates of others; and a
 * first one does not say what the others must have. */
static void take_back(struct ope_data *data, uint32_t items)
{
    name_table_cut(&data->items, items);
    if (data->eval.n + data->train.n > 0)
        return;
    data->begun = false;
    for (uint32_t c = 0; c < data->n_columns; c++) {
        free(data->eval.column[c]);
        free(data->train.column[c]);
        data->eval.column[c] = data->train.column[c] = NULL;
    }
    data->eval.row_room = data->train.row_room = 0;
}

oltr_status ope_data_take(void *with, const struct log_list *list, oltr_error *error)
{
    struct ope_data *data = with;
    uint32_t items = data->items.n;
    hash128 id = hash_id(data, &list->lesson->id);
    bool train = (double)id.word[1] / 0x1p64 < data->train_share;
    oltr_status status = data->begun ? OLTR_OK : begin_columns(data, list, error);
    if (status == OLTR_OK)
        status = check_list(data, list, error);
    if (status == OLTR_OK)
        status = keep_list(data, train ? &data->train : &data->eval, list, id, error);
    if (status == OLTR_OK)
        note_list(data, list, train);
    else
        take_back(data, items);
    return status;
}

/* ---- the end */

/* Lists that follow each other become rows of k, from the last on. */
static oltr_status make_rows(struct ope_lists *p, oltr_error *error)
{
    if (p->n == 0 || p->rows == p->n * p->k)
        return OLTR_OK;
    if (p->n > SIZE_MAX / 64 / p->k || !grow_rows(p, p->n * p->k))
        return set_error(error, OLTR_ENOMEM, "no memory for %llu lists of %u slots",
                         (unsigned long long)p->n, p->k);
    uint64_t from = p->rows;
    for (uint64_t i = p->n; i-- > 0;) {
        uint32_t n = p->length[i];
        uint64_t to = i * p->k;
        from -= n;
        memmove(p->item + to, p->item + from, n * sizeof *p->item);
        memmove(p->reward + to, p->reward + from, n * sizeof *p->reward);
        memmove(p->examined + to, p->examined + from, n);
        for (uint32_t c = 0; c < OPE_MOST_COLUMNS; c++)
            if (p->column[c])
                memmove(p->column[c] + to, p->column[c] + from, n * sizeof(double));
    }
    return OLTR_OK;
}

/* The ids get their addresses when the bytes do not move any more. */
static void place_ids(struct ope_lists *p)
{
    const char *at = p->ids.bytes;
    for (uint64_t i = 0; i < p->n; i++) {
        p->id[i].bytes = at;
        at += p->id[i].size;
    }
}

oltr_status ope_data_end(struct ope_data *data, oltr_error *error)
{
    place_ids(&data->eval);
    place_ids(&data->train);
    oltr_status status = make_rows(&data->eval, error);
    return status == OLTR_OK ? make_rows(&data->train, error) : status;
}

static void free_lists(struct ope_lists *p)
{
    free(p->length);
    free(p->set);
    free(p->position);
    free(p->file);
    free(p->line);
    free(p->choice);
    free(p->item);
    free(p->reward);
    free(p->examined);
    for (uint32_t c = 0; c < OPE_MOST_COLUMNS; c++)
        free(p->column[c]);
    free(p->id);
    text_free(&p->ids);
}

void ope_data_free(struct ope_data *data)
{
    free_lists(&data->eval);
    free_lists(&data->train);
    for (uint32_t c = OPE_LOGGED; c < data->n_columns; c++)
        free((void *)(uintptr_t)data->extra[c].role);
    name_table_free(&data->items);
    id_set_free(&data->ids);
    free(data->set);
    free(data->set_slot);
    free(data->member);
    free(data->seen_in);
    *data = (struct ope_data){.begun = false};
}

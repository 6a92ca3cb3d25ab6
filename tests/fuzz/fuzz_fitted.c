/* fuzz_fitted.c - any bytes as a file of click models: taken whole, with probabilities only, or
 * refused with words. */
#include "lab/prepare/fitted_models.h"
#include "target.h"

static void check_chances(const double *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++)
        must_hold(x[i] >= 0 && x[i] <= 1, "a chance is a probability");
}

static void check_models(const struct fitted_models *m)
{
    const oltr_dataset *q = &m->queries;
    must_hold(q->n_queries > 0 && q->first_row[0] == 0 && q->first_row[q->n_queries] == q->n_rows,
              "queries have all rows");
    for (uint32_t i = 0; i < q->n_queries; i++)
        must_hold(q->first_row[i + 1] - q->first_row[i] >= m->slots, "a document for each slot");
    check_chances(m->attraction, q->n_rows);
    check_chances(m->users.slot_chance, (size_t)q->n_queries * m->users.n_slots);
    check_chances(m->users.item_chance, q->n_rows);
    check_chances(m->users.user_chance, q->n_queries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const models[] = {"CM", "DCM", "DBN", "PBM"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct fitted_models m;
        oltr_error error = {OLTR_OK, ""};
        if (fitted_models_parse("fuzz", (const char *)data, size, models[i], 2, &m, &error) ==
            OLTR_OK)
            check_models(&m);
        else
            must_hold(error.code != OLTR_OK && error.msg[0] != 0 && !m.block,
                      "a refusal has a code and words");
        fitted_models_clear(&m);
    }
    return 0;
}

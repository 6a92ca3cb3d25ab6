/* fuzz_store.c - any bytes as the log of a store; what is taken from it must be a sound model that
 * saves to bytes which load again.
 *
 * The first byte chooses the model, gts or lints.  The rest is tried as a whole log, as what
 * follows the beginning of one, and so once more with numbers and checksums of records made right:
 * then the decoder and the calls are attacked, not the checksum.
 */
#include "target.h"

#include <oltr/model.h>

#include "engine/base/bytes.h"
#include "engine/store/record.h"
#include "engine/store/replay.h"

enum { MODELS = 2, DIM = 3, MOST_LOG = 1 << 17 };

/* The image of a new store. */
typedef struct beginning {
    unsigned char *image;
    size_t size;
    store_image content;
} beginning;

static oltr_model *new_model(int which)
{
    oltr_model_settings s;
    must_hold(oltr_model_settings_init(&s, which ? "lints" : "gts", NULL) == OLTR_OK, "settings");
    s.policy.dim = which ? DIM : 0;
    s.policy.n_items = which ? 16 : s.policy.n_items;
    s.window = 20;
    s.most_items = 1000;
    if (!which)
        must_hold(oltr_model_settings_set(&s, "prior", "full", NULL) == OLTR_OK &&
                      oltr_model_settings_set(&s, "default_prior", "0.2,0.1", NULL) == OLTR_OK,
                  "a prior");
    return oltr_model_new(&s, NULL);
}

static const beginning *beginning_of(int which)
{
    static beginning made[MODELS];
    beginning *b = &made[which];
    if (b->image)
        return b;
    oltr_model *m = new_model(which);
    must_hold(m && store_image_make(m, 0, &b->image, &b->size, &b->content, NULL) == OLTR_OK,
              "a new model has an image");
    oltr_model_free(m);
    return b;
}

static void try_model(const oltr_model *m)
{
    oltr_error error = {OLTR_OK, ""};
    size_t bound = oltr_model_save_bound(m), size = 0, again = 0;
    unsigned char *first = malloc(bound), *second = malloc(bound);
    if (first && second) {
        must_hold(oltr_model_save(m, first, bound, &size) == OLTR_OK, "a model saves");
        oltr_model *copy = oltr_model_load(first, size, NULL, NULL, &error);
        must_hold(copy || error.code == OLTR_ENOMEM, error.msg);
        if (copy)
            must_hold(oltr_model_save(copy, second, bound, &again) == OLTR_OK && size == again &&
                          memcmp(first, second, size) == 0,
                      "a copy is a copy");
        oltr_model_free(copy);
    }
    free(first);
    free(second);
}

static void try_log(int which, const uint8_t *log, size_t size)
{
    const beginning *b = beginning_of(which);
    oltr_error error = {OLTR_OK, ""};
    store_bytes bytes = {"store", b->image, log, b->size, size};
    replayed r;
    oltr_status status = replay(&bytes, NULL, NULL, &r, &error);
    if (status != OLTR_OK) {
        must_hold(!r.model && error.code == status && error.msg[0], "a refusal has words");
        return;
    }
    must_hold(r.model && r.number == r.calls && r.end <= size, "what was replayed is counted");
    try_model(r.model);
    oltr_model_free(r.model);
}

/* The bytes as records, one behind the other: sizes that fit, numbers that follow, right checksums.
 */
static size_t put_sealed(unsigned char *log, size_t used, const uint8_t *data, size_t size)
{
    uint64_t number = 0;
    while (size >= LEAST_RECORD && used + size <= MOST_LOG) {
        reader r = {data, size, false};
        size_t body = get_u32(&r), most = size - RECORD_HEAD;
        body = body < LEAST_BODY || body > most ? most : body;
        writer w = {log + used, MOST_LOG - used, 0};
        put_u32(&w, (uint32_t)body);
        put_u32(&w, 0);
        put_u64(&w, ++number);
        put_bytes(&w, data + RECORD_HEAD, body);
        writer crc = {log + used + 4, 4, 0};
        put_u32(&crc, crc32c(log + used + 8, 8 + body));
        used += w.used;
        data += w.used;
        size -= w.used;
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char log[MOST_LOG];
    if (size < 1)
        return 0;
    int which = data[0] % MODELS;
    const store_image *image = &beginning_of(which)->content;
    try_log(which, data + 1, size - 1);
    writer w = {log, sizeof log, 0};
    put_bytes(&w, LOG_MAGIC, LOG_START);
    put_record(&w, 0,
               &(call){.kind = CALL_BASE, .image_size = image->size, .image_crc = image->crc});
    writer raw = w;
    put_bytes(&raw, data + 1, size - 1);
    if (raw.used <= sizeof log)
        try_log(which, log, raw.used);
    try_log(which, log, put_sealed(log, w.used, data + 1, size - 1));
    return 0;
}

/* decision_log.h - logs that `oltr model rank --log` and oltr_decision_write() make: a line for
 * each list that was shown, and later one for what was clicked, joined by "id" (docs/formats.md).
 *
 *   {"id": "r1", "candidates": [...], "items": ["b", "a"], "prefix_propensities": [...], ...}
 *   {"id": "r1", "clicks": [2]}       or "rewards": [...]; and "seen" or "examined"
 *
 * A decision stays open for its outcome as a query of UBI does for its events (ubi_log.h). */
#ifndef OLTR_APP_LOGS_DECISION_LOG_H
#define OLTR_APP_LOGS_DECISION_LOG_H

#include "app/logs/ubi_log.h"

bool json_is_decision(const json_t *json);
bool json_is_outcome(const json_t *json);
oltr_status decision_take(struct ubi_log *log, const json_t *json, double time, const char *file,
                          uint64_t line, oltr_error *error);
oltr_status outcome_take(struct ubi_log *log, const json_t *json, double time, const char *file,
                         uint64_t line, oltr_error *error);

#endif

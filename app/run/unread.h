/* unread.h - parameters that an experiment gives a policy and that the policy does not read,
 * because another parameter of it chooses so: alpha of glm-ucb without width: given. */
#ifndef OLTR_APP_RUN_UNREAD_H
#define OLTR_APP_RUN_UNREAD_H

#include "app/config/config.h"

/* Prints a warning for each of them. */
void unread_warn(const struct config *config);

#endif

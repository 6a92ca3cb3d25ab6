/* commands.h - the handlers of all commands; command_table.c has their names and descriptions. */
#ifndef OLTR_SERVE_REDIS_COMMANDS_H
#define OLTR_SERVE_REDIS_COMMANDS_H

#include "serve/redis/module_api.h"

/* command_create.c */
int create_command(rm_ctx *ctx, rm_string **argv, int argc);
/* commands_rank.c */
int rank_command(rm_ctx *ctx, rm_string **argv, int argc);
int propensity_command(rm_ctx *ctx, rm_string **argv, int argc);
int predict_command(rm_ctx *ctx, rm_string **argv, int argc);
int explain_command(rm_ctx *ctx, rm_string **argv, int argc);
/* command_learn.c */
int learn_command(rm_ctx *ctx, rm_string **argv, int argc);
/* commands_items.c */
int prior_command(rm_ctx *ctx, rm_string **argv, int argc);
int rem_command(rm_ctx *ctx, rm_string **argv, int argc);
int reset_command(rm_ctx *ctx, rm_string **argv, int argc);
int trim_command(rm_ctx *ctx, rm_string **argv, int argc);
int scan_command(rm_ctx *ctx, rm_string **argv, int argc);
int forget_command(rm_ctx *ctx, rm_string **argv, int argc);
/* commands_image.c */
int merge_command(rm_ctx *ctx, rm_string **argv, int argc);
int dump_command(rm_ctx *ctx, rm_string **argv, int argc);
int load_command(rm_ctx *ctx, rm_string **argv, int argc);
/* commands_info.c */
int info_command(rm_ctx *ctx, rm_string **argv, int argc);
int kinds_command(rm_ctx *ctx, rm_string **argv, int argc);

/* Creates all of them. */
int commands_register(rm_ctx *ctx);

#endif

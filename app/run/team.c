/* team.c - see team.h. */
#include "app/run/team.h"

static int my_own(int code)
{
    return code;
}

static const struct team alone = {.size = 1, .worst = my_own};
static const struct team *joined = &alone; /* set once, before anything runs */

const struct team *team_of_process(void)
{
    return joined;
}

void team_join(const struct team *team)
{
    joined = team;
}

/* main.c - the program oltr. */
#include "app/verbs/verbs.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}

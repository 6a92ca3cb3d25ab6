/* main.c - the program oltr. */
#include "app/args/command.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}

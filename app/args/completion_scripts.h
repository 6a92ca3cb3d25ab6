/* completion_scripts.h - the scripts of packaging/completion.  The build puts them into the program
 * (cmake/embed_text.cmake). */
#ifndef OLTR_APP_ARGS_COMPLETION_SCRIPTS_H
#define OLTR_APP_ARGS_COMPLETION_SCRIPTS_H

extern const char completion_bash[], completion_zsh[];

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options -- what the command lines of both programs have: numbers and the version
 */
#ifndef ISER_OPTIONS_H
#define ISER_OPTIONS_H

#include <argp.h>
#include <stdint.h>

/* Prints a line, in which all can be shown, and how to get help, and exits. */
void options_wrong(struct argp_state *state, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/*
 * Before argp_parse(): an option that cannot be shown is none, and the C library would repeat it.
 */
void options_check_names(int argc, char **argv);

/* "64K", "1M", "4096": 0, -EINVAL for anything else, -ERANGE below `least` and above `most`. */
int options_parse_size(const char *text, uint64_t least, uint64_t most, uint64_t *ret_size);

/* A decimal number from 1 to 65535, and nothing else: 0 or -EINVAL. */
int options_parse_port(const char *text, uint16_t *ret_port);

/* The value of --option.  Exits with a message if it is none. */
uint64_t options_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most);

#endif

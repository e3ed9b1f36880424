/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * printed -- what a test prints, and the debug lines in it
 */
#ifndef REARM_TEST_PRINTED_H
#define REARM_TEST_PRINTED_H

#include <stdbool.h>

#include "lib/runner.h"

/* Between the two, what goes to the descriptor goes to `printed`. */
extern char printed[1 << 20];
void capture(int fd);
void captured(void);

/* Whether the provider printed a line that matches the extended regular expression as a whole. */
bool has_line(const char *pattern);

#define assert_line(pattern) ck_assert_msg(has_line(pattern), "no line %s in\n%s", pattern, printed)
#define assert_no_line(pattern) ck_assert_msg(!has_line(pattern), "%s in\n%s", pattern, printed)

#endif

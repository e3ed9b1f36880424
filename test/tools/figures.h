/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures -- what the files of test-figures share: checks, what is printed, and their tests
 */
#ifndef TEST_TOOLS_FIGURES_H
#define TEST_TOOLS_FIGURES_H

#include <stdbool.h>

#include <jansson.h>

/* Counts, and says what was found if it is not so. */
void __attribute__((format(printf, 2, 3))) check(bool ok, const char *format, ...);
void check_text(const char *what, const char *found, const char *expected);

/* From here on standard output is kept ... */
void capture(void);
/* ... to here.  The text is valid until the next capture(). */
const char *captured(void);

/* The number at a path of names, with slashes between them; NAN: there is none. */
double number_at(json_t *object, const char *path);

/* figures-perf.c */
void perf_text(void);
void perf_json(void);
void perf_histogram(void);
void perf_packed(void);
void perf_load(void);

/* figures-top.c */
void top_fields(void);
void top_sinks(void);
void top_columns(void);
void top_rates(void);
void top_list(void);

/* figures-waits.c */
void perf_waits(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text -- texts of other programs and files: in JSON, and on a terminal
 */
#ifndef REARM_TOOLS_INFO_TEXT_H
#define REARM_TOOLS_INFO_TEXT_H

#include <stdbool.h>

#include <jansson.h>

/* A string of JSON.  U+FFFD stands for each byte that is not UTF-8.  NULL becomes null. */
json_t *text_json(const char *text);

/* The same of a format. */
json_t *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints a report of JSON in ASCII: no string of it has a control character as it is.  False if
 * that fails.
 */
bool text_dump(const json_t *report);

/*
 * Prints the label in a column of `width` after `indent` blanks, and the text behind it, in lines
 * of 80 columns that break at blanks.  What cannot be shown is printed as \xNN.
 */
void text_print(int indent, int width, const char *label, const char *text);

/* How many columns a text takes, if each character takes one. */
int text_width(const char *text);

/* Prints the text, and blanks up to `width`, one at least unless that is 0.  No line is broken. */
void text_print_cell(const char *text, int width);

#endif

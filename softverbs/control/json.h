/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json -- strings of JSON
 */
#ifndef SOFT_CONTROL_JSON_H
#define SOFT_CONTROL_JSON_H

#include <stdio.h>

/* Prints the text with its quotes; U+FFFD stands for each byte that is not ASCII. */
void soft_json_print(FILE *stream, const char *text);

#endif

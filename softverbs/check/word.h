/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * word -- words of commands that a report has, as a shell reads them
 */
#ifndef SOFT_CHECK_WORD_H
#define SOFT_CHECK_WORD_H

#include <stdio.h>

/*
 * Prints the word so that bash makes it of what is printed, which is printable ASCII.  Any shell
 * does so, if the word itself is printable ASCII.
 */
void soft_word_print(FILE *stream, const char *word);

/* The most bytes that this prints. */
size_t soft_word_size(const char *word);

#endif

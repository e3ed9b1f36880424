/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress -- one line that shows how far the copy is, on a terminal only
 */
#ifndef ISER_PROGRESS_H
#define ISER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iser/digest.h"

/* True if stderr is a terminal. */
bool progress_wanted(void);

/* Draws the line anew, and removes it when all is done; `begin` is when that has begun. */
void progress_draw(const char *what, uint64_t done, uint64_t total, uint64_t begin);

/*
 * The function for digest_backing() that draws the line, or NULL if it is not wanted or the program
 * is quiet.
 */
digest_progress_fn progress_of_sum(bool quiet);

/* The line's text without the terminal's control bytes, e.g. "write [####----]  50%". */
void progress_text(char *text, size_t size, const char *what, uint64_t done, uint64_t total);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* lot -- numbers drawn by lot, and the text of a scenario made of them */
#ifndef REARM_EXPLORE_LOT_H
#define REARM_EXPLORE_LOT_H

#include <stdbool.h>
#include <stddef.h>

/* Begins again: what is drawn from here on follows from the number. */
void lot_begin(unsigned int number);
unsigned int lot_draw(unsigned int n); /* 0 to n - 1 */
bool lot_one_in(unsigned int n);

/* Appends to the text in `to`, of `size` bytes. */
__attribute__((format(printf, 3, 4))) void lot_add(char *to, size_t size, const char *format, ...);

/*
 * The same of an action, in which % stands for this EVD, # for one of the first CNOs and @ for one
 * of the first endpoints.
 */
void lot_add_action(
    char *to, size_t size, const char *action, char evd, unsigned int cnos, unsigned int eps);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compose -- puts the parts of the device together
 *
 * A part calls the parts below it by name.  A call to a part above it goes through a table, which
 * is set here.
 */
#ifndef SOFT_COMPOSE_H
#define SOFT_COMPOSE_H

#include <stdbool.h>

/* Sets the tables; later calls change nothing.  Called before the first context or id is created.
 */
void soft_compose(void);

/* Answers of other processes may not arrive, or do. */
void soft_compose_hold(bool holds);

#endif

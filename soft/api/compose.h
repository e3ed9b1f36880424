/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compose -- puts the parts of the device together
 *
 * A part calls the parts below it by name.  Where it has to call one above it, it does so through a
 * table that is set here.
 */
#ifndef SOFT_COMPOSE_H
#define SOFT_COMPOSE_H

/* Sets the tables; later calls change nothing.  Called before the first context or id is created.
 */
void soft_compose(void);

#endif

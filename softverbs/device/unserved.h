/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unserved -- what the interfaces have and this device does not
 *
 * The first use prints one line on standard error that names the call.  A program that goes on
 * without it needs no more lines; one that fails has its reason.
 */
#ifndef SOFT_UNSERVED_H
#define SOFT_UNSERVED_H

#include <stdatomic.h>

/* Prints the line unless `printed` is set, sets it, and sets errno to EOPNOTSUPP. */
void soft_unserved(atomic_flag *printed, const char *name);

/* For one name at one place. */
#define SOFT_UNSERVED(name) \
	do { \
		static atomic_flag printed = ATOMIC_FLAG_INIT; \
\
		soft_unserved(&printed, name); \
	} while (0)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shortage -- which resource was missing when a call failed
 *
 * A descriptor, memory of the process, memory that may be locked, or an object of the device: a
 * line for the debug output, and the -errno that err.c converts.
 */
#ifndef REARM_DAPL_SHORTAGE_H
#define REARM_DAPL_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether dapl_shortage_explain() has a line for this errno of a device, and what fails prints
 * none.
 */
bool dapl_shortage_is_explained(int error);

/*
 * `call` of the device or its connection manager failed and has set errno, or has left it 0.
 * Prints the reason, unless dapl_shortage_explain() does.  Returns what it means
 * (state/device_errno.h), negative; -EIO for an errno that is not in that table, which is printed
 * with its number.
 */
int dapl_shortage_of_device(const char *call);

/* The same for a call that returns 0, an errno, or -1 and has set errno. */
int dapl_shortage_of_result(const char *call, int result);

/*
 * The same for a call by which a service point listens.  Prints nothing where the code alone is the
 * reason: a port that another one has, or that this user may not use.
 */
int dapl_shortage_of_listener(const char *call);

/*
 * The same for `call` of the program, the registration of `size` bytes, with `registered` bytes
 * registered before.
 */
int dapl_shortage_of_region(const char *call, uint64_t size, uint64_t registered);

/*
 * Prints which limit of the process or the host the -errno is about, if it is about one, and how to
 * raise it.  `call` is that of the program; NULL: dapl_debug_open() has it.
 */
void dapl_shortage_explain(const char *call, int error);

#endif

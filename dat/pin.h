/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pin -- keeps the library that this code is in
 *
 * A library that has threads, or tables that others follow, must not be unloaded.  With the
 * linker's -z nodelete that would hold from the first step of a dlopen(3) on: one that then fails
 * for want of memory leaves the library without its constructors, and glibc gives it in that state
 * to the next who loads it.  So a library pins itself, when it is complete and before it does what
 * it must stay for.
 */
#ifndef REARM_DAT_PIN_H
#define REARM_DAT_PIN_H

#include <stdbool.h>

/* False without memory.  Once it was true, it costs nothing. */
bool pin_library(void);

#endif

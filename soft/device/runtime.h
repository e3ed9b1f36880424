/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime -- what the process holds for the device as a whole
 *
 * The process slot makes queue-pair numbers unique on the host; the progress thread runs
 * timers and the links to other processes.  Both are taken at first need and given back
 * when the last context has gone.  A forked child starts with neither.
 */
#ifndef SOFT_RUNTIME_H
#define SOFT_RUNTIME_H

#include "soft.h"

/* For a context that comes to life, and one that ends. */
struct soft_context;
void soft_runtime_enter(struct soft_context *ctx);
void soft_runtime_leave(struct soft_context *ctx);

/* Calls fn for every living context. */
void soft_runtime_each(void (*fn)(struct soft_context *ctx, int arg), int arg);

/* Makes slot and progress thread exist: 0 or -errno. */
int soft_runtime_start(void);

/*
 * In a forked child: keeps memory of the parent, and what it points to, where memory checkers look.
 * It is not freed, because another thread may have been about to change it.  NULL is nothing.
 */
void soft_runtime_abandon(void *memory);

/* Changes when the process is a forked child. */
unsigned int soft_runtime_generation(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime -- what the process has once, for all contexts of the device
 *
 * The process slot makes queue-pair numbers unique on the host; the progress thread runs timers and
 * the links to other processes.  Both start when they are first needed and stop with the last
 * context.  A forked child starts with neither.
 */
#ifndef SOFT_RUNTIME_H
#define SOFT_RUNTIME_H

#include "soft.h"

struct soft_context;

/* A part of the device above this folder.  Any member may be NULL. */
struct soft_part {
	int (*start)(void);  /* after the progress thread has started: 0 or -errno */
	void (*stop)(void);  /* after it has stopped */
	void (*reset)(void); /* in a forked child */
	void (*init_context)(struct soft_context *ctx);
	int (*open_context)(struct soft_context *ctx); /* it becomes active: 0 or -errno */
};

/* Sets the parts, lower ones first, before the first context is created. */
void soft_runtime_set_parts(const struct soft_part *const *parts, size_t count);

/* Calls these functions of all parts: a context is created, or becomes active. */
void soft_runtime_init_context(struct soft_context *ctx);
int soft_runtime_open_context(struct soft_context *ctx);

/*
 * Called when a context becomes active, and when it ends; the end of the last context stops the
 * runtime.
 */
void soft_runtime_attach(struct soft_context *ctx) SOFT_NO_RUNTIME_LOCK;
void soft_runtime_detach(struct soft_context *ctx) SOFT_NO_RUNTIME_LOCK;

/* Calls fn for every active context. */
void soft_runtime_each(void (*fn)(struct soft_context *ctx, int arg), int arg) SOFT_NO_RUNTIME_LOCK;

/*
 * The same, also from the progress thread: none when its end is waited for.  False if there is no
 * context.
 */
bool soft_runtime_each_now(
    void (*fn)(struct soft_context *ctx, void *arg), void *arg) SOFT_NO_RUNTIME_LOCK;

/* Starts slot, progress thread and parts, unless they run: 0 or -errno. */
int soft_runtime_start(void) SOFT_NO_RUNTIME_LOCK;

/* From now on the end of the last context does not stop them. */
void soft_runtime_keep(void);

/*
 * In a forked child: keeps memory of the parent, and what it points to, reachable for memory
 * checkers.  It is not freed, because another thread of the parent may have been changing it.  NULL
 * is ignored.
 */
void soft_runtime_leak(void *memory);

/* Changes when the process is a forked child. */
unsigned int soft_runtime_generation(void);

/* The same, for a new object, which is recognised as the parent's in children from now on. */
unsigned int soft_runtime_mark(void);

#endif

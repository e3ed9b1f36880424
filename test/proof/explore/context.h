/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context -- a stack and a place on it: what a fiber is to the processor
 *
 * When the program is linked with a sanitizer, every switch is announced to it.  A switch between
 * fibers is no synchronisation to ThreadSanitizer, so that it judges what the fibers share by the
 * modelled locks alone.
 */
#ifndef REARM_EXPLORE_CONTEXT_H
#define REARM_EXPLORE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct context {
	void *sp;    /* where it stopped */
	void *stack; /* NULL: the program's own */
	size_t size;
	void (*entry)(void);
	void *fake_stack; /* AddressSanitizer's */
	void *tsan;	  /* ThreadSanitizer's */
	bool abandoned;	  /* left in the middle of its function */
	void *fallback;	  /* where no switch is written in assembler */
};

/* The running one. */
void context_adopt(struct context *c);

/* Gives it a stack, once. */
void context_stack(struct context *c, size_t size);

/* Restarts the context: the next switch to it enters entry(), which must not return. */
void context_make(struct context *c, void (*entry)(void));

/* `last`: the one left ends here.  `sync`: what came before happened before. */
void context_switch(struct context *from, struct context *to, bool last, bool sync);

/* Not switched to again before context_make(): what it did happened before what `running` does. */
void context_abandon(struct context *c, struct context *runs);

/* First thing in entry(). */
void context_entered(void);

/* Report to ThreadSanitizer the order that the modelled primitives establish. */
void context_acquire(void *address);
void context_release(void *address);

/* A sanitizer that ends the program when it finds something calls this first. */
void context_on_death(void (*callback)(void));

bool context_is_asan(void);
bool context_is_tsan(void);

#endif

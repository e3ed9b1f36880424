/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __x86_64__
#include <ucontext.h>
#endif

/* Present when the program is linked with the sanitizer in question. */
#define OPTIONAL __attribute__((weak))
void OPTIONAL __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void OPTIONAL __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void OPTIONAL __sanitizer_set_death_callback(void (*callback)(void));
void OPTIONAL __asan_unpoison_memory_region(const volatile void *address, size_t size);
void OPTIONAL *__tsan_get_current_fiber(void);
void OPTIONAL *__tsan_create_fiber(unsigned int flags);
void OPTIONAL __tsan_destroy_fiber(void *fiber);
void OPTIONAL __tsan_switch_to_fiber(void *fiber, unsigned int flags);
void OPTIONAL __tsan_acquire(void *address);
void OPTIONAL __tsan_release(void *address);

#define TSAN_NO_SYNC 1u

static struct context *running;
static const void *program_stack;
static size_t program_size;

bool
context_is_asan(void)
{
	return __asan_unpoison_memory_region != NULL;
}

bool
context_is_tsan(void)
{
	return __tsan_create_fiber != NULL;
}

#ifdef __x86_64__
/* Keeps what the callee must keep, on the stack it leaves; floating-point modes never change. */
void context_jump(void **save, void *to);
__asm__(".text\n"
	".globl context_jump\n"
	".hidden context_jump\n"
	".type context_jump, @function\n"
	"context_jump:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size context_jump, .-context_jump\n");

static void
machine_make(struct context *c)
{
	uintptr_t top = ((uintptr_t)c->stack + c->size) & ~(uintptr_t)15;
	void **sp = (void **)top;

	*--sp = NULL; /* the entry's return address: it never returns */
	*--sp = (void *)(uintptr_t)c->entry;
	for (int i = 0; i < 6; i++)
		*--sp = NULL;
	c->sp = sp;
}

static void
machine_switch(struct context *from, struct context *to)
{
	context_jump(&from->sp, to->sp);
}
#else
/*
 * Not in the caller: getcontext() may return twice, and a variable that changed before may be lost
 * then.
 */
static __attribute__((noinline)) ucontext_t *
machine_room(struct context *c)
{
	if (!c->fallback)
		c->fallback = calloc(1, sizeof(ucontext_t));
	if (!c->fallback)
		abort();
	return c->fallback;
}

static void
machine_make(struct context *c)
{
	ucontext_t *const u = machine_room(c);

	if (getcontext(u))
		abort();
	u->uc_stack.ss_sp = c->stack;
	u->uc_stack.ss_size = c->size;
	u->uc_link = NULL;
	makecontext(u, c->entry, 0);
}

static void
machine_switch(struct context *from, struct context *to)
{
	if (swapcontext(machine_room(from), to->fallback))
		abort();
}
#endif

void
context_adopt(struct context *c)
{
	running = c;
	if (__tsan_get_current_fiber)
		c->tsan = __tsan_get_current_fiber();
}

void
context_stack(struct context *c, size_t size)
{
	/* The lowest page stays unmapped: a stack that is too small faults. */
	unsigned char *p = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE)) {
		perror("explore: stack");
		exit(2);
	}
	c->stack = p + 4096;
	c->size = size;
}

void
context_make(struct context *c, void (*entry)(void))
{
	c->entry = entry;
	c->fake_stack = NULL;
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region(c->stack, c->size);
	if (__tsan_create_fiber) {
		if (c->tsan && c->abandoned) {
			__tsan_destroy_fiber(c->tsan);
			c->tsan = NULL;
		}
		if (!c->tsan)
			c->tsan = __tsan_create_fiber(0);
	}
	c->abandoned = false;
	machine_make(c);
}

void
context_entered(void)
{
	const void **bottom = program_stack ? NULL : &program_stack;
	size_t *size = program_stack ? NULL : &program_size;

	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(NULL, bottom, size);
}

void
context_switch(struct context *from, struct context *to, bool last, bool sync)
{
	if (__sanitizer_start_switch_fiber)
		__sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack,
		    to->stack ? to->stack : program_stack, to->stack ? to->size : program_size);
	if (__tsan_switch_to_fiber)
		__tsan_switch_to_fiber(to->tsan, sync ? 0 : TSAN_NO_SYNC);
	running = to;
	machine_switch(from, to);
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
}

void
context_abandon(struct context *c, struct context *runs)
{
	c->abandoned = true;
	if (__tsan_switch_to_fiber) {
		__tsan_switch_to_fiber(c->tsan, 0);
		__tsan_switch_to_fiber(runs->tsan, 0);
	}
}

void
context_acquire(void *address)
{
	if (__tsan_acquire)
		__tsan_acquire(address);
}

void
context_release(void *address)
{
	if (__tsan_release)
		__tsan_release(address);
}

void
context_on_death(void (*callback)(void))
{
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(callback);
}

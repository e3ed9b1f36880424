/* SPDX-License-Identifier: BSD-3-Clause */
#include "inject.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define INTERRUPTIONS 3

struct inject_shared *inject_shared;

static struct inject_plan plan;
static atomic_bool is_open;
static atomic_int interruptions;

bool
inject_setup(void)
{
	void *frames[1];

	inject_shared = mmap(
	    NULL, sizeof *inject_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* The first call loads a library, which must not happen in the middle of a run. */
	(void)backtrace(frames, 1);
	return inject_shared != MAP_FAILED;
}

/* A spin lock: the wrappers may be called under any lock, and a child may be killed in here. */
static void
lock(void)
{
	while (atomic_exchange(&inject_shared->lock, 1))
		sched_yield();
}

static void
unlock(void)
{
	atomic_store(&inject_shared->lock, 0);
}

void
inject_clear(void)
{
	unlock();
	inject_shared->points = inject_shared->failed = inject_shared->polls = 0;
	inject_shared->call[0] = '\0';
	inject_shared->frames = 0;
}

void
inject_open(const struct inject_plan *what)
{
	plan = *what;
	atomic_store(&interruptions, 0);
	atomic_store(&is_open, true);
}

void
inject_close(void)
{
	atomic_store(&is_open, false);
}

bool
inject_met(void)
{
	return inject_shared->failed != 0;
}

/* Where an address is, in a form that is the same in every process. */
static void
locate(const void *address, char module[48], uintptr_t *offset)
{
	Dl_info info;
	const char *name;

	module[0] = '\0';
	*offset = (uintptr_t)address;
	if (!dladdr(address, &info) || !info.dli_fname)
		return;
	name = strrchr(info.dli_fname, '/');
	snprintf(module, 48, "%s", name ? name + 1 : info.dli_fname);
	*offset = (uintptr_t)address - (uintptr_t)info.dli_fbase;
}

/* Locked. */
static unsigned int
site_index(const char *call, const void *caller)
{
	struct inject_site *site;
	char module[48];
	uintptr_t offset;
	unsigned int i;

	locate(caller, module, &offset);
	for (i = 0; i < inject_shared->n_sites; i++) {
		site = &inject_shared->sites[i];
		if (site->offset == offset && !strcmp(site->module, module))
			return i;
	}
	if (i == INJECT_SITES)
		return i - 1;
	site = &inject_shared->sites[inject_shared->n_sites++];
	/* Copied: the libraries are not mapped in the process that sweeps. */
	snprintf(site->call, sizeof site->call, "%s", call);
	site->offset = offset;
	memcpy(site->module, module, sizeof module);
	return i;
}

/* Locked.  The wrapper and this function are left out. */
static void
remember(const char *call)
{
	void *frames[INJECT_FRAMES + 2];
	int n = backtrace(frames, INJECT_FRAMES + 2);

	snprintf(inject_shared->call, sizeof inject_shared->call, "%s", call);
	inject_shared->frames = 0;
	for (int i = 0; i < n && inject_shared->frames < INJECT_FRAMES; i++) {
		int at = inject_shared->frames++;

		locate(
		    frames[i], inject_shared->frame[at].module, &inject_shared->frame[at].offset);
	}
}

static bool
chosen(unsigned int number, unsigned int index)
{
	switch (plan.mode) {
	case INJECT_ONCE:
		if (inject_shared->failed)
			return false;
		return plan.point ? number == plan.point : index == plan.site;
	case INJECT_ALWAYS:
		if (inject_shared->failed)
			return true;
		return plan.point ? number >= plan.point : index == plan.site;
	default:
		return false;
	}
}

bool
inject(const char *call, const void *caller, enum inject_kind kind)
{
	struct inject_site *site;
	unsigned int number, index;
	bool fails;

	if (!atomic_load(&is_open))
		return false;
	lock();
	index = site_index(call, caller);
	site = &inject_shared->sites[index];
	site->seen++;
	number = ++inject_shared->points;
	fails = chosen(number, index);
	if (fails && kind == INJECT_INTERRUPTED)
		fails = atomic_fetch_add(&interruptions, 1) < INTERRUPTIONS;
	if (fails) {
		site->failed++;
		inject_shared->polls += !strcmp(call, "ibv_poll_cq");
		if (inject_shared->failed++ == 0)
			remember(call);
	}
	unlock();
	return fails;
}

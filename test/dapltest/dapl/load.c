/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-load -- a library of ours whose load fails half-way can be loaded again, and works
 *
 * The dynamic linker allocates by the functions of the program: each allocation of a dlopen(3)
 * fails in turn.  A process of its own does each, because a library that was loaded once is not
 * loaded anew.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "lib/runner.h"

#define MOST_ALLOCATIONS 1000

/* ---- the allocator ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_int left = -1; /* allocations until one fails; below zero: none does */

static bool
fails(void)
{
	if (left < 0 || atomic_fetch_sub(&left, 1) != 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

/* ---- a registry, for the providers: they find these functions before those of libdat2 ---- */

static const DAT_PROVIDER *registered;
/* Those of libdat2 where that is what is tested. */
static __typeof__(dat_registry_add_provider) *add;
static __typeof__(dat_registry_remove_provider) *remove_again;

DAT_RETURN
dat_registry_add_provider(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	if (add)
		return add(table, info);
	registered = table;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_registry_remove_provider(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	if (remove_again)
		return remove_again(table, info);
	registered = NULL;
	return DAT_SUCCESS;
}

/* ---- what is done with a library that was loaded: true if it works ---- */

/* Opens an adapter of a provider and closes it; `works`: whether its device is here. */
static bool
use_provider(void *library, bool works)
{
	DAT_PROVIDER_INFO info = { .dapl_version_major = 2, .is_thread_safe = DAT_TRUE };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_PROVIDER_INIT_FUNC init;
	const DAT_PROVIDER *table;
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	strcpy(info.ia_name, "x");
	*(void **)&init = dlsym(library, DAT_PROVIDER_INIT_FUNC_STR);
	if (!init)
		return false;
	init(&info, "127.0.0.1");
	table = registered;
	if (!table)
		return false;
	ret = table->ia_open_func((char *)"x", 8, &async, &ia);
	if (!works)
		return ret != DAT_SUCCESS;
	if (ret != DAT_SUCCESS || table->ia_close_func(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
		return false;
	/* A registry closes the library then; it stays, because others may still run in it. */
	dlclose(library);
	return dlopen(SOFT_PATH, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static bool
use_soft(void *library)
{
	return use_provider(library, true);
}

static bool
use_real(void *library)
{
	return use_provider(library, false);
}

static bool
use_registry(void *library)
{
	__typeof__(dat_ia_openv) *openv;
	__typeof__(dat_ia_close) *close_ia;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	*(void **)&openv = dlsym(library, "dat_ia_openv");
	*(void **)&close_ia = dlsym(library, "dat_ia_close");
	*(void **)&add = dlsym(library, "dat_registry_add_provider");
	*(void **)&remove_again = dlsym(library, "dat_registry_remove_provider");
	if (!openv || !close_ia || !add || !remove_again ||
	    openv((char *)"x", 8, &async, &ia, 2, 0, DAT_TRUE) != DAT_SUCCESS)
		return false;
	if (close_ia(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
		return false;
	dlclose(library);
	return dlopen(DAT_PATH, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static bool
use_verbs(void *library)
{
	/* Their types are nothing that this needs to know. */
	void **(*get_list)(int *n);
	void *(*open_device)(void *device);
	int (*close_device)(void *context);
	void **list, *context;

	*(void **)&get_list = dlsym(library, "ibv_get_device_list");
	*(void **)&open_device = dlsym(library, "ibv_open_device");
	*(void **)&close_device = dlsym(library, "ibv_close_device");
	if (!get_list || !open_device || !close_device)
		return false;
	list = get_list(NULL);
	context = list && list[0] ? open_device(list[0]) : NULL;
	return context && !close_device(context);
}

static const struct library {
	const char *path;
	bool (*use)(void *library);
} libraries[] = {
	{ SOFT_PATH, use_soft },
	{ REAL_PATH, use_real },
	{ DAT_PATH, use_registry },
	{ VERBS_PATH, use_verbs },
};

enum { WORKS, NO_FAULT_MET, FAILS_AGAIN, DOES_NOT_WORK };

static int
load_twice(const struct library *library, int allocation)
{
	void *handle;
	int met;

	left = allocation;
	handle = dlopen(library->path, RTLD_NOW | RTLD_GLOBAL);
	met = left < 0;
	left = -1;
	if (!handle)
		handle = dlopen(library->path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		return FAILS_AGAIN;
	if (!library->use(handle))
		return DOES_NOT_WORK;
	return met ? WORKS : NO_FAULT_MET;
}

static int
in_a_child(const struct library *library, int allocation)
{
	const pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(load_twice(library, allocation));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "%s, allocation %d: signal %d", library->path, allocation,
	    WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void write_conf(void);
static void remove_conf(void);
CASE("load:load", write_conf, remove_conf, .seconds = 60);

/* origin: out33.F2 */
TEST_LOOP(
    load__each_allocation_fails_once__the_next_load_works, sizeof libraries / sizeof libraries[0])
{
	const struct library *library = &libraries[_i];
	int result = WORKS, n;

	for (n = 0; n < MOST_ALLOCATIONS && result == WORKS; n++)
		result = in_a_child(library, n);
	ck_assert_msg(
	    result == NO_FAULT_MET, "%s, allocation %d: %d", library->path, n - 1, result);
	ck_assert_int_gt(n, 3);
}

/* Nothing holds a library that was loaded and not used. */
/* origin: out33.F2 */
TEST_LOOP(load__closed_before_it_was_used__is_unloaded, sizeof libraries / sizeof libraries[0])
{
	const struct library *library = &libraries[_i];
	void *handle = dlopen(library->path, RTLD_NOW);

	ck_assert_msg(handle != NULL, "%s", dlerror());
	dlclose(handle);
	ck_assert_ptr_null(dlopen(library->path, RTLD_NOW | RTLD_NOLOAD));
}

/* A dat.conf with the record "x". */
static void
write_conf(void)
{
	static char path[] = "/tmp/rearm-load-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "x u2.0 threadsafe default %s id.2.0 \"127.0.0.1\" \"\"\n", SOFT_PATH);
	fclose(f);
	setenv("DAT_OVERRIDE", path, 1);
}

static void
remove_conf(void)
{
	unlink(getenv("DAT_OVERRIDE"));
}

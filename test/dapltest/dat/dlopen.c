/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-dat-dlopen -- a program that is not linked with libdat2 but loads it with RTLD_LOCAL
 */
#include <dlfcn.h>

#include "story.h"

#define CONF "x u2.0 threadsafe default %S id.2.0 \"\" \"\"\n"

static __typeof__(dat_ia_openv) *openv;
static __typeof__(dat_ia_close) *close_ia;

static void *
load_registry(int flags)
{
	void *library = dlopen(DAT_PATH, flags);

	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&openv = dlsym(library, "dat_ia_openv");
	*(void **)&close_ia = dlsym(library, "dat_ia_close");
	ck_assert(openv != NULL && close_ia != NULL);
	return library;
}

static void
assert_opens_and_closes(void *library)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	story_assert_ret(openv((char *)"x", 8, &evd, &ia, 2, 0, DAT_TRUE), DAT_SUCCESS);
	dlclose(library); /* stays: it has loaded a provider */
	story_assert_ret(close_ia(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
	ck_assert_int_eq(story_traced("remove 00000000"), 1);
}

STORY_CASE("dlopen:dlopen");

/* clause: b.5.1 */
TEST(dlopen__local__the_provider_finds_the_registry_all_the_same)
{
	void *library;

	story_conf(CONF);
	library = load_registry(RTLD_NOW | RTLD_LOCAL);
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "dat_registry_add_provider"));
	assert_opens_and_closes(library);
}

TEST(dlopen__global__works)
{
	story_conf(CONF);
	assert_opens_and_closes(load_registry(RTLD_NOW | RTLD_GLOBAL));
}

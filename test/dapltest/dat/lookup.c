/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which record of dat.conf serves which request
 */
#include "story.h"

#include <dat2/dat_log.h>
#include <dlfcn.h>
#include <stdio.h>

#define NOT_FOUND DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED)

#define LINE(name, version, safety, library, params) \
	name " " version " " safety " default " library " id.2.0 \"" params "\" \"\"\n"

/* Nothing has been opened, nothing is left. */
static void
assert_not_found(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_IA_HANDLE ia = (DAT_IA_HANDLE)&ia;

	story_assert_ret(story_try_open(name, major, minor, thread_safe, &ia), NOT_FOUND);
	ck_assert_ptr_eq(ia, &ia);
	ck_assert_int_eq(story_traced("open"), 0);
}

STORY_CASE("lookup:key");

/* clause: b.3.5 */
TEST(lookup__unknown_name__is_not_found)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", ""));
	assert_not_found("y", 2, 0, DAT_FALSE);
}

TEST(lookup__prefix_of_a_name__is_not_found)
{
	story_conf(LINE("name", "u2.0", "threadsafe", "%S", ""));
	assert_not_found("nam", 2, 0, DAT_FALSE);
	assert_not_found("name2", 2, 0, DAT_FALSE);
}

/* clause: b.2.1 */
TEST(lookup__other_major__is_not_found)
{
	story_conf(LINE("x", "u2.0", "nonthreadsafe", "%S", ""));
	assert_not_found("x", 1, 0, DAT_FALSE);
}

/* clause: b.2.1 */
TEST(lookup__other_minor__is_not_found)
{
	story_conf(LINE("x", "u2.1", "nonthreadsafe", "%S", ""));
	assert_not_found("x", 2, 0, DAT_FALSE);
	assert_not_found("x", 2, 2, DAT_FALSE);
}

TEST(lookup__exact_key__is_found)
{
	story_conf(LINE("x", "u2.0", "nonthreadsafe", "%S", "a")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_close(story_open("x", DAT_FALSE));
	ck_assert_int_eq(story_traced("init x 2.0 0 \"a\""), 1);
	ck_assert_int_eq(story_traced("init x 2.0 1 \"b\""), 0);
}

/* clause: b.2.2 */
TEST(lookup__safe_provider_for_unsafe_consumer__is_found)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", ""));
	story_close(story_open("x", DAT_FALSE));
	ck_assert_int_eq(story_traced("init x 2.0 1"), 1);
}

/* clause: b.2.2 */
TEST(lookup__unsafe_provider_for_safe_consumer__is_not_found)
{
	story_conf(LINE("x", "u2.0", "nonthreadsafe", "%S", ""));
	assert_not_found("x", 2, 0, DAT_TRUE);
}

/* Each differs from "x u2.0 threadsafe default" in one field, the last one in none. */
static const struct other {
	const char *fields;
	const char *name;
	DAT_UINT32 major, minor;
	DAT_BOOLEAN thread_safe;
	bool is_offered; /* it can be opened at all */
} others[] = {
	{ "X u2.0 threadsafe default", "X", 2, 0, DAT_TRUE, true },
	{ "x2 u2.0 threadsafe default", "x2", 2, 0, DAT_TRUE, true },
	{ "x u3.0 threadsafe default", "x", 3, 0, DAT_TRUE, true },
	{ "x u2.1 threadsafe default", "x", 2, 1, DAT_TRUE, true },
	{ "x u2.0 nonthreadsafe default", "x", 2, 0, DAT_FALSE, true },
	{ "x k2.0 threadsafe default", "x", 2, 0, DAT_TRUE, false },
	{ "x u2.0 threadsafe nondefault", "x", 2, 0, DAT_TRUE, false },
	{ "x u2.0 threadsafe default", "x", 2, 0, DAT_TRUE, true },
};

enum { OTHERS = sizeof others / sizeof others[0] };

static void
conf_two(const char *first, const char *library, const char *second)
{
	char text[512];

	snprintf(text, sizeof text, "%s %s id.2.0 \"a\" \"\"\n%s %%S id.2.0 \"b\" \"\"\n", first,
	    library, second);
	story_conf(text);
}

/* The record does not stand in for one that differs from it in any field. */
/* origin: out33.E1 */
TEST_LOOP(key__record_that_differs_in_one_field__is_no_spare, OTHERS)
{
	const struct other *other = &others[_i];
	const bool is_equal = _i == OTHERS - 1;
	DAT_PROVIDER_INFO infos[4], *list[4] = { &infos[0], &infos[1], &infos[2], &infos[3] };
	char init[64];
	DAT_COUNT n;

	conf_two("x u2.0 threadsafe default", "%D/nowhere.so", other->fields);
	story_listen();
	story_assert_ret(dat_registry_list_providers(4, &n, list), DAT_SUCCESS);
	ck_assert_int_eq(n, other->is_offered && !is_equal ? 2 : 1);
	if (!is_equal) {
		assert_not_found("x", 2, 0, DAT_TRUE);
		ck_assert_int_eq(story_traced("load"), 0);
	}
	if (other->is_offered) {
		DAT_IA_HANDLE ia;

		story_assert_ret(story_try_open(other->name, other->major, other->minor,
				     other->thread_safe, &ia),
		    DAT_SUCCESS);
		story_close(ia);
		snprintf(init, sizeof init, "init %s %u.%u %d \"b\"", other->name, other->major,
		    other->minor, other->thread_safe == DAT_TRUE);
		ck_assert_int_eq(story_traced(init), 1);
	}
	ck_assert_int_eq(story_traced("init"), other->is_offered);
	(void)story_heard();
}

/* origin: out33.E1 */
TEST_LOOP(key__record_that_differs_in_one_field__is_not_tried_first, OTHERS)
{
	const bool is_equal = _i == OTHERS - 1;

	conf_two(others[_i].fields, "%D/nowhere.so", "x u2.0 threadsafe default");
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	ck_assert((strstr(story_heard(), "cannot load the library") != NULL) == is_equal);
	ck_assert_int_eq(story_traced("init x 2.0 1 \"b\""), 1);
}

STORY_CASE("lookup:chain");

/* clause: b.2.3 */
TEST(chain__first_library_missing__second_is_taken)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%D/nowhere.so", "a")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	ck_assert_ptr_nonnull(strstr(story_heard(), ": cannot load the library: "));
	ck_assert_int_eq(story_traced("init x 2.0 1 \"b\""), 1);
}

/* clause: b.2.3 */
TEST(chain__first_loads__second_is_left_alone)
{
	story_conf(
	    LINE("x", "u2.0", "threadsafe", "%S", "a") LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("init"), 1);
	ck_assert_int_eq(story_traced("init x 2.0 1 \"a\""), 1);
}

/* clause: b.2.3 */
TEST_LOOP(chain__one_of_three_loads__it_is_taken, 3)
{
	const char *const missing[] = { "%D/one.so", "%D/two.so", "%D/three.so" };
	char lines[512] = "";

	for (int i = 0; i < 3; i++)
		snprintf(lines + strlen(lines), sizeof lines - strlen(lines),
		    LINE("x", "u2.0", "threadsafe", "%s", "%d"), i == _i ? "%S" : missing[i], i);
	story_conf(lines);
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	story_heard();
	snprintf(lines, sizeof lines, "init x 2.0 1 \"%d\"", _i);
	ck_assert_int_eq(story_traced("init"), 1);
	ck_assert_int_eq(story_traced(lines), 1);
}

TEST(chain__understudy_in_use__serves_the_next_open_too)
{
	DAT_IA_HANDLE a, b;

	story_conf(LINE("x", "u2.0", "threadsafe", "%D/nowhere.so", "a")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_listen();
	a = story_open("x", DAT_TRUE);
	b = story_open("x", DAT_TRUE);
	ck_assert_ptr_eq(strstr(strstr(story_heard(), "cannot load") + 1, "cannot load"), NULL);
	ck_assert_int_eq(story_traced("init"), 1);
	story_close(a);
	story_close(b);
}

TEST(chain__first_does_not_register__second_is_taken)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "silent")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	ck_assert_ptr_nonnull(strstr(story_heard(), "did not register this name\n"));
	ck_assert_int_eq(story_traced("init"), 2);
}

/* The first record's init opens its own adapter, which the second one serves, and then fails. */
/* origin: out35.P33 */
TEST(chain__first_opens_the_second_and_does_not_register__it_stays_in_use)
{
	DAT_IA_HANDLE ia;

	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "selfopen silent")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_listen();
	ia = story_open("x", DAT_TRUE);
	ck_assert_int_eq(story_traced("selfopen 00000000"), 1);
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("init"), 2);
	story_close(ia);
	ck_assert_int_eq(story_traced("fini"), 0); /* that of the init is still open */
	story_close((DAT_IA_HANDLE)1);
	ck_assert_int_eq(story_traced("fini x"), 1);
	ck_assert_ptr_nonnull(strstr(story_heard(), "did not register this name\n"));
}

TEST(chain__none_loads__is_not_found)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%D/one.so", "")
		LINE("x", "u2.0", "threadsafe", "%D/two.so", ""));
	story_listen();
	assert_not_found("x", 2, 0, DAT_TRUE);
	ck_assert_ptr_nonnull(strstr(story_heard(), "two.so"));
}

static void
assert_not_loaded(const char *path)
{
	ck_assert_ptr_null(dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
}

STORY_CASE("lookup:library");

/* clause: b.3.3 */
TEST(library__without_init__is_refused_by_name)
{
	story_conf("x u2.0 threadsafe default " STUB_NO_INIT_PATH " id.2.0 \"\" \"\"\n");
	story_listen();
	assert_not_found("x", 2, 0, DAT_TRUE);
	ck_assert_ptr_nonnull(strstr(story_heard(),
	    STUB_NO_INIT_PATH " is not a DAT provider: it has no dat_provider_init()"));
	assert_not_loaded(STUB_NO_INIT_PATH);
}

/* clause: b.3.3 */
TEST(library__without_fini__is_refused_by_name)
{
	story_conf("x u2.0 threadsafe default " STUB_NO_FINI_PATH " id.2.0 \"\" \"\"\n");
	story_listen();
	assert_not_found("x", 2, 0, DAT_TRUE);
	ck_assert_ptr_nonnull(strstr(story_heard(),
	    STUB_NO_FINI_PATH " is not a DAT provider: it has no dat_provider_fini()"));
	assert_not_loaded(STUB_NO_FINI_PATH);
}

TEST(library__init_registers_nothing__is_unloaded_without_fini)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "silent"));
	story_listen();
	assert_not_found("x", 2, 0, DAT_TRUE);
	story_heard();
	ck_assert_str_eq(story_trace(), "load\ninit x 2.0 1 \"silent\"\nunload\n");
}

TEST(library__init_registers_another_name__is_taken_back)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "otherkey forget"));
	story_listen();
	assert_not_found("x", 2, 0, DAT_TRUE);
	ck_assert_ptr_nonnull(
	    strstr(story_heard(), "the provider of \"x-other\" did not remove its registration"));
	assert_not_found("x-other", 2, 0, DAT_TRUE);
	ck_assert_int_eq(story_traced("fini x"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

TEST(library__init_registers_a_second_name__both_open)
{
	DAT_IA_HANDLE x, y;

	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "also=y"));
	x = story_open("x", DAT_TRUE);
	y = story_open("y", DAT_TRUE);
	story_close(x);
	ck_assert_int_eq(story_traced("fini x"), 0); /* y still needs the library */
	story_close(y);
	ck_assert_int_eq(story_traced("fini x"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

TEST(library__under_two_keys__is_initialised_for_each)
{
	DAT_IA_HANDLE safe, unsafe;

	story_conf(
	    LINE("x", "u2.0", "threadsafe", "%S", "") LINE("x", "u2.0", "nonthreadsafe", "%S", ""));
	safe = story_open("x", DAT_TRUE);
	unsafe = story_open("x", DAT_FALSE);
	ck_assert_int_eq(story_traced("load"), 1);
	ck_assert_int_eq(story_traced("init x 2.0 1"), 1);
	ck_assert_int_eq(story_traced("init x 2.0 0"), 1);
	story_close(safe);
	ck_assert_int_eq(story_traced("fini x"), 1);
	ck_assert_int_eq(story_traced("unload"), 0);
	story_close(unsafe);
	ck_assert_int_eq(story_traced("fini x"), 2);
	ck_assert_int_eq(story_traced("remove 00000000"), 2);
	ck_assert_int_eq(story_traced("unload"), 1);
}

/* clause: b.3.4 */
TEST(library__init_registers_twice__second_is_refused)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "twice"));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("add x 00000000"), 1);
	ck_assert_int_eq(story_traced("add x 80100000"), 1);
}

TEST(library__init_opens_itself__is_refused_and_does_not_hang)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "selfopen"));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("selfopen 800a0064"), 1);
}

STORY_CASE("lookup:nested");

/* A provider that wraps another opens it first. */
/* origin: attack.P7 */
TEST(nested__init_opens_another_adapter__both_belong_to_their_own_libraries)
{
	story_conf(LINE("outer", "u2.0", "threadsafe", "%S", "before=inner")
		LINE("inner", "u2.0", "threadsafe", "%S", ""));
	for (int i = 1; i <= 2; i++) {
		story_close(story_open("outer", DAT_TRUE));
		ck_assert_int_eq(story_traced("before=inner 00000000"), i);
		ck_assert_int_eq(story_traced("fini inner"), i);
		ck_assert_int_eq(story_traced("fini outer"), i);
		ck_assert_int_eq(story_traced("remove 00000000"), 2 * i);
		ck_assert_int_eq(story_traced("unload"), i);
	}
}

/* origin: attack.P7 */
TEST(nested__three_deep_and_kept_open__close_in_turn)
{
	story_conf(LINE("a", "u2.0", "threadsafe", "%S", "hold=b") LINE(
	    "b", "u2.0", "threadsafe", "%S", "hold=c") LINE("c", "u2.0", "threadsafe", "%S", ""));
	story_close(story_open("a", DAT_TRUE));
	ck_assert_int_eq(story_traced("init"), 3);
	ck_assert_int_eq(story_traced("remove 00000000"), 3);
	ck_assert_int_eq(story_traced("unload"), 1);
}

/* origin: attack.P7 */
TEST(nested__inner_library_fails__outer_is_registered_all_the_same)
{
	story_conf(LINE("outer", "u2.0", "threadsafe", "%S", "before=inner")
		LINE("inner", "u2.0", "threadsafe", "%S", "silent"));
	story_listen();
	story_close(story_open("outer", DAT_TRUE));
	ck_assert_ptr_nonnull(strstr(story_heard(), "dat: dat_ia_open(\"inner\"): "));
	ck_assert_int_eq(story_traced("before=inner 800a0064"), 1);
	ck_assert_int_eq(story_traced("fini outer"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

TEST(nested__adapters_that_open_each_other__are_refused_and_do_not_hang)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "before=y")
		LINE("y", "u2.0", "threadsafe", "%S", "before=x"));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("before=x 800a0064"), 1);
	ck_assert_int_eq(story_traced("before=y 00000000"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

STORY_CASE("lookup:library");

TEST(library__fini_forgets_its_registration__next_open_works)
{
	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "forget"));
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_ptr_nonnull(
	    strstr(story_heard(), "the provider of \"x\" did not remove its registration"));
	ck_assert_int_eq(story_traced("open x 8"), 2);
}

/*
 * Each is taken back, the older one and the newer one, and neither can be opened by what has gone.
 */
TEST(library__fini_forgets_two_registrations__both_are_taken_back)
{
	const char *heard;
	DAT_IA_HANDLE ia;

	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "forget also=y"));
	for (int i = 0; i < 2; i++) {
		story_listen();
		ia = story_open("x", DAT_TRUE);
		story_close(story_open("y", DAT_TRUE));
		story_close(ia);
		heard = story_heard();
		ck_assert_ptr_nonnull(
		    strstr(heard, "the provider of \"x\" did not remove its registration"));
		ck_assert_ptr_nonnull(
		    strstr(heard, "the provider of \"y\" did not remove its registration"));
		story_listen();
		story_assert_ret(story_try_open("y", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
		(void)story_heard();
	}
}

STORY_CASE("lookup:chain");

/* A library with a function that is nowhere is not loaded, as one that is missing is not. */
TEST(chain__first_library_lacks_a_function__second_is_taken)
{
	story_conf(LINE("x", "u2.0", "threadsafe", STUB_LACKING_PATH, "a")
		LINE("x", "u2.0", "threadsafe", "%S", "b"));
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	ck_assert_ptr_nonnull(strstr(story_heard(), "stub_function_that_no_library_has"));
	ck_assert_int_eq(story_traced("init x 2.0 1 \"b\""), 1);
}

static void
list_in_log(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	DAT_PROVIDER_INFO info, *infos[] = { &info };
	DAT_COUNT count;

	(void)level;
	if (!strstr(line, "did not remove its registration"))
		return;
	*(int *)context += 1;
	story_assert_ret(dat_registry_list_providers(1, &count, infos), DAT_SUCCESS);
	ck_assert_int_eq(count, 1);
	/* This takes the lock of the registrations. */
	infos[0]->ia_name[0] = 'z';
	story_assert_ret(dat_registry_remove_provider((DAT_PROVIDER *)context, infos[0]),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
}

STORY_CASE("lookup:library");

/* origin: out33.L1 */
TEST(library__fini_forgets_its_registration__log_function_may_call_the_registry)
{
	int called = 0;

	story_conf(LINE("x", "u2.0", "threadsafe", "%S", "forget"));
	story_assert_ret(dat_rearm_set_log(list_in_log, &called), DAT_SUCCESS);
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(called, 1);
}

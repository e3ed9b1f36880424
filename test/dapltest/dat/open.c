/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing: the order of what the provider sees, references, numbers
 */
#include "story.h"

#include <dlfcn.h>
#include <stdlib.h>

#define CONF(params) "x u2.0 threadsafe default %S id.2.0 \"" params "\" \"\"\n"

#define BAD_IA DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA)

static DAT_RETURN
open_x(DAT_IA_HANDLE *ia)
{
	return story_try_open("x", 2, 0, DAT_TRUE, ia);
}

STORY_CASE("open:open");

/* clause: b.3.7 */
TEST(open__then_close__provider_sees_this_order)
{
	story_conf(CONF("p q"));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_str_eq(story_trace(), "load\n"
					"init x 2.0 1 \"p q\"\n"
					"add x 00000000\n"
					"open x 8\n"
					"query number 1\n"
					"close abrupt\n"
					"fini x\n"
					"remove 00000000\n"
					"unload\n");
}

/* clause: b.3.2 */
TEST(open__three_times__loads_once_and_counts)
{
	DAT_IA_HANDLE ia[3];
	int i;

	story_conf(CONF(""));
	for (i = 0; i < 3; i++)
		ia[i] = story_open("x", DAT_TRUE);
	ck_assert_int_eq(story_traced("init"), 1);
	ck_assert_uint_eq(DAT_IA_HANDLE_TO_UL(ia[0]), 1);
	ck_assert_uint_eq(DAT_IA_HANDLE_TO_UL(ia[1]), 2);
	ck_assert_uint_eq(DAT_IA_HANDLE_TO_UL(ia[2]), 3);
	story_close(ia[1]);
	story_close(ia[0]);
	ck_assert_int_eq(story_traced("fini"), 0);
	story_close(ia[2]);
	ck_assert_int_eq(story_traced("fini"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

/* clause: b.3.8 */
TEST(open__after_the_last_close__loads_again)
{
	story_conf(CONF(""));
	story_close(story_open("x", DAT_TRUE));
	story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("init"), 2);
	ck_assert_int_eq(story_traced("fini"), 2);
}

TEST(open__two_hundred_times__leaks_nothing)
{
	int i;

	story_conf(CONF(""));
	for (i = 0; i < 200; i++)
		story_close(story_open("x", DAT_TRUE));
	ck_assert_int_eq(story_traced("unload"), 200);
}

TEST(open__provider_fails__its_code_comes_back_and_nothing_is_left)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)&evd;
	DAT_IA_HANDLE ia = (DAT_IA_HANDLE)&ia;

	story_conf(CONF("noopen"));
	story_assert_ret(dat_ia_openv((char *)"x", 8, &evd, &ia, 2, 0, DAT_TRUE),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE));
	ck_assert_ptr_eq(ia, &ia);
	ck_assert_ptr_eq(evd, &evd);
	ck_assert_int_eq(story_traced("fini"), 1);
	ck_assert_int_eq(story_traced("unload"), 1);
}

TEST(open__provider_gives_no_handle__is_an_internal_error)
{
	DAT_IA_HANDLE ia = (DAT_IA_HANDLE)&ia;

	story_conf(CONF("nohandle"));
	story_listen();
	story_assert_ret(open_x(&ia), DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE));
	ck_assert_str_eq(story_heard(),
	    "dat: the provider of \"x\" opened the adapter but returned no valid handle\n");
	ck_assert_ptr_eq(ia, &ia);
	ck_assert_int_eq(story_traced("fini"), 1);
}

/* clause: b.3.1 */
TEST(open__name_null_or_too_long__is_argument_1)
{
	char name[257];
	DAT_IA_HANDLE ia;

	memset(name, 'n', 256);
	name[256] = '\0';
	story_conf(CONF(""));
	story_assert_ret(story_try_open(NULL, 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	story_assert_ret(story_try_open(name, 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	name[255] = '\0';
	story_assert_ret(story_try_open(name, 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
}

/* clause: b.3.1 */
TEST(open__no_place_for_the_handle__is_an_invalid_ia)
{
	story_conf(CONF(""));
	story_assert_ret(open_x(NULL), BAD_IA);
	ck_assert_str_eq(story_trace(), "");
}

TEST(open__no_place_for_the_async_evd__is_argument_3)
{
	DAT_IA_HANDLE ia;

	story_conf(CONF(""));
	story_assert_ret(dat_ia_openv((char *)"x", 8, NULL, &ia, 2, 0, DAT_TRUE),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

/* clause: a.1.3 */
TEST(open__macro__asks_for_2_0_not_thread_safe)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	story_conf("x u2.0 nonthreadsafe default %S id.2.0 \"\" \"\"\n");
	story_assert_ret(dat_ia_open((char *)"x", 8, &evd, &ia), DAT_SUCCESS);
	ck_assert_ptr_nonnull(evd);
	story_close(ia);
}

/* clause: b.5.2 */
TEST(open__symbols_of_the_provider__stay_its_own)
{
	DAT_IA_HANDLE ia;
	void *stub;

	story_conf(CONF(""));
	ia = story_open("x", DAT_TRUE);
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "stub_note"));
	stub = dlopen(STUB_PATH, RTLD_NOW | RTLD_NOLOAD);
	ck_assert_ptr_nonnull(stub);
	ck_assert_ptr_nonnull(dlsym(stub, "stub_note"));
	dlclose(stub);
	story_close(ia);
}

STORY_CASE("open:close");

/* clause: b.3.9 */
TEST(close__second_time__is_an_invalid_ia)
{
	DAT_IA_HANDLE ia;

	story_conf(CONF(""));
	ia = story_open("x", DAT_TRUE);
	story_close(ia);
	story_assert_ret(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), BAD_IA);
	ck_assert_int_eq(story_traced("close abrupt"), 1);
}

TEST(close__provider_refuses__ia_stays_open)
{
	DAT_IA_HANDLE ia;

	story_conf(CONF("busy"));
	ia = story_open("x", DAT_TRUE);
	story_assert_ret(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	story_assert_ret(dat_ia_query(ia, NULL, 0, NULL, 0, NULL), DAT_SUCCESS);
	story_close(ia);
	ck_assert_int_eq(story_traced("fini"), 1);
}

TEST(close__provider_reports_another_version__is_released_all_the_same)
{
	DAT_PROVIDER_ATTR attr = { 0 };
	DAT_IA_HANDLE ia;

	story_conf(CONF(""));
	ia = story_open("x", DAT_TRUE);
	story_assert_ret(
	    dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr), DAT_SUCCESS);
	ck_assert_uint_eq(attr.dapl_version_major, 77);
	story_close(ia);
	ck_assert_int_eq(story_traced("fini"), 1);
	ck_assert_int_eq(story_traced("remove 00000000"), 1);
}

STORY_CASE("open:number");

TEST(number__stale__does_not_name_the_next_ia)
{
	DAT_IA_HANDLE stale, ia;

	story_conf(CONF(""));
	stale = story_open("x", DAT_TRUE);
	story_close(stale);
	ia = story_open("x", DAT_TRUE);
	ck_assert_ptr_ne(ia, stale);
	story_assert_ret(dat_ia_query(stale, NULL, 0, NULL, 0, NULL), BAD_IA);
	story_close(ia);
}

TEST(number__provider_pointer_in_its_place__is_refused)
{
	DAT_IA_HANDLE ia, own;

	story_conf(CONF(""));
	ia = story_open("x", DAT_TRUE);
	story_assert_ret(dats_get_ia_handle(ia, &own), DAT_SUCCESS);
	story_assert_ret(dat_ia_query(own, NULL, 0, NULL, 0, NULL), BAD_IA);
	story_assert_ret(dat_ia_close(own, DAT_CLOSE_ABRUPT_FLAG), BAD_IA);
	story_close(ia);
}

/* clause: b.4.5, b.3.6 */
TEST(number__there_and_back__agree)
{
	DAT_IA_HANDLE a, b, own_a, own_b, back;

	story_conf(CONF(""));
	a = story_open("x", DAT_TRUE);
	b = story_open("x", DAT_TRUE);
	story_assert_ret(dats_get_ia_handle(a, &own_a), DAT_SUCCESS);
	story_assert_ret(dats_get_ia_handle(b, &own_b), DAT_SUCCESS);
	ck_assert_ptr_ne(own_a, own_b);
	story_assert_ret(dats_get_ia_handle(own_b, &back), DAT_SUCCESS);
	ck_assert_ptr_eq(back, b);
	story_close(b);
	story_close(a);
	story_assert_ret(dats_get_ia_handle(a, &back), BAD_IA);
	story_assert_ret(dats_get_ia_handle(own_a, &back), BAD_IA);
	story_assert_ret(
	    dats_get_ia_handle(a, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

TEST(number__seventy_thousand_openings__stay_below_64_kib)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE keep, ia;
	int i;

	unsetenv("STUB_TRACE");
	story_conf(CONF(""));
	keep = story_open("x", DAT_TRUE);
	for (i = 0; i < 70000; i++) {
		if (dat_ia_openv((char *)"x", 8, &evd, &ia, 2, 0, DAT_TRUE) != DAT_SUCCESS ||
		    ia == keep || DAT_IA_HANDLE_TO_UL(ia) > 65535 ||
		    dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
			ck_abort_msg("opening %d: number %lu", i, DAT_IA_HANDLE_TO_UL(ia));
	}
	story_close(keep);
}

TEST(number__sixty_five_thousand_open_at_once__the_next_is_refused)
{
	static DAT_IA_HANDLE ia[65536];
	DAT_IA_HANDLE one_more = DAT_HANDLE_NULL;
	int n;

	unsetenv("STUB_TRACE");
	story_conf(CONF(""));
	for (n = 0; n < 65535; n++)
		if (open_x(&ia[n]) != DAT_SUCCESS)
			break;
	ck_assert_int_eq(n, 65535);
	story_assert_ret(
	    open_x(&one_more), DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
	story_close(ia[1234]);
	story_assert_ret(open_x(&one_more), DAT_SUCCESS);
	ck_assert_uint_eq(DAT_IA_HANDLE_TO_UL(one_more), 1235);
	ia[1234] = one_more;
	while (n-- > 0)
		story_close(ia[n]);
}

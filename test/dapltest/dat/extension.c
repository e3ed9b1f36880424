/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended operations, and the upcall calls, which use them
 */
#include "story.h"

#include <stdint.h>
#include <stdlib.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_upcall.h>
#include <dat2/kdat.h>

#define CONF(params) "x u2.0 threadsafe default %S id.2.0 \"" params "\" \"\"\n"
#define NOT_IMPLEMENTED DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE)
#define BAD_HANDLE DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1)

/* Opens x; `object` is a handle of another kind. */
static DAT_IA_HANDLE
open_x(const char *conf, DAT_HANDLE *object)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	story_conf(conf);
	*object = DAT_HANDLE_NULL;
	story_assert_ret(dat_ia_openv((char *)"x", 8, object, &ia, 2, 0, DAT_TRUE), DAT_SUCCESS);
	return ia;
}

STORY_CASE("extension:operation");

/* clause: f.1.1 */
TEST(op__before_any_ia_with_extensions__is_not_implemented)
{
	DAT_HANDLE object;
	DAT_IA_HANDLE ia = open_x(CONF(""), &object);

	story_assert_ret(dat_extension_op(ia, 0x100, 5), NOT_IMPLEMENTED);
	story_assert_ret(dat_extension_op(object, 0x100, 5), NOT_IMPLEMENTED);
	story_close(ia);
}

/* clause: f.1.1 */
TEST(op__on_ia_and_object__reaches_the_provider)
{
	DAT_HANDLE object;
	DAT_IA_HANDLE ia = open_x(CONF("extension"), &object);

	story_assert_ret(dat_extension_op(ia, 0x100, 5), DAT_SUCCESS);
	story_assert_ret(dat_extension_op(object, 0x200, 6), DAT_SUCCESS);
	ck_assert_int_eq(story_traced("extendedop IA 0x100 0x5"), 1);
	ck_assert_int_eq(story_traced("extendedop OBJECT 0x200 0x6"), 1);
	story_close(ia);
}

/* clause: f.1.4 */
TEST(op__impossible_handle__is_refused)
{
	static const uintptr_t handles[] = { 0, 2, 65535, 65537, (uintptr_t)-1 };
	DAT_HANDLE object;
	DAT_IA_HANDLE ia = open_x(CONF("extension"), &object);
	size_t i;

	for (i = 0; i < sizeof handles / sizeof handles[0]; i++)
		story_assert_ret(dat_extension_op((DAT_HANDLE)handles[i], 0x100, 5), BAD_HANDLE);
	story_close(ia);
}

/* origin: out33.X3 */
TEST(call__that_is_an_operation__refuses_what_is_no_object_with_its_own_subtype)
{
	static const DAT_UPCALL_OBJECT upcall;
	static const DAT_UPCALL_ARRAY_OBJECT array;
	const DAT_HANDLE bad = (DAT_HANDLE)(uintptr_t)65537;
	struct dat_rearm_evd_counters counters;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_DTO_COOKIE cookie = { .as_64 = 0 };
	DAT_EVD_HANDLE evd;
	DAT_UINT64 count;
	DAT_EVENT event;
	DAT_COUNT n;
	const DAT_RETURN got[] = {
		dat_evd_kcreate(bad, 1, DAT_UPCALL_MANY, &upcall, DAT_EVD_DTO_FLAG, &evd),
		dat_evd_modify_upcall(bad, DAT_UPCALL_MANY, &upcall, DAT_UPCALL_INVOC_NEW),
		dat_evd_modify_upcall_array(bad, DAT_UPCALL_MANY, &array, DAT_UPCALL_INVOC_NEW),
		dat_evd_dequeue_n(bad, 1, &event, &n),
		dat_evd_query_upcall_counters(bad, &counters),
		dat_cno_trywait(bad, &evd),
		dat_ia_step(bad, 0, &n),
		dat_ib_post_fetch_and_add(
		    bad, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG),
		dat_ib_query_counters(bad, DCNT_IA_ALL_COUNTERS, &count, 0),
		dat_ib_start_counter(bad, DCNT_IA_CM),
	};

	for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
		ck_assert_msg(got[i] == BAD_HANDLE, "call %zu gives 0x%x", i, got[i]);
	story_assert_ret(
	    dat_evd_resize(bad, 1), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST));
}

/* clause: f.1.2 */
TEST_LOOP(query__by_name__opens_and_closes, 2)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	/* As for dat_ia_open(), the thread safety does not matter. */
	story_conf(_i ? "x u2.0 nonthreadsafe default %S id.2.0 \"\" \"\"\n" : CONF(""));
	story_assert_ret(dat_ib_open_query("x", &ia, 0, NULL, 0, NULL), DAT_SUCCESS);
	ck_assert_uint_eq(DAT_IA_HANDLE_TO_UL(ia), 1);
	ck_assert_int_eq(story_traced("open x 1"), 1);
	story_assert_ret(dat_ib_close_query(ia), DAT_SUCCESS);
	ck_assert_int_eq(story_traced("fini x"), 1);
	story_assert_ret(dat_ib_close_query(ia), BAD_HANDLE);
}

/* origin: out35.P33 */
TEST(query__close_is_refused__stays_open)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	story_conf(CONF("busy"));
	story_assert_ret(dat_ib_open_query("x", &ia, 0, NULL, 0, NULL), DAT_SUCCESS);
	story_assert_ret(dat_extension_op(ia, DAT_CLOSE_EXTENSION_BASE | 1),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	ck_assert_int_eq(story_traced("fini x"), 0);
	story_assert_ret(dat_ib_close_query(ia), DAT_SUCCESS);
	ck_assert_int_eq(story_traced("fini x"), 1);
}

/* There are fewer numbers for adapters. */
TEST_LOOP(ia__opened_and_closed_either_way_seventy_thousand_times__leaks_no_number, 2)
{
	DAT_IA_HANDLE first, ia = DAT_HANDLE_NULL;

	unsetenv("STUB_TRACE");
	story_conf(CONF(""));
	first = story_open("x", DAT_TRUE);
	for (int i = 0; i < 70000; i++)
		if (_i == 0) {
			story_close(story_open("x", DAT_TRUE));
		} else {
			story_assert_ret(
			    dat_ib_open_query("x", &ia, 0, NULL, 0, NULL), DAT_SUCCESS);
			story_assert_ret(dat_ib_close_query(ia), DAT_SUCCESS);
		}
	story_close(first);
}

TEST(query__of_an_unknown_name__is_not_found)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	story_conf("");
	story_assert_ret(dat_ib_open_query("x", &ia, 0, NULL, 0, NULL),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	story_assert_ret(dat_ib_open_query(NULL, &ia, 0, NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	story_assert_ret(dat_ib_open_query("x", NULL, 0, NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

TEST(query__provider_fails__leaves_nothing)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	story_conf(CONF("noopen"));
	story_assert_ret(dat_ib_open_query("x", &ia, 0, NULL, 0, NULL),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE));
	ck_assert_ptr_null(ia);
	ck_assert_int_eq(story_traced("unload"), 1);
}

static void
never_called(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)data;
	(void)event;
	(void)more;
}

STORY_CASE("extension:upcall");

/* The stub notes operation and first argument: enough to see that each call goes its way. */
/* clause: c.14.33 */
TEST(upcall__calls__travel_as_extended_operations)
{
	const DAT_UPCALL_OBJECT upcall = { NULL, never_called };
	struct dat_rearm_evd_counters counters;
	DAT_HANDLE object;
	DAT_IA_HANDLE ia = open_x(CONF("extension"), &object);
	DAT_EVD_HANDLE evd;

	story_assert_ret(
	    dat_evd_kcreate(ia, 33, DAT_UPCALL_MANY, &upcall, DAT_EVD_SOFTWARE_FLAG, &evd),
	    DAT_SUCCESS);
	ck_assert_int_eq(story_traced("extendedop IA 0x100 0x21"), 1);
	story_assert_ret(dat_evd_modify_upcall(
			     object, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY),
	    DAT_SUCCESS);
	ck_assert_int_eq(story_traced("extendedop OBJECT 0x101 0xffffffffffffffff"), 1);
	story_assert_ret(dat_evd_query_upcall_counters(object, &counters), DAT_SUCCESS);
	ck_assert_int_eq(story_traced("extendedop OBJECT 0x102"), 1);
	story_close(ia);
}

TEST(upcall__null_object__has_neither_data_nor_function)
{
	DAT_UPCALL_OBJECT none = DAT_UPCALL_NULL;

	ck_assert_ptr_null(none.instance_data);
	ck_assert_ptr_null((void *)(uintptr_t)none.upcall_func);
	ck_assert_ptr_null(DAT_UPCALL_SAME);
}

/* clause: a.4.1 */
TEST(kdat__lmr_kcreate__is_lmr_create_for_what_user_space_has)
{
	DAT_REGION_DESCRIPTION region = { .for_va = &region };
	DAT_HANDLE object;
	DAT_IA_HANDLE ia = open_x(CONF(""), &object);

	story_assert_ret(
	    dat_lmr_kcreate(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, object, DAT_MEM_PRIV_ALL_FLAG,
		DAT_VA_TYPE_VA, DAT_MEM_OPTIMIZE_IA, NULL, NULL, NULL, NULL, NULL),
	    DAT_SUCCESS);
	ck_assert_int_eq(story_traced("lmr_create IA 0x0"), 1);
	story_assert_ret(
	    dat_lmr_kcreate(ia, DAT_MEM_TYPE_PHYSICAL, region, 64, object, DAT_MEM_PRIV_ALL_FLAG,
		DAT_VA_TYPE_VA, DAT_MEM_OPTIMIZE_IA, NULL, NULL, NULL, NULL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	story_assert_ret(
	    dat_lmr_kcreate(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, object, DAT_MEM_PRIV_ALL_FLAG,
		DAT_VA_TYPE_VA, (DAT_MEM_OPTIMIZE_FLAGS)8, NULL, NULL, NULL, NULL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8));
	ck_assert_int_eq(story_traced("lmr_create"), 1);
	story_close(ia);
}

STORY_CASE("extension:operation");

TEST(ib__strerror_of_extensions__has_a_sentence)
{
	const char *text = NULL;

	ck_assert_uint_eq(dat_strerror_extension(DAT_IB_ERR, &text), DAT_SUCCESS);
	ck_assert_str_eq(text, "An InfiniBand extended operation failed.");
	ck_assert_uint_eq(dat_strerror_extension((DAT_IB_RETURN)DAT_ABORT, &text), DAT_SUCCESS);
	ck_assert_ptr_nonnull(strstr(text, "(DAT_ABORT)."));
	ck_assert_uint_eq(dat_strerror_ext_status((DAT_IB_STATUS)9, &text), DAT_INVALID_PARAMETER);
}

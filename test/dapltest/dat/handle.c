/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call with a handle: a value that cannot be a handle is rejected and not dereferenced;
 * with a good handle the call reaches its slot with all arguments
 */
#include "story.h"

#include <stdio.h>

#include "lib/dat_calls.h"

#define CONF(params) "x u2.0 threadsafe default %S id.2.0 \"" params "\" \"\"\n"

/* Handles that would crash a registry that follows them, or one that reads a word at them. */
static const uintptr_t impossible[] = {
	0, 1, 2, 3, 7, 8, 64, 4096, 0x7ff8, 65528, 65535,	/* integers */
	65537, 65540, 0x10000001, (uintptr_t)-1, (uintptr_t)-4, /* misaligned */
};

CASE("handle:impossible");

/* clause: b.4.1, b.4.2, g.1.4 */
TEST_LOOP(call__impossible_handle__is_refused_with_its_subtype, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	DAT_RETURN want = DAT_ERROR(DAT_INVALID_HANDLE, call->subtype), got;
	size_t i;

	for (i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
		got = call->call((DAT_HANDLE)impossible[i]);
		ck_assert_msg(got == want, "dat_%s(0x%zx) gives 0x%08x, not 0x%08x", call->name,
		    (size_t)impossible[i], got, want);
	}
}

STORY_CASE("handle:dispatch");

/* clause: b.4.2, g.1.4 */
TEST_LOOP(call__number_of_an_open_ia__is_for_ia_calls_alone, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	DAT_RETURN got, want;
	DAT_IA_HANDLE ia;

	story_conf(CONF(""));
	ia = story_open("x", DAT_TRUE);
	want = call->takes_ia ? DAT_SUCCESS : DAT_ERROR(DAT_INVALID_HANDLE, call->subtype);
	got = call->call(ia);
	ck_assert_msg(got == want, "dat_%s(IA) gives 0x%08x, not 0x%08x", call->name, got, want);
	story_close(ia);
}

/* clause: a.2.2 */
/* origin: out33.X1 */
TEST_LOOP(call__good_handle__reaches_its_slot_with_all_arguments, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	DAT_EVD_HANDLE object = DAT_HANDLE_NULL;
	char want[256];
	DAT_IA_HANDLE ia;

	story_conf(CONF(""));
	story_assert_ret(dat_ia_openv((char *)"x", 8, &object, &ia, 2, 0, DAT_TRUE), DAT_SUCCESS);
	story_assert_ret(call->call(call->takes_ia ? ia : object), DAT_SUCCESS);
	snprintf(want, sizeof want, "\n%s %s%s%s\n", call->name, call->takes_ia ? "IA" : "OBJECT",
	    *call->arguments != '\0' ? " " : "", call->arguments);
	ck_assert_msg(
	    strstr(story_trace(), want) != NULL, "no line \"%s\" in:\n%s", want, story_trace());
	story_close(ia);
}

CASE("handle:impossible");

TEST(ia__impossible_number__is_refused)
{
	DAT_RETURN want = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	DAT_BOOLEAN answer;
	size_t i;

	for (i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
		DAT_IA_HANDLE ia = (DAT_IA_HANDLE)impossible[i];

		story_assert_ret(dat_ia_query(ia, NULL, 0, NULL, 0, NULL), want);
		story_assert_ret(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), want);
		story_assert_ret(dat_ia_ha_related(ia, (char *)"x", &answer), want);
	}
}

TEST(handle__whose_first_word_is_no_table__is_refused)
{
	static const uintptr_t words[] = { 0, 1, 65535, 65537 };
	struct {
		uintptr_t word;
	} object;
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		object.word = words[i];
		story_assert_ret(dat_evd_free(&object),
		    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST));
	}
}

STORY_CASE("handle:dispatch");

TEST(provider__with_an_empty_slot__has_not_implemented_the_call)
{
	DAT_PZ_HANDLE pz;
	DAT_IA_HANDLE ia;

	story_conf(CONF("fewer"));
	ia = story_open("x", DAT_TRUE);
	story_assert_ret(dat_pz_create(ia, &pz), DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE));
	story_close(ia);
}

CASE("handle:impossible");

TEST(table__covers_every_call_with_a_handle)
{
	/* 81 slots less name, extension, ia_open, ia_query, ia_close, ia_ha_related, extendedop. */
	ck_assert_int_eq(dat_calls_count, 74);
}

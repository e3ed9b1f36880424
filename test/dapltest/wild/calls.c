/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call with a value that is no valid handle: of another kind, freed, an integer, misaligned,
 * or any address.  The calls come from the table in lib/dat_calls.c.
 */

#include "lib/dat_calls.h"
#include "wild.h"

/* ---- the calls ---- */

static DAT_RETURN
call_kcreate(DAT_HANDLE h)
{
	DAT_UPCALL_OBJECT object = { NULL, dt_ignore };
	DAT_EVD_HANDLE evd;

	return dat_evd_kcreate(
	    h, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_SOFTWARE_FLAG, &evd);
}

static DAT_RETURN
call_modify_upcall(DAT_HANDLE h)
{
	DAT_UPCALL_OBJECT object = { NULL, dt_ignore };

	return dat_evd_modify_upcall(h, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY);
}

static DAT_RETURN
call_counters(DAT_HANDLE h)
{
	struct dat_rearm_evd_counters counters;

	return dat_evd_query_upcall_counters(h, &counters);
}

static DAT_RETURN
call_step(DAT_HANDLE h)
{
	DAT_COUNT n;

	return dat_ia_step(h, 0, &n);
}

/* The upcall calls look a handle up as dat_extension_op() does: any kind has a provider. */
static const struct {
	const char *name;
	DAT_RETURN (*call)(DAT_HANDLE handle);
	bool takes_ia;
} upcall_calls[] = {
	{ "evd_kcreate", call_kcreate, true },
	{ "evd_modify_upcall", call_modify_upcall, false },
	{ "evd_query_upcall_counters", call_counters, false },
	{ "ia_step", call_step, true },
};
#define UPCALL_CALLS ((int)(sizeof upcall_calls / sizeof upcall_calls[0]))

/* The kind of handle that a call takes, from the subtype that it answers a bad one with. */
static enum wild_kind
kind_of(const struct dat_call *call)
{
	static const struct {
		DAT_RETURN_SUBTYPE subtype;
		enum wild_kind kind;
	} kinds[] = {
		{ DAT_INVALID_HANDLE_IA, WILD_IA },
		{ DAT_INVALID_HANDLE_PZ, WILD_PZ },
		{ DAT_INVALID_HANDLE_LMR, WILD_LMR },
		{ DAT_INVALID_HANDLE_EVD_REQUEST, WILD_EVD },
		{ DAT_INVALID_HANDLE_CNO, WILD_CNO },
		{ DAT_INVALID_HANDLE_EP, WILD_EP },
		{ DAT_INVALID_HANDLE_PSP, WILD_PSP },
		{ DAT_INVALID_HANDLE_CR, WILD_CR },
		{ DAT_INVALID_HANDLE_RSP, WILD_RSP },
		{ DAT_INVALID_HANDLE_CSP, WILD_CSP },
		{ DAT_INVALID_HANDLE1, WILD_ANY },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (kinds[i].subtype == call->subtype)
			return kinds[i].kind;
	return WILD_NONE; /* RMR, SRQ: a kind of which there is no good handle here */
}

/* The provider does not say which EVD a bad handle was to be; the registry says the request one. */
static bool
is_bad_handle(DAT_RETURN ret, DAT_RETURN_SUBTYPE subtype)
{
	if (ret == DAT_ERROR(DAT_INVALID_HANDLE, subtype))
		return true;
	return subtype == DAT_INVALID_HANDLE_EVD_REQUEST &&
	       (ret == DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE) ||
		   ret == DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

static void
refused(const struct dat_call *call, DAT_HANDLE handle, const char *what)
{
	DAT_RETURN ret = call->call(handle);

	ck_assert_msg(is_bad_handle(ret, call->subtype),
	    "dat_%s(%s %p) gives 0x%08x, not INVALID_HANDLE/0x%x", call->name, what, handle, ret,
	    call->subtype);
}

/* ---- the table's calls ---- */

DT_CASE("wild-calls:calls");

/* clause: b.4.3, c.4.9, c.5.7, c.6.4, c.7.4, c.8.3, c.9.2, c.11.3, c.12.4 */
TEST_LOOP(call__handle_of_every_other_kind__is_refused, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	const enum wild_kind kind = kind_of(call);
	struct wild wild;

	wild_open(&wild);
	for (int k = 0; k < WILD_KINDS; k++)
		if (k != (int)kind && kind != WILD_ANY)
			refused(call, wild.good[k], wild_names[k]);
	wild_close(&wild);
}

/* clause: b.4.4 */
TEST_LOOP(call__handle_of_a_freed_object_of_every_kind__is_refused, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	struct wild wild;

	wild_open(&wild);
	for (int k = 0; k < WILD_KINDS; k++)
		refused(call, wild.stale[k], wild_names[k]);
	wild_close(&wild);
	for (int k = 0; k < WILD_KINDS; k++)
		refused(call, wild.good[k], wild_names[k]); /* closed: all are stale now */
}

/* clause: b.4.1, b.4.2 */
TEST_LOOP(call__address_of_anything__is_refused_and_never_followed, dat_calls_count)
{
	const struct dat_call *call = &dat_calls[_i];
	struct wild wild;

	wild_open(&wild);
	for (int i = 0; i < wild.addresses; i++)
		refused(call, wild.address[i], "address");
	for (int k = 0; k < WILD_KINDS; k++) {
		if (k == WILD_IA)
			continue;
		refused(call, (char *)wild.good[k] + 1, "misaligned");
		refused(call, (char *)wild.good[k] + 4, "misaligned");
		refused(call, (char *)wild.good[k] + 8, "inside");
	}
	wild_close(&wild);
}

/* ---- the upcall calls ---- */

static void
refused_upcall(int i, DAT_HANDLE handle, const char *what)
{
	DAT_RETURN ret = upcall_calls[i].call(handle);

	ck_assert_msg(
	    ret == DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1) ||
		ret == DAT_ERROR(DAT_INVALID_HANDLE,
			   upcall_calls[i].takes_ia ? DAT_INVALID_HANDLE_IA : DAT_NO_SUBTYPE),
	    "dat_%s(%s %p) gives 0x%08x", upcall_calls[i].name, what, handle, ret);
}

/* clause: b.4.2, b.4.3, b.4.4, c.14.34, f.1.4 */
TEST_LOOP(upcall_call__with_what_is_no_handle_of_its_kind__is_refused, UPCALL_CALLS)
{
	enum wild_kind kind = upcall_calls[_i].takes_ia ? WILD_IA : WILD_EVD;
	struct wild wild;

	wild_open(&wild);
	for (int k = 0; k < WILD_KINDS; k++) {
		if (k != (int)kind)
			refused_upcall(_i, wild.good[k], wild_names[k]);
		refused_upcall(_i, wild.stale[k], wild_names[k]);
	}
	for (int i = 0; i < wild.addresses; i++)
		refused_upcall(_i, wild.address[i], "address");
	wild_close(&wild);
}

/* ---- the calls of the registry ---- */

/* clause: b.3.9, b.4.3 */
TEST(ia_call__with_anything_but_an_open_adapter__is_refused)
{
	const DAT_RETURN bad = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	DAT_HANDLE handles[WILD_KINDS + WILD_ADDRESSES];
	DAT_BOOLEAN answer;
	struct wild wild;
	int n = 0;

	wild_open(&wild);
	for (int k = 0; k < WILD_KINDS; k++)
		if (k != WILD_IA)
			handles[n++] = wild.good[k];
	handles[n++] = wild.stale[WILD_IA];
	for (int i = 0; i < wild.addresses; i++)
		handles[n++] = wild.address[i];
	for (int i = 0; i < n; i++) {
		dt_assert_ret(dat_ia_query(handles[i], NULL, 0, NULL, 0, NULL), bad);
		dt_assert_ret(dat_ia_close(handles[i], DAT_CLOSE_ABRUPT_FLAG), bad);
		dt_assert_ret(
		    dat_ia_ha_related(handles[i], (char *)(uintptr_t) "soft", &answer), bad);
	}
	wild_close(&wild);
}

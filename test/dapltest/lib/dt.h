/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dt -- helpers of the tests of a DAT provider
 *
 * Both ends of a connection live in the test's process, each with its own IA.  The first is
 * the one that connects, the second the one that listens.  Everything goes through the public
 * calls.
 */
#ifndef REARM_TEST_LIB_DT_H
#define REARM_TEST_LIB_DT_H

#include <stdbool.h>
#include <string.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#include "lib/runner.h"

#define DT_BUFFER 4096
#define DT_FOREVER_MS 10000 /* longer than anything that works takes */

/* A case with a dat.conf of its own: provider names "soft", "soft-step", "soft-loops",
 * "faulty" (fault/fault.h), and bad ones. */
extern const struct runner_case dt_case;
#define DT_CASE(...) CASE(__VA_ARGS__, .outer = &dt_case)

/* Whether the device under test is the software one. */
bool dt_is_soft(void);
/*
 * The same, for what only that one does: elsewhere the test says on stdout that it is skipped, and
 * why.
 */
bool dt_on_soft(const char *why);
/*
 * Whether the device has the addresses .1 to .9 of a network; otherwise the test says that it is
 * skipped.  DAPL_TEST_NETWORK ("192.0.2") names the network of another device than the software
 * one, which has that of loopback.  dt_on_network() says whether an address is its host.
 */
bool dt_has_network(void);
bool dt_on_network(const char *address, int host);

/*
 * For a program whose tests load the provider themselves, before the suites are made.  On another
 * device than the software one the first use of the device in a test is then no leak.
 */
void dt_load_late(void);

/*
 * The software device's manners.  A test that runs once with each makes dt_personalities() rounds,
 * on another device one.  Before the first open.
 */
int dt_personalities(void);
void dt_personality(int i);

/* How the EVDs of a side are made. */
enum dt_evds {
	DT_SEPARATE, /* receives, requests and connections on an EVD each */
	DT_MERGED,   /* all on one */
};

struct dt_side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE recv, request, connect; /* DT_MERGED: all the same */
	DAT_EVD_HANDLE cr;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	char *buffer; /* DT_BUFFER bytes, registered with all privileges */
};

struct dt_pair {
	struct dt_side a, b; /* a connects to b */
};

/*
 * An IA, or the failure of the test.  Of "soft-elsewhere" another one has the EVD for asynchronous
 * events.
 */
DAT_IA_HANDLE dt_open(const char *name, DAT_EVD_HANDLE *async);
void dt_close(DAT_IA_HANDLE ia);

/* A side with everything but a service point. */
void dt_side_open(struct dt_side *side, const char *name, enum dt_evds evds);
void dt_side_listen(struct dt_side *side);
/* Abruptly: with whatever is left. */
void dt_side_close(struct dt_side *side);

/* Two sides, the second listens; dt_connect_pair() also connects them. */
void dt_pair_open(struct dt_pair *pair, enum dt_evds evds);
void dt_connect_pair(struct dt_pair *pair);
void dt_pair_close(struct dt_pair *pair);

DAT_EVD_HANDLE dt_evd(const struct dt_side *side, DAT_EVD_FLAGS flags, DAT_COUNT qlen);
DAT_EP_HANDLE dt_ep(const struct dt_side *side, const DAT_EP_ATTR *attr);

/* The address of an IA. */
DAT_IA_ADDRESS_PTR dt_address(DAT_IA_HANDLE ia);

/* ---- connecting ---- */

void dt_connect(struct dt_side *from, const struct dt_side *to, const void *data, DAT_COUNT size);
/* The request that arrives at a side. */
DAT_CR_HANDLE dt_request(struct dt_side *side);
DAT_CR_HANDLE dt_request_event(struct dt_side *side, DAT_EVENT *event);
/* The same of an endpoint for datagrams. */
DAT_CR_HANDLE dt_datagram_request(const struct dt_side *side);

/* ---- events ---- */

/* The next event of an EVD, waited for. */
void dt_next(DAT_EVD_HANDLE evd, DAT_EVENT *event);
/* The same by polling: also for EVDs that a thread may not wait on. */
void dt_poll_next(DAT_EVD_HANDLE evd, DAT_EVENT *event);
/* The next event, which must have this number. */
void dt_expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event);
void dt_expect_connection(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EP_HANDLE ep);
#define dt_expect_established(side) \
	dt_expect_connection((side)->connect, DAT_CONNECTION_EVENT_ESTABLISHED, (side)->ep)
#define dt_expect_disconnected(side) \
	dt_expect_connection((side)->connect, DAT_CONNECTION_EVENT_DISCONNECTED, (side)->ep)
/* A completion of the side's endpoint with this cookie. */
void dt_expect_dto(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie,
    DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event);
/* Nothing is queued, now and for some time. */
void dt_assert_stays_empty(DAT_EVD_HANDLE evd);
/* Nothing is queued now. */
void dt_assert_empty(DAT_EVD_HANDLE evd);

/* Waits until the endpoint is in the state. */
void dt_await_state(DAT_EP_HANDLE ep, DAT_EP_STATE state);
DAT_EP_STATE dt_state(DAT_EP_HANDLE ep);

/* ---- data ---- */

DAT_DTO_COOKIE dt_cookie(DAT_UINT64 value);
DAT_LMR_TRIPLET dt_local(const struct dt_side *side, size_t offset, size_t length);
DAT_RMR_TRIPLET dt_remote(const struct dt_side *side, size_t offset, size_t length);
DAT_RETURN dt_try_recv(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie);
DAT_RETURN dt_try_send(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie,
    DAT_COMPLETION_FLAGS flags);
void dt_recv(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie);
void dt_send(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie);

/* ---- small things ---- */

void dt_post_se(DAT_EVD_HANDLE evd, uintptr_t value);
/* Waits while the queue is full. */
void dt_post_se_patiently(DAT_EVD_HANDLE evd, uintptr_t value);
/* The size of the address space of this process. */
size_t dt_mapped_pages(void);

void dt_nap_ms(unsigned int ms);
/* Waits until *value is at least n; fails the test when it does not come. */
void dt_await_count(const _Atomic(int) *value, int n);
/* An upcall's function that takes nothing and counts into its instance, an _Atomic(int). */
void dt_count_call(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);
unsigned long long dt_now_us(void);

/* Compares return values by name. */
void dt_assert_ret_at(
    const char *file, int line, const char *call, DAT_RETURN got, DAT_RETURN want);
#define dt_assert_ret(call, want) dt_assert_ret_at(__FILE__, __LINE__, #call, (call), (want))
#define dt_ok(call) dt_assert_ret(call, DAT_SUCCESS)
#define dt_assert_type(call, want) ck_assert_int_eq((int)DAT_GET_TYPE(call), (int)(want))

/* An upcall that does nothing. */
void dt_ignore(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);

#endif

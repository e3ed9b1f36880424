/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints: why a call was refused.  Each test is a process of its own, which loads the provider after
 * it has asked for them.
 */
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_log.h>

#include "lib/dt.h"

static char said[16384];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	const size_t used = strlen(said);

	(void)context;
	(void)level;
	snprintf(said + used, sizeof said - used, "%s\n", line);
}

/* There is one line that has all of these, in their order; the list ends with NULL. */
static bool
said_line(const char *const *parts)
{
	char copy[sizeof said], *rest = copy, *line, *at;
	int n = 0;

	memcpy(copy, said, sizeof copy);
	while ((line = strsep(&rest, "\n")) != NULL) {
		at = line;
		for (int i = 0; at && parts[i]; i++)
			at = strstr(at, parts[i]);
		n += at != NULL;
	}
	return n == 1;
}

#define assert_said(...) \
	ck_assert_msg( \
	    said_line((const char *const[]){ __VA_ARGS__, NULL }), "%s\n%s", #__VA_ARGS__, said)

static void
listen_to_hints(void)
{
	setenv("DAT_DBG_TYPE", "hints", 1);
	dt_ok(dat_rearm_set_log(note, NULL));
}

DT_CASE("hint:hint");

/* The code says what is wrong with which argument, and the hint the rest. */
/* origin: out33.H */
TEST(hints__calls_that_are_refused__have_a_line_that_says_why)
{
	struct dt_side side;
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, 0, &evd), DAT_INVALID_PARAMETER);
	assert_said("hint: dat_evd_create(ia=0x", "flags=NONE) is refused, DAT_INVALID_PARAMETER ",
	    "DAT_INVALID_ARG4: argument 4, flags: ");
	dt_assert_type(dat_psp_create_any(side.ia, &qual, side.recv, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_psp_create_any(",
	    "DAT_INVALID_HANDLE_EVD_CR: ", "was created without DAT_EVD_CR_FLAG");
	dt_assert_type(
	    dat_ep_create(side.ia, side.pz, side.connect, side.request, side.connect, NULL, &ep),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_ep_create(",
	    "DAT_INVALID_HANDLE_EVD_RECV: ", "was created without DAT_EVD_DTO_FLAG");
	dt_assert_type(
	    dat_ep_create(side.ia, side.pz, side.recv, side.request, side.recv, NULL, &ep),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_ep_create(",
	    "DAT_INVALID_HANDLE_EVD_CONN: ", "was created without DAT_EVD_CONNECTION_FLAG");
	dt_assert_type(dat_evd_free(side.recv), DAT_INVALID_STATE);
	assert_said("hint: dat_evd_free(", "DAT_INVALID_STATE_EVD_IN_USE: ", ": used by EP 0x");
	dt_assert_type(dat_pz_free(side.pz), DAT_INVALID_STATE);
	assert_said(
	    "hint: dat_pz_free(", "DAT_INVALID_STATE_PZ_IN_USE: ", ": used by LMR 0x", ", EP 0x");
	dt_assert_type(dat_ep_disconnect(side.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE);
	assert_said("hint: dat_ep_disconnect(", "DAT_INVALID_STATE_EP_UNCONNECTED: ");
	dt_assert_type(dat_pz_free((DAT_PZ_HANDLE)&side), DAT_INVALID_HANDLE);
	assert_said("hint: dat_pz_free() is refused, DAT_INVALID_HANDLE: no open adapter has");
	ck_assert_ptr_null(strstr(said, "does not list"));
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_side_close(&side);
}

/* Each attribute that the device cannot have: one that is too large, or of another kind. */
TEST(hints__attributes_that_the_device_lacks__are_named)
{
	static const char sizes[] = "max_message_size or max_rdma_size",
			  depths[] = "max_recv_dtos or max_request_dtos",
			  segments[] = "a number of segments",
			  reads[] = "max_rdma_read_in or max_rdma_read_out";
	DAT_EP_ATTR *attr, good;
	struct dt_side side;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
	attr = &param.ep_attr;
	good = *attr;
#define LACKS(member, value, name) \
	do { \
		*attr = good; \
		attr->member = (value); \
		said[0] = '\0'; \
		dt_assert_type(dat_ep_create(side.ia, side.pz, side.recv, side.request, \
				   side.connect, attr, &ep), \
		    DAT_INVALID_PARAMETER); \
		assert_said("hint: dat_ep_create(", name, "dat_ia_query() returns"); \
	} while (0)
	LACKS(qos, DAT_QOS_HIGH_THROUGHPUT, "qos");
	LACKS(max_message_size, ~(DAT_SEG_LENGTH)0, sizes);
	LACKS(max_rdma_size, ~(DAT_SEG_LENGTH)0, sizes);
	LACKS(max_recv_dtos, INT_MAX, depths);
	LACKS(max_request_dtos, INT_MAX, depths);
	LACKS(max_recv_dtos, -1, depths);
	LACKS(max_recv_iov, INT_MAX, segments);
	LACKS(max_request_iov, INT_MAX, segments);
	LACKS(max_rdma_read_iov, INT_MAX, segments);
	LACKS(max_rdma_write_iov, INT_MAX, segments);
	LACKS(max_rdma_read_in, INT_MAX, reads);
	LACKS(max_rdma_read_out, INT_MAX, reads);
#undef LACKS
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_side_close(&side);
}

/* What is no mistake has no hint; nor has anything, unless it is asked for. */
/* origin: out33.H */
TEST_LOOP(hints__calls_that_are_answered__have_none, 2)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	listen_to_hints();
	if (!_i)
		unsetenv("DAT_DBG_TYPE");
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_dequeue(side.recv, &event), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_evd_wait(side.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	if (!_i)
		dt_assert_type(dat_evd_free(side.recv), DAT_INVALID_STATE);
	ck_assert_str_eq(said, "");
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_side_close(&side);
}

/* ---- who uses an object ---- */

/* The object is used by these, and the hint names them all, in any order, or so many more. */
static void
assert_used(DAT_RETURN ret, const char *kind, const DAT_HANDLE *all, int shown, int more)
{
	static char users[512];
	char word[64];
	char *at = strstr(said, ": used by ");

	dt_assert_type(ret, DAT_INVALID_STATE);
	ck_assert_msg(at != NULL, "%s", said);
	snprintf(users, sizeof users, "%s", at + strlen(": used by "));
	users[strcspn(users, "\n")] = '\0';
	at = strstr(users, " and ");
	snprintf(word, sizeof word, " and %d more", more);
	ck_assert_msg(more ? at && strcmp(at, word) == 0 : !at, "%s", users);
	for (int i = 0; i < shown; i++) {
		snprintf(word, sizeof word, "%s %p", kind, all[i]);
		ck_assert_msg(strstr(users, word) != NULL, "%s not in %s", word, users);
	}
	at = users;
	for (int n = 1; n < shown; n++) {
		at = strstr(at, ", ");
		ck_assert_msg(at != NULL, "%s", users);
		at++;
	}
	ck_assert_msg(!strstr(at, ", "), "%s", users);
	said[0] = '\0';
}

#define assert_user(call, kind, user) assert_used(call, kind, &(DAT_HANDLE){ user }, 1, 0)

/* origin: out33.H */
TEST(hints__a_zone_in_use__its_users_are_named)
{
	static char memory[64];
	DAT_SRQ_ATTR shared = { 4, 1, DAT_SRQ_LW_DEFAULT };
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_HANDLE made[6];
	struct dt_side side;
	DAT_SRQ_HANDLE srq;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
	DAT_PZ_HANDLE pz;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_pz_create(side.ia, &pz));
	said[0] = '\0';
	dt_ok(dat_srq_create(side.ia, pz, &shared, &srq));
	assert_user(dat_pz_free(pz), "SRQ", srq);
	dt_ok(dat_ep_create_with_srq(
	    side.ia, side.pz, side.recv, side.request, side.connect, srq, NULL, &made[0]));
	assert_user(dat_srq_free(srq), "EP", made[0]);
	dt_ok(dat_ep_free(made[0]));
	dt_ok(dat_srq_free(srq));
	dt_ok(dat_rmr_create(pz, &rmr));
	assert_user(dat_pz_free(pz), "RMR", rmr);
	dt_ok(dat_rmr_free(rmr));
	dt_ok(dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL));
	assert_user(dat_pz_free(pz), "LMR", lmr);
	dt_ok(dat_lmr_free(lmr));
	for (int n = 0; n < 6; n++) {
		dt_ok(dat_ep_create(
		    side.ia, pz, side.recv, side.request, side.connect, NULL, &made[n]));
		if (n < 4)
			assert_used(dat_pz_free(pz), "EP", made, n + 1, 0);
		else /* the latest ones */
			assert_used(dat_pz_free(pz), "EP", made + n - 3, 4, n - 3);
	}
	for (int n = 0; n < 6; n++)
		dt_ok(dat_ep_free(made[n]));
	dt_ok(dat_pz_free(pz));
	ck_assert_str_eq(said, "");
	dt_side_close(&side);
}

#define BAD_EXTENDED(name, call) \
	do { \
		said[0] = '\0'; \
		ck_assert_int_ne((call), DAT_SUCCESS); \
		assert_said("hint: " name ": dat_extension_op("); \
	} while (0)

/*
 * They travel as one call: the hint has the name that the program used, and no names of that call's
 * arguments.
 */
TEST(hints__extended_operations__are_named_as_the_program_calls_them)
{
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	const DAT_EP_ATTR datagrams = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD };
	const DAT_DTO_COOKIE cookie = dt_cookie(1);
	DAT_IA_HANDLE queried;
	struct dt_side side;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	BAD_EXTENDED("dat_ia_step", dat_ia_step(side.ia, 0, NULL));
	BAD_EXTENDED("dat_ib_post_fetch_and_add",
	    dat_ib_post_fetch_and_add(side.pz, 1, NULL, cookie, NULL, flags));
	BAD_EXTENDED("dat_ib_post_cmp_and_swap",
	    dat_ib_post_cmp_and_swap(side.pz, 1, 2, NULL, cookie, NULL, flags));
	BAD_EXTENDED("dat_ib_post_rdma_write_immed",
	    dat_ib_post_rdma_write_immed(side.pz, 1, NULL, cookie, NULL, 1, flags));
	BAD_EXTENDED(
	    "dat_ib_post_send_ud", dat_ib_post_send_ud(side.pz, 1, NULL, NULL, cookie, flags));
	BAD_EXTENDED("dat_ib_ud_cm_free", dat_ib_ud_cm_free(side.pz, NULL));
	BAD_EXTENDED("dat_ib_ud_ah_free", dat_ib_ud_ah_free(side.pz, NULL));
	BAD_EXTENDED("dat_ib_ud_ah_free", dat_ib_ud_ah_free(dt_ep(&side, &datagrams), NULL));
	assert_said("argument 3: ");
	BAD_EXTENDED("dat_ib_open_query",
	    dat_ib_open_query("soft", &queried, DAT_IA_FIELD_ALL, NULL, 0, NULL));
	assert_said("argument 4: ");
	/* One that is answered leaves its name to no other call. */
	dt_ok(dat_ib_open_query("soft", &queried, 0, NULL, 0, NULL));
	said[0] = '\0';
	dt_assert_type(dat_pz_free(side.pz), DAT_INVALID_STATE);
	assert_said("]: hint: dat_pz_free(");
	dt_ok(dat_ib_close_query(queried));
	dt_side_close(&side);
}

TEST(hints__a_region_in_use__the_remote_region_is_named)
{
	DAT_LMR_TRIPLET range;
	DAT_RMR_CONTEXT context;
	struct dt_pair pair;
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	listen_to_hints();
	dt_pair_open(&pair, DT_SEPARATE);
	pair.a.request = dt_evd(&pair.a, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 8);
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect_pair(&pair);
	dt_ok(dat_rmr_create(pair.a.pz, &rmr));
	range = dt_local(&pair.a, 0, 64);
	dt_ok(dat_rmr_bind(rmr, pair.a.lmr, &range, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
	    pair.a.ep, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context));
	dt_expect(pair.a.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	said[0] = '\0';
	assert_user(dat_lmr_free(pair.a.lmr), "RMR", rmr);
	dt_pair_close(&pair);
}

/* origin: out33.H */
TEST(hints__an_evd_in_use__its_users_are_named)
{
	struct sockaddr_storage at;
	DAT_COMM comm = { .domain = AF_INET, .type = SOCK_STREAM };
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_RSP_HANDLE rsp;
	DAT_CSP_HANDLE csp;
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	side.cr = dt_evd(&side, DAT_EVD_CR_FLAG, 8);
	said[0] = '\0';
	dt_ok(dat_psp_create_any(side.ia, &qual, side.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	assert_user(dat_evd_free(side.cr), "PSP", psp);
	dt_ok(dat_psp_free(psp));
	dt_ok(dat_rsp_create(side.ia, qual, side.ep, side.cr, &rsp));
	assert_user(dat_evd_free(side.cr), "RSP", rsp);
	dt_ok(dat_rsp_free(rsp));
	memcpy(&at, dt_address(side.ia), sizeof(struct sockaddr_in));
	((struct sockaddr_in *)(void *)&at)->sin_port = 0;
	dt_ok(dat_csp_create(side.ia, &comm, (DAT_IA_ADDRESS_PTR)&at, side.cr, &csp));
	assert_user(dat_evd_free(side.cr), "CSP", csp);
	dt_ok(dat_csp_free(csp));
	dt_ok(dat_evd_free(side.cr));
	assert_user(dat_evd_free(side.recv), "EP", side.ep);
	assert_user(dat_evd_free(side.request), "EP", side.ep);
	assert_user(dat_evd_free(side.connect), "EP", side.ep);
	dt_ok(dat_cno_create(side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	assert_user(dat_cno_free(cno), "EVD", evd);
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
	ck_assert_str_eq(said, "");
	dt_side_close(&side);
}

static DAT_RETURN
connect_to(DAT_EP_HANDLE ep, const struct dt_side *to, DAT_CONN_QUAL qual)
{
	return dat_ep_connect(ep, dt_address(to->ia), qual, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

#define IN_STATE(name) DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_##name)

/*
 * The states at both ends of the list, and some between: each has the text that the headers have
 * for states.
 */
/* origin: out33.H */
TEST(hints__in_each_state__say_what_the_header_says)
{
	struct dt_pair pair;
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
	DAT_EVENT event;

	listen_to_hints();
	dt_pair_open(&pair, DT_SEPARATE);
	dt_assert_ret(
	    dt_try_send(&pair.a, 0, 8, 1, DAT_COMPLETION_DEFAULT_FLAG), IN_STATE(UNCONNECTED));
	dt_ok(dat_psp_create_any(pair.b.ia, &qual, pair.b.cr, DAT_PSP_PROVIDER_FLAG, &psp));
	dt_ok(connect_to(pair.a.ep, &pair.b, qual));
	dt_assert_ret(dat_ep_reset(pair.a.ep), IN_STATE(ACTCONNPENDING));
	dt_expect(pair.b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	dt_assert_ret(connect_to(param.local_ep_handle, &pair.b, qual), IN_STATE(UNCONFTENTATIVE));
	dt_ok(dat_cr_reject(cr, 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, pair.a.ep);
	dt_assert_ret(connect_to(pair.a.ep, &pair.b, qual), IN_STATE(DISCONNECTED));
	assert_said("hint: dat_ep_post_send(", "DAT_INVALID_STATE_EP_UNCONNECTED: ");
	assert_said("hint: dat_ep_reset(", "DAT_INVALID_STATE_EP_ACTCONNPENDING: ");
	assert_said("hint: dat_ep_connect(", "DAT_INVALID_STATE_EP_UNCONFTENTATIVE: ");
	assert_said("hint: dat_ep_connect(", "DAT_INVALID_STATE_EP_DISCONNECTED: ");
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 8, 1); /* no receive takes it */
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	dt_assert_ret(dat_ep_reset(pair.a.ep), IN_STATE(DISCPENDING));
	assert_said("hint: dat_ep_reset(", "DAT_INVALID_STATE_EP_DISCPENDING: ");
	ck_assert_msg(!strstr(said, "does not list this code"), "%s", said);
	dt_pair_close(&pair);
}

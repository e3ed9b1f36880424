/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each thing that happens adds to the counters of the adapters at both ends: these, and no
 * other.
 */
#include <string.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

/* A counter and what is added to it; a list ends with a negative counter. */
struct adds {
	int which;
	DAT_UINT64 by;
};

static struct dt_pair pair;
static DAT_UINT64 before[2][DCNT_IA_ALL_COUNTERS]; /* of each end */

static void
take(DAT_IA_HANDLE ia, DAT_UINT64 *values)
{
	dt_ok(dat_ib_query_counters(ia, DCNT_IA_ALL_COUNTERS, values, 0));
}

static void
begin(void)
{
	take(pair.a.ia, before[0]);
	take(pair.b.ia, before[1]);
}

/* Since begin().  Some are counted after their event was posted. */
static void
assert_added(const char *what, int end, const struct adds *adds)
{
	DAT_UINT64 want[DCNT_IA_ALL_COUNTERS], now[DCNT_IA_ALL_COUNTERS];
	int differs = -1;

	memcpy(want, before[end], sizeof want);
	for (; adds->which >= 0; adds++)
		want[adds->which] += adds->by;
	for (int ms = 0; ms < DT_FOREVER_MS; ms += 10) {
		differs = -1;
		take(end ? pair.b.ia : pair.a.ia, now);
		for (int i = 0; i < DCNT_IA_ALL_COUNTERS && differs < 0; i++)
			if (now[i] != want[i])
				differs = i;
		if (differs < 0)
			return;
		dt_nap_ms(10);
	}
	ck_abort_msg("%s: counter %d of end %d is %llu, not %llu", what, differs, end,
	    (unsigned long long)now[differs], (unsigned long long)want[differs]);
}

#define ADDS(what, end, ...) assert_added(what, end, (struct adds[]){ __VA_ARGS__, { -1, 0 } })
#define ADDS_NOTHING(what, end) assert_added(what, end, &(struct adds){ -1, 0 })

DEVICE_CASE("count:adapter", .needs = dt_is_soft, .reason = "needs a device that fails");

/* clause: f.2.5 */
TEST(objects__each_kind__counts_its_creation_and_its_end)
{
	struct sockaddr_storage at = { 0 };
	DAT_COMM comm = { .domain = AF_INET, .type = SOCK_STREAM };
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region;
	DAT_EVD_HANDLE evd;
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_RSP_HANDLE rsp;
	DAT_CSP_HANDLE csp;
	DAT_SRQ_HANDLE srq;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
	DAT_CNO_HANDLE cno;
	DAT_PZ_HANDLE pz;

	device_pair_open(&pair);
	region.for_va = pair.a.buffer;
	begin();
	dt_ok(dat_pz_create(pair.a.ia, &pz));
	dt_ok(dat_lmr_create(pair.a.ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL));
	dt_ok(dat_rmr_create(pz, &rmr));
	dt_ok(dat_srq_create(pair.a.ia, pz, &attr, &srq));
	dt_ok(dat_cno_create(pair.a.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	evd = dt_evd(&pair.a, DAT_EVD_CR_FLAG, 4);
	ADDS("made", 0, { DCNT_IA_PZ_CREATE, 1 }, { DCNT_IA_LMR_CREATE, 1 },
	    { DCNT_IA_RMR_CREATE, 1 }, { DCNT_IA_SRQ_CREATE, 1 }, { DCNT_IA_EVD_CREATE, 1 });
	begin();
	dt_ok(dat_psp_create_any(pair.a.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	ADDS("any", 0, { DCNT_IA_PSP_CREATE_ANY, 1 }, { DCNT_IA_CM_LISTEN, 1 });
	dt_ok(dat_psp_free(psp));
	begin();
	dt_ok(dat_psp_create(pair.a.ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	/* One that is refused does not count. */
	dt_assert_type(dat_psp_create(pair.a.ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_CONN_QUAL_IN_USE);
	dt_assert_type(dat_rsp_create(pair.a.ia, qual, pair.a.ep, evd, &rsp), DAT_CONN_QUAL_IN_USE);
	ADDS("psp", 0, { DCNT_IA_PSP_CREATE, 1 }, { DCNT_IA_CM_LISTEN, 1 });
	dt_ok(dat_psp_free(psp));
	begin();
	dt_ok(dat_rsp_create(pair.a.ia, qual, pair.a.ep, evd, &rsp));
	ADDS("rsp", 0, { DCNT_IA_RSP_CREATE, 1 }, { DCNT_IA_CM_LISTEN, 1 });
	dt_ok(dat_rsp_free(rsp));
	memcpy(&at, dt_address(pair.a.ia), sizeof(struct sockaddr_in));
	begin();
	dt_ok(dat_csp_create(pair.a.ia, &comm, (DAT_IA_ADDRESS_PTR)&at, evd, &csp));
	ADDS("csp", 0, { DCNT_IA_CM_LISTEN, 1 });
	dt_ok(dat_csp_free(csp));
	ADDS("csp", 0, { DCNT_IA_CM_LISTEN, 1 });
	begin();
	dt_assert_type(dat_pz_free(pz), DAT_INVALID_STATE);
	dt_ok(dat_lmr_free(lmr));
	dt_ok(dat_rmr_free(rmr));
	dt_ok(dat_srq_free(srq));
	dt_ok(dat_pz_free(pz));
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
	dt_ok(dat_ep_free(pair.a.ep));
	ADDS("freed", 0, { DCNT_IA_PZ_FREE, 1 }, { DCNT_IA_LMR_FREE, 1 }, { DCNT_IA_RMR_FREE, 1 },
	    { DCNT_IA_SRQ_FREE, 1 }, { DCNT_IA_EVD_FREE, 1 }, { DCNT_IA_EP_FREE, 1 });
	take(pair.a.ia, before[0]);
	ck_assert_uint_eq(before[0][DCNT_IA_PSP_FREE], 2);
	ck_assert_uint_eq(before[0][DCNT_IA_RSP_FREE], 1);
	dt_pair_close(&pair);
}

/*
 * Both ends have counted all of it, which may be after the event: what is counted next begins from
 * there.
 */
static void
establish(void)
{
	begin();
	dt_connect_pair(&pair);
	ADDS("established", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_REP_RX, 1 },
	    { DCNT_IA_CM_RTU_TX, 1 }, { DCNT_IA_CM_ACTIVE_EST, 1 });
	ADDS("established", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 },
	    { DCNT_IA_SP_CR_ACCEPTED, 1 }, { DCNT_IA_CM_REP_TX, 1 }, { DCNT_IA_CM_RTU_RX, 1 },
	    { DCNT_IA_CM_PASSIVE_EST, 1 });
	begin();
}

static void
end_connection(void)
{
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));
}

static void
ends(DAT_EVENT_NUMBER how)
{
	dt_expect_connection(pair.a.connect, how, pair.a.ep);
	dt_ok(dat_ep_reset(pair.a.ep));
}

/* clause: f.2.5 */
TEST(connections__each_way_that_they_go__counts_at_both_ends)
{
	struct fault_replacement fails = { .from = RDMA_CM_EVENT_ROUTE_RESOLVED,
		.to = RDMA_CM_EVENT_ROUTE_ERROR,
		.adapter = 0,
		.status = -EINVAL };
	DAT_EVD_HANDLE evd;
	DAT_CONN_QUAL qual;
	DAT_RSP_HANDLE rsp;
	DAT_PSP_HANDLE psp;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	device_pair_open(&pair);
	establish();
	end_connection();
	ADDS("disconnected", 0, { DCNT_IA_CM_DREQ_TX, 1 });
	ADDS("disconnected", 1, { DCNT_IA_CM_DREQ_RX, 1 });
	/* By the end that was asked, and gracefully. */
	establish();
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	ADDS("disconnected by b", 0, { DCNT_IA_CM_DREQ_RX, 1 });
	ADDS("disconnected by b", 1, { DCNT_IA_CM_DREQ_TX, 1 });
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));

	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&pair.b), 0, NULL));
	ends(DAT_CONNECTION_EVENT_PEER_REJECTED);
	ADDS("rejected", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_USER_REJ_RX, 1 });
	ADDS("rejected", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 },
	    { DCNT_IA_SP_CR_REJECTED, 1 }, { DCNT_IA_CM_USER_REJ_TX, 1 });

	begin();
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 20000, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	cr = dt_request(&pair.b);
	ends(DAT_CONNECTION_EVENT_TIMED_OUT);
	ADDS("timed out", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_ERR_TIMEOUT, 1 });
	ADDS("timed out", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 });
	dt_ok(dat_cr_reject(cr, 0, NULL));

	begin();
	fault_cm_replace(&fails);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	ends(DAT_CONNECTION_EVENT_UNREACHABLE);
	ADDS("no route", 0, { DCNT_IA_CM_ERR, 1 });
	ADDS_NOTHING("no route", 1);

	begin();
	fails.from = RDMA_CM_EVENT_ESTABLISHED;
	fails.to = RDMA_CM_EVENT_CONNECT_ERROR;
	fault_cm_replace(&fails);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	ends(DAT_CONNECTION_EVENT_UNREACHABLE);
	ADDS("failed", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_ERR, 1 });
	/* Whatever that was at the other end. */
	do
		dt_next(pair.b.connect, &event);
	while (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);

	/* A request whose sender has gone is accepted all the same, and not answered. */
	pair.b.ep = dt_ep(&pair.b, NULL);
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	ADDS("asked", 0, { DCNT_IA_CM_REQ_TX, 1 });
	ADDS("asked", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 });
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	ends(DAT_CONNECTION_EVENT_DISCONNECTED);
	dt_nap_ms(20); /* so that the other end knows */
	begin();
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_connection(
	    pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, pair.b.ep);
	ADDS("gone", 1, { DCNT_IA_SP_CR_ACCEPTED, 1 }, { DCNT_IA_CM_ERR, 1 });

	/* The provider refuses what it cannot report; the consumer never had that request. */
	evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_post_se(evd, 1);
	dt_ok(dat_psp_create_any(pair.b.ia, &pair.b.qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	ends(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	ADDS("full", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_ERR_REJ_RX, 1 });
	ADDS("full", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_ASYNC_ERROR, 1 });

	/* A second request for one endpoint is refused by the provider. */
	pair.b.ep = dt_ep(&pair.b, NULL);
	evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 4);
	dt_ok(dat_psp_create_any(pair.b.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	dt_ok(dat_rsp_create(pair.b.ia, qual, pair.b.ep, evd, &rsp));
	pair.b.qual = qual;
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(evd, DAT_CONNECTION_REQUEST_EVENT, &event);
	pair.a.ep = dt_ep(&pair.a, NULL);
	ADDS("queued", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_EP_CREATE, 1 });
	ADDS("queued", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 });
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	ends(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	ADDS("refused", 0, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_ERR_REJ_RX, 1 });
	ADDS("refused", 1, { DCNT_IA_CM_REQ_RX, 1 }, { DCNT_IA_CM_ERR_REJ_TX, 1 });
	dt_pair_close(&pair);
}

/* clause: f.2.5 */
TEST(lookups__each_way_that_they_go__counts_at_both_ends)
{
	DAT_EP_ATTR attr = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD,
		.max_recv_dtos = 1,
		.max_request_dtos = 1,
		.max_recv_iov = 1,
		.max_request_iov = 1 };
	DAT_EVENT event;

	device_pair_open(&pair);
	pair.a.ep = dt_ep(&pair.a, &attr);
	pair.b.ep = dt_ep(&pair.b, &attr);
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
	dt_next(pair.a.connect, &event);
	ADDS("found", 0, { DCNT_IA_CM_AH_REQ_TX, 1 }, { DCNT_IA_CM_AH_RESOLVED, 1 });
	ADDS("found", 1, { DCNT_IA_CM_AH_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 },
	    { DCNT_IA_SP_CR_ACCEPTED, 1 }, { DCNT_IA_CM_AH_RESOLVED, 1 });
	begin();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_datagram_request(&pair.b), 0, NULL));
	dt_next(pair.a.connect, &event);
	ADDS("rejected", 0, { DCNT_IA_CM_AH_REQ_TX, 1 }, { DCNT_IA_CM_USER_REJ_RX, 1 });
	ADDS("rejected", 1, { DCNT_IA_CM_AH_REQ_RX, 1 }, { DCNT_IA_SP_CR, 1 },
	    { DCNT_IA_SP_CR_REJECTED, 1 }, { DCNT_IA_CM_USER_REJ_TX, 1 });
	begin();
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 20000, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	(void)dt_datagram_request(&pair.b);
	dt_next(pair.a.connect, &event);
	ADDS("not answered", 0, { DCNT_IA_CM_AH_REQ_TX, 1 }, { DCNT_IA_CM_ERR, 1 });
	dt_pair_close(&pair);
}

/* clause: f.2.5 */
TEST(errors_of_the_device__each_counts_by_its_object)
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	device_pair_open(&pair);
	establish(); /* the queue pair of b is the last that was made */
	fault_raise(IBV_EVENT_QP_FATAL, fault_qp_last());
	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EP_BROKEN, &event);
	dt_expect(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN, &event);
	dt_next(pair.a.connect, &event);
	ADDS("queue pair", 0, { DCNT_IA_CM_DREQ_RX, 1 });
	ADDS("queue pair", 1, { DCNT_IA_ASYNC_ERROR, 1 }, { DCNT_IA_ASYNC_QP_ERROR, 1 });
	evd = dt_evd(&pair.b, DAT_EVD_DTO_FLAG, 4);
	begin();
	fault_raise(IBV_EVENT_CQ_ERR, fault_cq_last());
	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	ADDS("completion queue", 1, { DCNT_IA_ASYNC_ERROR, 1 }, { DCNT_IA_ASYNC_CQ_ERROR, 1 });
	begin();
	fault_raise(IBV_EVENT_PORT_ERR, NULL);
	for (int end = 0; end < 2; end++)
		ADDS("port", end, { DCNT_IA_ASYNC_ERROR, 1 });
	begin();
	fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
	for (int end = 0; end < 2; end++)
		ADDS("device", end, { DCNT_IA_ASYNC_ERROR, 1 });
	dt_pair_close(&pair);
}

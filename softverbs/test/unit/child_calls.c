/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child_calls -- each call of the connection manager that the child of a fork() makes with an id or
 * a channel of its parent, and the ends of what the parent had begun: errors
 */
#include "story.h"
#include "lib/feature.h"

#include "softverbs/device/calls.h"

#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <sys/wait.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *resolved, *waits;
static struct ibv_qp_ex *qp;
static struct ibv_cq_ex *cq;
static struct side side;
static uint16_t port;

#define NO_OBJECT 1 /* the call has none of the parent's, or destroys it */

static int
call_to_begin(enum soft_call call)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct ibv_qp_init_attr init = {
		.send_cq = side.cq, .recv_cq = side.cq, .cap = { 1, 1, 1, 1, 0 }
	};
	struct ibv_srq_init_attr srq = { .attr = { 1, 1, 0 } };
	struct rdma_cm_id *id;

	switch (call) {
	case SOFT_CALL_rdma_create_id:
		return rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	case SOFT_CALL_rdma_bind_addr:
		return rdma_bind_addr(waits, (struct sockaddr *)&address);
	case SOFT_CALL_rdma_resolve_addr:
		return rdma_resolve_addr(waits, NULL, (struct sockaddr *)&address, 100);
	case SOFT_CALL_rdma_resolve_route:
		return rdma_resolve_route(resolved, 100);
	case SOFT_CALL_rdma_create_qp:
		return rdma_create_qp(resolved, side.pd, &init);
	case SOFT_CALL_rdma_create_qp_ex:
		return rdma_create_qp_ex(resolved, &(struct ibv_qp_init_attr_ex){ 0 });
	case SOFT_CALL_rdma_create_srq:
		return rdma_create_srq(resolved, NULL, &srq);
	case SOFT_CALL_rdma_create_srq_ex:
		return rdma_create_srq_ex(resolved, &(struct ibv_srq_init_attr_ex){ 0 });
	case SOFT_CALL_rdma_listen:
		return rdma_listen(waits, 1);
	case SOFT_CALL_rdma_connect:
		return rdma_connect(resolved, &(struct rdma_conn_param){ .qp_num = 1 });
	case SOFT_CALL_rdma_migrate_id:
		return rdma_migrate_id(resolved, NULL);
	default:
		return NO_OBJECT;
	}
}

static int
call_to_go_on(enum soft_call call)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_ece ece = { .vendor_id = 1 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	uint8_t type = 0;
	int mask;

	switch (call) {
	case SOFT_CALL_rdma_accept:
		return rdma_accept(resolved, NULL);
	case SOFT_CALL_rdma_reject:
		return rdma_reject(resolved, NULL, 0);
	case SOFT_CALL_rdma_reject_ece:
		return rdma_reject_ece(resolved, NULL, 0);
	case SOFT_CALL_rdma_disconnect:
		return rdma_disconnect(resolved);
	case SOFT_CALL_rdma_notify:
		return rdma_notify(resolved, IBV_EVENT_COMM_EST);
	case SOFT_CALL_rdma_establish:
		return rdma_establish(resolved);
	case SOFT_CALL_rdma_get_cm_event:
		return rdma_get_cm_event(channel, &event);
	case SOFT_CALL_rdma_get_request:
		return rdma_get_request(listener, &id);
	case SOFT_CALL_rdma_set_option:
		return rdma_set_option(
		    resolved, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &type, sizeof type);
	case SOFT_CALL_rdma_init_qp_attr:
		return rdma_init_qp_attr(resolved, &attr, &mask);
	case SOFT_CALL_rdma_set_local_ece:
		return rdma_set_local_ece(resolved, &ece);
	case SOFT_CALL_rdma_get_remote_ece:
		return rdma_get_remote_ece(resolved, &ece);
	case SOFT_CALL_rdma_create_event_channel:
	case SOFT_CALL_rdma_destroy_id:
	case SOFT_CALL_rdma_create_ep:
	case SOFT_CALL_rdma_getaddrinfo:
	case SOFT_CALL_rdma_get_devices:
		return NO_OBJECT;
	default:
		ck_abort_msg("a call that no child has made: %s", soft_calls[call].name);
	}
}

static void
make_each_call(void)
{
#define NUMBER(name, ...) SOFT_CALL_##name,
	static const enum soft_call calls[] = { SOFT_CM_CALLS(NUMBER) };
	struct rdma_event_channel *own = cm_channel();
	struct rdma_cm_id *id;
	int r;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		errno = 0;
		r = call_to_begin(calls[i]);
		if (r == NO_OBJECT)
			r = call_to_go_on(calls[i]);
		ck_assert_msg(r == NO_OBJECT || (r == -1 && errno == EIO), "%s: %d, %s",
		    soft_calls[calls[i]].name, r, strerror(errno));
	}
	ck_assert_int_eq(rdma_create_id(own, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_migrate_id(id, channel), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_int_eq(rdma_migrate_id(resolved, own), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(own);
	ck_assert_int_eq(rdma_destroy_id(resolved), 0);
	rdma_destroy_event_channel(channel);
}

static void
in_a_child(void (*body)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(20);
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

static void
expect_unreadable(void)
{
	struct pollfd readable = { channel->fd, POLLIN, 0 };

	ck_assert_int_eq(poll(&readable, 1, 0), 0);
}

CASE("soft-child_calls:child_calls", .needs = feature_child, .reason = FEATURE_NO_CHILD);

/* origin: out33.W5 */
TEST(fork__child_makes_each_call_with_an_id_or_a_channel__EIO__and_the_parent_goes_on)
{
	side_make(&side, NULL);
	channel = cm_channel();
	listener = cm_listen(channel, &port);
	resolved = cm_resolved(channel, port);
	ck_assert_int_eq(rdma_create_id(channel, &waits, NULL, RDMA_PS_TCP), 0);
	in_a_child(make_each_call);
	expect_unreadable();
	ck_assert_int_eq(rdma_listen(waits, 1), 0);
	ck_assert_int_eq(rdma_destroy_id(waits), 0);
	ck_assert_int_eq(rdma_destroy_id(resolved), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	side_free(&side);
}

static void
make_an_id(void)
{
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), -1);
	ck_assert_int_eq(errno, EIO);
}

/* The device has not started, and nothing was opened. */
/* origin: out33.W5 */
TEST(fork__parent_has_a_channel_alone__it_is_the_parents)
{
	channel = cm_channel();
	in_a_child(make_an_id);
	rdma_destroy_event_channel(channel);
}

static void
end_what_was_begun(void)
{
	ck_assert_int_eq(ibv_wr_complete(qp), EIO);
	ck_assert_int_eq(ibv_next_poll(cq), EIO);
}

/* origin: out33.W5 */
TEST(fork__child_ends_what_the_parent_had_begun__EIO)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 4 };

	side_make(&side, NULL);
	cq = ibv_create_cq_ex(side.context, &init);
	ck_assert_ptr_nonnull(cq);
	qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(
	    side.context, &(struct ibv_qp_init_attr_ex){ .send_cq = side.cq,
			      .recv_cq = side.cq,
			      .cap = { 1, 1, 1, 1, 0 },
			      .qp_type = IBV_QPT_RC,
			      .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			      .pd = side.pd,
			      .send_ops_flags = IBV_QP_EX_WITH_SEND }));
	ck_assert_ptr_nonnull(qp);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	in_a_child(end_what_was_begun);
	ibv_wr_abort(qp);
	ck_assert_int_eq(ibv_destroy_qp(&qp->qp_base), 0);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	side_free(&side);
}

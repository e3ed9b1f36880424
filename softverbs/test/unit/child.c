/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child -- what the child of a fork() can do with the objects of its parent: free them, and nothing
 * else
 */
#include "line.h"
#include "story.h"
#include "lib/feature.h"

#include "softverbs/device/slot.h"
#include "softverbs/qp/key.h"
#include "softverbs/qp/qp.h"
#include "softverbs/qp/qp_table.h"
#include "softverbs/wire/handlers.h"
#include "softverbs/wire/peer.h"

#include <semaphore.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Everything that a context has. */
static struct side a, b;
static struct ibv_srq *srq;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct ibv_td *thread_domain;
static struct ibv_pd *parent_domain;
static struct ibv_cq_ex *cq_ex;
static struct ibv_qp_ex *qp_ex;
static uint32_t last_index; /* of its queue pairs */
static int stage;

static void
make_objects(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_td_init_attr td_init = { .comp_mask = 0 };
	struct ibv_cq_init_attr_ex cq_init = { .cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_ah_attr address = { .dlid = 1, .port_num = 1 };
	struct ibv_port_attr port;

	pair_make(&a, &b, NULL);
	ck_assert_int_eq(ibv_query_port(a.context, 1, (void *)&port), 0);
	address.dlid = port.lid;
	srq = ibv_create_srq(a.pd, &srq_init);
	mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
	ah = ibv_create_ah(a.pd, &address);
	thread_domain = ibv_alloc_td(a.context, &td_init);
	cq_ex = ibv_create_cq_ex(a.context, &cq_init);
	ck_assert_ptr_nonnull(srq);
	ck_assert_ptr_nonnull(mw);
	ck_assert_ptr_nonnull(ah);
	ck_assert_ptr_nonnull(thread_domain);
	ck_assert_ptr_nonnull(cq_ex);
	parent_domain = ibv_alloc_parent_domain(
	    a.context, &(struct ibv_parent_domain_init_attr){ .pd = a.pd, .td = thread_domain });
	ck_assert_ptr_nonnull(parent_domain);
	qp_ex = ibv_qp_to_qp_ex(ibv_create_qp_ex(
	    a.context, &(struct ibv_qp_init_attr_ex){ .send_cq = a.cq,
			   .recv_cq = a.cq,
			   .cap = { 1, 1, 1, 1, 0 },
			   .qp_type = IBV_QPT_RC,
			   .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			   .pd = a.pd,
			   .send_ops_flags = IBV_QP_EX_WITH_SEND }));
	ck_assert_ptr_nonnull(qp_ex);
	last_index = qp_ex->qp_base.qp_num % SOFT_MAX_QP;
}

static void
free_objects(void)
{
	ck_assert_int_eq(ibv_destroy_qp(&qp_ex->qp_base), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent_domain), 0);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)), 0);
	ck_assert_int_eq(ibv_dealloc_td(thread_domain), 0);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	pair_free(&a, &b);
}

/* Runs it in a child, which must end well; then the parent's connection works on. */
static void
in_a_child(void (*body)(void))
{
	pid_t child;
	int status;

	make_objects();
	soft_keys_lock();
	pthread_mutex_lock(&a.cq->mutex);
	child = fork();
	if (child == 0) {
		body();
		_exit(0);
	}
	pthread_mutex_unlock(&a.cq->mutex);
	soft_keys_unlock();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	free_objects();
}

#define EXPECT_NULL(call) \
	do { \
		errno = 0; \
		ck_assert_ptr_null(call); \
		ck_assert_int_eq(errno, EIO); \
	} while (0)

#define EXPECT_MINUS_ONE(call) \
	do { \
		errno = 0; \
		ck_assert_int_eq(call, -1); \
		ck_assert_int_eq(errno, EIO); \
	} while (0)

static void
make_nothing(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_td_init_attr td_init = { .comp_mask = 0 };
	struct ibv_parent_domain_init_attr domain_init = { .pd = a.pd, .td = thread_domain };
	struct ibv_cq_init_attr_ex cq_init = { .cqe = 4 };
	struct ibv_ah_attr address = { .dlid = 1, .port_num = 1 };
	struct ibv_qp_init_attr qp_init = {
		.send_cq = a.cq, .recv_cq = a.cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};

	EXPECT_NULL(ibv_alloc_pd(a.context));
	EXPECT_NULL(ibv_alloc_td(a.context, &td_init));
	EXPECT_NULL(ibv_alloc_parent_domain(a.context, &domain_init));
	EXPECT_NULL(ibv_create_comp_channel(a.context));
	EXPECT_NULL(ibv_create_cq(a.context, 1, NULL, NULL, 0));
	EXPECT_NULL(ibv_create_cq_ex(a.context, &cq_init));
	EXPECT_NULL(ibv_create_srq(a.pd, &srq_init));
	EXPECT_NULL(ibv_create_qp(a.pd, &qp_init));
	EXPECT_NULL(ibv_reg_mr(a.pd, a.bytes, 8, SIDE_ACCESS));
	EXPECT_NULL(ibv_alloc_mw(a.pd, IBV_MW_TYPE_1));
	EXPECT_NULL(ibv_create_ah(a.pd, &address));
}

static void
use_nothing(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;
	struct ibv_modify_cq_attr moderation = { .attr_mask = IBV_CQ_ATTR_MODERATE };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_poll_cq_attr poll = { .comp_mask = 0 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_async_event event;
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;

	ck_assert_int_eq(side_try_receive(&b, 9, 0, 8), EIO);
	ck_assert_int_eq(side_try_post(&a, IBV_WR_SEND, 0, 9, 0, 8), EIO);
	ck_assert_int_eq(ibv_post_srq_recv(srq, &receive, &bad), EIO);
	ck_assert_ptr_eq(bad, &receive);
	ck_assert_int_lt(ibv_poll_cq(a.cq, 1, &wc), 0);
	ck_assert_int_eq(ibv_start_poll(cq_ex, &poll), EIO);
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), EIO);
	EXPECT_MINUS_ONE(ibv_get_cq_event(a.channel, &cq, &context));
	EXPECT_MINUS_ONE(ibv_get_async_event(a.context, &event));
	/* A thread of the parent had the lock of the queue at the fork: here it is never free. */
	event = (struct ibv_async_event){ .event_type = IBV_EVENT_CQ_ERR, .element.cq = a.cq };
	ibv_ack_async_event(&event);
	ibv_ack_cq_events(a.cq, 1);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &error, IBV_QP_STATE), EIO);
	ck_assert_int_eq(ibv_modify_cq(a.cq, &moderation), EIO);
	ck_assert_int_eq(ibv_resize_cq(a.cq, 256), EIO);
	ck_assert_int_eq(ibv_query_qp(a.qp, &error, 0, &init), EIO);
	ck_assert_int_eq(ibv_query_srq(srq, &limit), EIO);
	ck_assert_int_eq(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), EIO);
	errno = 0;
	ck_assert_int_eq(ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, SIDE_ACCESS),
	    IBV_REREG_MR_ERR_CMD);
	ck_assert_int_eq(errno, EIO);
	ibv_wr_start(qp_ex);
	ibv_wr_send(qp_ex);
	ck_assert_int_eq(ibv_wr_complete(qp_ex), EIO);
}

/* What the parent has keeps its number of users: the child frees in any order. */
static void
free_everything(void)
{
	ck_assert_int_eq(ibv_dealloc_pd(a.pd), 0);
	ck_assert_int_eq(ibv_destroy_cq(a.cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(a.channel), 0);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_dereg_mr(a.mr), 0);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)), 0);
	ck_assert_int_eq(ibv_destroy_qp(&qp_ex->qp_base), 0);
	ck_assert_int_eq(ibv_dealloc_td(thread_domain), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent_domain), 0);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	ck_assert_int_eq(ibv_close_device(a.context), 0);
}

static void
use_a_device(void)
{
	struct side c, d;

	pair_make(&c, &d, NULL);
	/* The parent had more queue pairs than the child has made. */
	ck_assert_ptr_null(
	    soft_qp_table_find(soft_qpn_slot(c.qp->qp_num) << SOFT_QPN_INDEX_BITS | last_index));
	side_receive(&d, 1, 0, 8);
	side_post(&c, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(c.cq, 2, IBV_WC_SUCCESS);
	pair_free(&c, &d);
}

static void
begin_again(void)
{
	free_everything();
	if (!STORY_TSAN)
		use_a_device();
}

CASE("soft-child:child", .needs = feature_child, .reason = FEATURE_NO_CHILD);

/* origin: out33.E5 */
TEST(fork__child_leaves_the_device_alone__parent_goes_on)
{
	in_a_child(begin_again);
}

CASE("soft-child:child");

TEST(fork__child_makes_an_object__EIO)
{
	in_a_child(make_nothing);
}

/* origin: out33.A9 */
TEST(fork__child_uses_an_object__EIO)
{
	in_a_child(use_nothing);
}

static int sockets_before;

static int
count_sockets(void)
{
	struct stat st;
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += !fstat(fd, &st) && S_ISSOCK(st.st_mode);
	return count;
}

static void
have_no_socket(void)
{
	ck_assert_uint_eq(soft_slot_number(), 0);
	ck_assert_int_eq(count_sockets(), sockets_before);
}

/* Who calls the parent would be heard by the child, also when the parent has ended. */
/* origin: out33.E5 */
TEST(fork__child__has_no_socket_of_the_device)
{
	sockets_before = count_sockets();
	in_a_child(have_no_socket);
}

/*
 * 0 is a descriptor like any other, and a program that has closed its standard input gives it to
 * the device.
 */
static void
use_without_standard_input(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct side c, d;

	free_everything();
	if (STORY_TSAN)
		return;
	if (stage == 0)
		close(STDIN_FILENO);
	channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(channel);
	if (stage == 1)
		close(STDIN_FILENO);
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	if (stage == 2)
		close(STDIN_FILENO);
	side_make(&c, NULL);
	if (stage == 3)
		close(STDIN_FILENO);
	side_make(&d, NULL);
	side_connect(&c, &d, NULL);
	side_receive(&d, 1, 0, 8);
	side_post(&c, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(c.cq, 2, IBV_WC_SUCCESS);
	pair_free(&c, &d);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

CASE("soft-child:child", .needs = feature_child, .reason = FEATURE_NO_CHILD);

TEST_LOOP(fork__child_without_standard_input__has_a_device, 4)
{
	stage = _i;
	in_a_child(use_without_standard_input);
}

/* ---- a thread of the parent is in the middle of giving a queue pair its turn */

#define LONG_BYTES 65536u
#define MANY 16 /* such requests are more than the memory of a link takes */

static const struct soft_handlers *good_handlers;
static sem_t is_inside, may_leave;

static void
get_and_stay(struct soft_turn *turn)
{
	good_handlers->requester.get(turn);
	sem_post(&is_inside);
	while (sem_wait(&may_leave))
		;
}

static void *
post_many(void *unused)
{
	(void)unused;
	for (uint64_t i = 1; i < MANY; i++)
		ck_assert_int_eq(
		    side_rdma_raw(&a, IBV_WR_RDMA_WRITE, i, 0, 4096, 1, LONG_BYTES), 0);
	return NULL;
}

static void
connect_to_slot(struct side *side, const struct side_options *options, unsigned int slot)
{
	side_to_init(side, NULL);
	side_to_rtr(side, slot << 14 | 5);
	side_to_rts(side, options);
}

/* A request from another process needs a turn for its answer. */
static void
serve_another(void)
{
	const struct side_options patient = { .patient = true };
	struct soft_frame request = { .type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_READ,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.psn = side_psn,
		.total = 8 },
			  answer;
	unsigned int slot;
	char bytes[8];
	struct side c;
	int door, line;

	soft_handlers = good_handlers;
	side_make(&c, NULL);
	slot = line_slot_take(&door);
	connect_to_slot(&c, &patient, slot);
	line = line_open(soft_slot_number());
	line_greet(line, slot);
	request.qpn = c.qp->qp_num;
	request.from = slot << 14 | 5;
	request.address = (uintptr_t)c.bytes;
	request.rkey = c.mr->rkey;
	line_send(line, &request, sizeof request);
	ck_assert_int_eq(recv(line, &answer, sizeof answer, MSG_WAITALL), sizeof answer);
	ck_assert_int_eq(answer.type, SOFT_FRAME_RESPONSE);
	ck_assert_int_eq(recv(line, bytes, sizeof bytes, MSG_WAITALL), sizeof bytes);
	close(line);
	line_slot_leave(slot, door);
	side_free(&c);
}

/* origin: out33.E5 */
TEST(fork__a_thread_has_the_lock_of_turns__child_answers_others)
{
	const struct side_options options = { .sends = MANY, .patient = true };
	static struct soft_handlers handlers;
	struct soft_welcome_frame welcome;
	struct soft_rings rings;
	unsigned int slot;
	pthread_t thread;
	int door, line, status;
	pid_t child;

	if (STORY_TSAN)
		return;
	side_make(&a, &options);
	slot = line_slot_take(&door);
	connect_to_slot(&a, &options, slot);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 0, 0, 4096, 1, 8), 0);
	line = line_accept_rings(door, &rings);
	soft_peer_welcome(&welcome, SOFT_WELCOME_RINGS);
	line_send(line, &welcome, sizeof welcome);
	(void)line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
	good_handlers = soft_handlers;
	handlers = *good_handlers;
	handlers.requester.get = get_and_stay;
	sem_init(&is_inside, 0, 0);
	sem_init(&may_leave, 0, 0);
	soft_handlers = &handlers;
	ck_assert_int_eq(pthread_create(&thread, NULL, post_many, NULL), 0);
	while (sem_wait(&is_inside))
		;
	child = fork();
	if (child == 0) {
		alarm(20);
		serve_another();
		_exit(0);
	}
	soft_handlers = good_handlers;
	sem_post(&may_leave);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	soft_rings_unmap(&rings);
	close(line);
	line_slot_leave(slot, door);
	side_free(&a);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: created, adopted, what a completion has, and a device that fails. */
#include <fcntl.h>
#include <stdatomic.h>

#include "queue_story.h"

QUEUE_CASE("rearm_cq:create");

TEST(create__wrong_arguments__refused)
{
	const struct rearm_queue_attr good = { .cqe = 1 }, none = { .cqe = 0 },
				      vector = { .cqe = 1, .vector = 100000 },
				      reserved = { .cqe = 1, .reserved = { 1 } };
	struct rearm_queue *queue;

	ck_assert_int_eq(rearm_queue_create(NULL, qs.context, &good, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, NULL, &good, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &good, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &none, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &vector, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &reserved, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_free(NULL), 0);
}

/* The memory of a queue is used again, for another one. */
TEST(create__after_a_free__is_as_new)
{
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE };

	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_ANY), -EINVAL);
	queue_complete(1, 1);
	notes_expect(0, 0);
	queue_takes(1);
}

static bool destroy_fails;

int __real_ibv_destroy_cq(struct ibv_cq *of);
int __wrap_ibv_destroy_cq(struct ibv_cq *of);

int
__wrap_ibv_destroy_cq(struct ibv_cq *of)
{
	const int r = __real_ibv_destroy_cq(of);

	return destroy_fails ? EIO : r;
}

/* As a device that was removed. */
/* origin: out36.V2 */
TEST(destroy_fails__free__the_channel_goes)
{
	const struct rearm_queue_attr attr = { .cqe = 1 };
	struct rearm_queue *queue;
	int before = 0;

	/* The first one opens what the device keeps open. */
	for (int i = 0; i < 2; i++) {
		before = queue_descriptors();
		destroy_fails = i == 1;
		ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &queue), 0);
		ck_assert_int_eq(rearm_queue_free(queue), 0);
	}
	ck_assert_int_eq(queue_descriptors(), before);
}

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;

static void
own_cq(void)
{
	channel = ibv_create_comp_channel(qs.context);
	ck_assert_ptr_nonnull(channel);
	cq = ibv_create_cq(qs.context, QUEUE_CQE, NULL, channel, 0);
	ck_assert_ptr_nonnull(cq);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	queue_make_qp(cq);
}

/* What it holds counts; afterwards it is the program's again. */
TEST(adopt__callbacks_then_freed__the_program_polls_and_waits_again)
{
	struct ibv_cq *got;
	struct ibv_wc wc;
	void *context;
	int flags;

	own_cq();
	flags = fcntl(channel->fd, F_GETFL);
	queue_complete(1, 2);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, cq, NULL, &qs.queue), 0);
	ck_assert_ptr_eq(rearm_queue_cq(qs.queue), cq);
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags | O_NONBLOCK);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), -EAGAIN);
	queue_takes(1);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	notes_await(1);
	queue_complete(3, 1);
	notes_await(2);
	ck_assert_uint_eq(qs.notes.id[1], 3);
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	qs.queue = NULL;
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags);
	queue_complete(4, 1);
	ck_assert_int_eq(ibv_poll_cq(cq, 1, &wc), 1);
	ck_assert_uint_eq(wc.wr_id, 4);
	ck_assert_int_eq(ibv_req_notify_cq(cq, 0), 0);
	queue_complete(5, 1);
	ck_assert_int_eq(ibv_get_cq_event(channel, &got, &context), 0);
	ibv_ack_cq_events(got, 1);
	queue_destroy_qp();
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

static void
readopt(struct notes *notes)
{
	notes->then = NULL;
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, cq, NULL, &qs.queue), 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
}

/* The queue that was freed leaves the channel when the callback has returned. */
/* origin: out36.W2 */
TEST(adopt__again_inside_the_callback_that_frees__the_channel_does_not_block)
{
	int flags;

	own_cq();
	flags = fcntl(channel->fd, F_GETFL);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, cq, NULL, &qs.queue), 0);
	qs.notes.then = readopt;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	queue_complete(1, 1);
	notes_await(1);
	queue_complete(2, 1);
	notes_await(2); /* the loop goes on: the first callback has returned */
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags | O_NONBLOCK);
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags);
	qs.queue = NULL;
	queue_destroy_qp();
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

static atomic_bool destroyed;

static void
free_and_destroy(struct notes *notes)
{
	notes->then = NULL;
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	destroyed = true;
}

/* What the queue has read is acknowledged, or the destruction would wait without end. */
/* origin: out36.EE1 */
TEST(adopt__freed_inside_a_callback__the_program_destroys_the_completion_queue_there)
{
	own_cq();
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, cq, NULL, &qs.queue), 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	for (uint64_t i = 1; i < 4; i++) {
		queue_complete(i, 1);
		notes_await((int)i);
	}
	qs.notes.then = free_and_destroy;
	queue_complete(4, 1);
	while (!destroyed)
		queue_sleep_ms(1);
	qs.queue = NULL;
	ck_assert_int_eq(rearm_loop_free(qs.loop), 0); /* the callback has returned */
	qs.loop = NULL;
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

TEST(adopt__wrong_arguments__refused)
{
	struct ibv_cq *bare = ibv_create_cq(qs.context, 4, NULL, NULL, 0);
	struct rearm_queue *queue;

	ck_assert_ptr_nonnull(bare);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, bare, NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, NULL, NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt(NULL, rearm_queue_cq(qs.queue), NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, rearm_queue_cq(qs.queue), NULL, NULL), -EINVAL);
	ck_assert_int_eq(ibv_destroy_cq(bare), 0);
}

/* ---- a device whose functions are those of the test ---- */

QUEUE_CASE("rearm_cq:device");

static struct ibv_wc given[4];
static int n_given, fails;
static int (*device_poll)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
static int (*device_arm)(struct ibv_cq *cq, int solicited_only);

static int
poll_given(struct ibv_cq *it, int n, struct ibv_wc *wc)
{
	int made = 0;

	(void)it;
	while (made < n && n_given > 0) {
		wc[made++] = given[0];
		memmove(given, given + 1, sizeof given - sizeof *given);
		n_given--;
	}
	return made;
}

static int
poll_fails(struct ibv_cq *it, int n, struct ibv_wc *wc)
{
	return __atomic_load_n(&fails, __ATOMIC_SEQ_CST) ? -1 : device_poll(it, n, wc);
}

static int
arm_fails(struct ibv_cq *it, int solicited_only)
{
	return __atomic_load_n(&fails, __ATOMIC_SEQ_CST) ? ENOMEM : device_arm(it, solicited_only);
}

static void
give(void)
{
	const struct ibv_wc full = {
		.wr_id = 0x1122334455667788,
		.status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.byte_len = 0x80000001,
		.imm_data = 0xdeadbeef,
		.qp_num = 0xabcdef,
		.src_qp = 0xfedcba,
		.wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_TM_DATA_VALID,
		.pkey_index = 0x1234,
		.slid = 0xfffe,
		.sl = 15,
		.dlid_path_bits = 127,
	};
	const struct ibv_wc failed = {
		.wr_id = 7, .status = IBV_WC_GENERAL_ERR, .vendor_err = 0x87654321, .qp_num = 5
	};

	given[0] = full;
	given[1] = failed;
	n_given = 2;
}

static void
expect_given(const struct ibv_wc *full, const struct ibv_wc *failed)
{
	ck_assert_uint_eq(full->wr_id, 0x1122334455667788);
	ck_assert_int_eq(full->status, IBV_WC_SUCCESS);
	ck_assert_int_eq(full->opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	ck_assert_uint_eq(full->byte_len, 0x80000001);
	ck_assert_uint_eq(full->imm_data, 0xdeadbeef);
	ck_assert_uint_eq(full->qp_num, 0xabcdef);
	ck_assert_uint_eq(full->src_qp, 0xfedcba);
	ck_assert_uint_eq(full->wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_TM_DATA_VALID);
	ck_assert_uint_eq(full->pkey_index, 0x1234);
	ck_assert_uint_eq(full->slid, 0xfffe);
	ck_assert_uint_eq(full->sl, 15);
	ck_assert_uint_eq(full->dlid_path_bits, 127);
	ck_assert_uint_eq(failed->wr_id, 7);
	ck_assert_int_eq(failed->status, IBV_WC_GENERAL_ERR);
	ck_assert_uint_eq(failed->vendor_err, 0x87654321);
	ck_assert_uint_eq(failed->qp_num, 5);
}

/* At once from the poll, and through the queue. */
TEST_LOOP(completion__every_member__comes_out_as_the_device_wrote_it, 2)
{
	struct ibv_wc wc[REARM_BATCH];

	device_poll = qs.context->ops.poll_cq;
	qs.context->ops.poll_cq = poll_given;
	give();
	memset(wc, 0x55, sizeof wc);
	if (_i)
		ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, 0, 2, wc), 2);
	else
		ck_assert_int_eq(rearm_queue_take(qs.queue, REARM_BATCH, wc), 2);
	qs.context->ops.poll_cq = device_poll;
	expect_given(&wc[0], &wc[1]);
}

static int told, n_told;

static void
note_failure(void *arg, int error)
{
	ck_assert_ptr_eq(arg, &told);
	__atomic_store_n(&told, error, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&n_told, 1, __ATOMIC_SEQ_CST);
}

static void
told_queue(void)
{
	const struct rearm_queue_attr attr = {
		.cqe = QUEUE_CQE, .failed = note_failure, .arg = &told
	};

	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
}

TEST(device__cannot_be_polled__calls_fail_and_work_again)
{
	struct ibv_wc wc;

	device_poll = qs.context->ops.poll_cq;
	qs.context->ops.poll_cq = poll_fails;
	queue_complete(1, 1);
	fails = 1;
	ck_assert_int_eq(rearm_queue_take(qs.queue, 1, &wc), -EIO);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, -1, 1, &wc), -EIO);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), -EIO);
	fails = 0;
	queue_takes(1);
	qs.context->ops.poll_cq = device_poll;
}

TEST(device__cannot_be_armed__calls_fail_and_nothing_changes)
{
	struct ibv_wc wc;

	device_arm = qs.context->ops.req_notify_cq;
	qs.context->ops.req_notify_cq = arm_fails;
	fails = 1;
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, -1, 1, &wc), -EIO);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), -EIO);
	fails = 0;
	queue_complete(1, 1);
	notes_expect(0, 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	notes_await(1);
	qs.context->ops.req_notify_cq = device_arm;
}

/* Told once; the callbacks go on when the device works again. */
TEST(device__cannot_be_armed_under_callbacks__told_once_and_they_go_on)
{
	told_queue();
	device_arm = qs.context->ops.req_notify_cq;
	qs.context->ops.req_notify_cq = arm_fails;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	__atomic_store_n(&fails, 1, __ATOMIC_SEQ_CST);
	queue_complete(1, 1);
	notes_await(1);
	while (!__atomic_load_n(&n_told, __ATOMIC_SEQ_CST))
		queue_sleep_ms(1);
	ck_assert_int_eq(__atomic_load_n(&told, __ATOMIC_SEQ_CST), -EIO);
	queue_complete(2, 1);
	queue_sleep_ms(20);
	ck_assert_int_eq(__atomic_load_n(&n_told, __ATOMIC_SEQ_CST), 1);
	__atomic_store_n(&fails, 0, __ATOMIC_SEQ_CST);
	notes_await(2);
	queue_complete(3, 1);
	notes_await(3);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	qs.context->ops.req_notify_cq = device_arm;
}

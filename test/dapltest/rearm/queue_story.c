/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue_story.h"

#include <dirent.h>
#include <time.h>

#include "evd/park.h"

struct queue_story qs;

void
queue_sleep_ms(int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

int
queue_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* ---- the device ---- */

static void
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	ck_assert_ptr_nonnull(list);
	qs.context = ibv_open_device(list[0]);
	ck_assert_ptr_nonnull(qs.context);
	ibv_free_device_list(list);
	qs.pd = ibv_alloc_pd(qs.context);
	ck_assert_ptr_nonnull(qs.pd);
}

void
queue_make_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = QUEUE_CQE },
		.qp_type = IBV_QPT_RC,
	};

	qs.qp = ibv_create_qp(qs.pd, &init);
	ck_assert_ptr_nonnull(qs.qp);
	queue_fail_qp();
}

void
queue_fail_qp(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	ck_assert_int_eq(ibv_modify_qp(qs.qp, &attr, IBV_QP_STATE), 0);
}

void
queue_make_own_peer(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = QUEUE_CQE, .max_recv_wr = QUEUE_CQE },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr ready = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_attr receives = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = { .dlid = 1, .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.min_rnr_timer = 1,
	};
	struct ibv_qp_attr sends = { .qp_state = IBV_QPS_RTS, .retry_cnt = 3, .rnr_retry = 7 };

	queue_destroy_qp();
	qs.qp = ibv_create_qp(qs.pd, &init);
	ck_assert_ptr_nonnull(qs.qp);
	ck_assert_int_eq(ibv_modify_qp(qs.qp, &ready,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    0);
	receives.dest_qp_num = qs.qp->qp_num;
	ck_assert_int_eq(ibv_modify_qp(qs.qp, &receives,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	    0);
	ck_assert_int_eq(ibv_modify_qp(qs.qp, &sends,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
}

void
queue_send(uint64_t id, unsigned int flags)
{
	struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_SEND, .send_flags = flags }, *bad;

	queue_complete(id, 1);
	ck_assert_int_eq(ibv_post_send(qs.qp, &wr, &bad), 0);
}

void
queue_destroy_qp(void)
{
	if (qs.qp)
		ck_assert_int_eq(ibv_destroy_qp(qs.qp), 0);
	qs.qp = NULL;
}

void
queue_complete(uint64_t first, int n)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (int i = 0; i < n; i++) {
		wr.wr_id = first + (uint64_t)i;
		ck_assert_int_eq(ibv_post_recv(qs.qp, &wr, &bad), 0);
	}
}

/* ---- the callback ---- */

static void
note(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct notes *notes = arg;
	void (*then)(struct notes *);

	pthread_mutex_lock(&notes->lock);
	for (int i = 0; i < n; i++)
		notes->id[notes->n++] = wc[i].wr_id;
	notes->size[notes->calls] = wc ? n : -1;
	notes->more[notes->calls++] = more;
	if (++notes->inside > notes->most_inside)
		notes->most_inside = notes->inside;
	then = notes->then;
	pthread_cond_broadcast(&notes->changed);
	while (notes->hold)
		pthread_cond_wait(&notes->changed, &notes->lock);
	pthread_mutex_unlock(&notes->lock);
	if (then)
		then(notes);
	pthread_mutex_lock(&notes->lock);
	notes->inside--;
	pthread_cond_broadcast(&notes->changed);
	pthread_mutex_unlock(&notes->lock);
}

int
queue_enable(enum rearm_policy policy, int batch, enum rearm_pending pending)
{
	const struct rearm_upcall upcall = { .function = note, .arg = &qs.notes, .batch = batch };

	return rearm_queue_enable(qs.queue, policy, &upcall, pending);
}

int
queue_enable_same(enum rearm_policy policy, enum rearm_pending pending)
{
	return rearm_queue_enable(qs.queue, policy, NULL, pending);
}

static void
await(const int *value, int least)
{
	pthread_mutex_lock(&qs.notes.lock);
	while (*value < least)
		pthread_cond_wait(&qs.notes.changed, &qs.notes.lock);
	pthread_mutex_unlock(&qs.notes.lock);
}

void
notes_await(int n)
{
	await(&qs.notes.n, n);
}

void
notes_await_calls(int calls)
{
	await(&qs.notes.calls, calls);
}

void
notes_await_inside(int n)
{
	pthread_mutex_lock(&qs.notes.lock);
	while (qs.notes.inside != n)
		pthread_cond_wait(&qs.notes.changed, &qs.notes.lock);
	pthread_mutex_unlock(&qs.notes.lock);
}

static void
set_hold(bool hold)
{
	pthread_mutex_lock(&qs.notes.lock);
	qs.notes.hold = hold;
	pthread_cond_broadcast(&qs.notes.changed);
	pthread_mutex_unlock(&qs.notes.lock);
}

void
notes_hold(void)
{
	set_hold(true);
}

void
notes_release(void)
{
	set_hold(false);
}

int
notes_count(void)
{
	int n;

	pthread_mutex_lock(&qs.notes.lock);
	n = qs.notes.n;
	pthread_mutex_unlock(&qs.notes.lock);
	return n;
}

void
notes_expect(int n, int calls)
{
	queue_sleep_ms(20);
	pthread_mutex_lock(&qs.notes.lock);
	ck_assert_int_eq(qs.notes.n, n);
	ck_assert_int_eq(qs.notes.calls, calls);
	pthread_mutex_unlock(&qs.notes.lock);
}

/* ---- taking ---- */

void
queue_takes(uint64_t id)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rearm_queue_take(qs.queue, 1, &wc), 1);
	ck_assert_uint_eq(wc.wr_id, id);
}

void
queue_is_empty(void)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rearm_queue_take(qs.queue, 1, &wc), 0);
}

/* ---- the fixtures ---- */

static void
begin(int threads)
{
	const struct rearm_loop_attr loop = { .threads = threads };
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE };

	memset(&qs, 0, sizeof qs);
	pthread_mutex_init(&qs.notes.lock, NULL);
	pthread_cond_init(&qs.notes.changed, NULL);
	open_device();
	ck_assert_int_eq(rearm_loop_create(&loop, &qs.loop), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
}

static void
begin_threads(void)
{
	begin(1);
}

static void
begin_stepped(void)
{
	begin(0);
}

static void
end(void)
{
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_loop_free(qs.loop), 0);
	ck_assert_int_eq(ibv_dealloc_pd(qs.pd), 0);
	ck_assert_int_eq(ibv_close_device(qs.context), 0);
	park_close_self(); /* else it is closed when the thread ends */
}

const struct runner_case queue_case = { .setup = begin_threads, .teardown = end };
const struct runner_case queue_case_stepped = { .setup = begin_stepped, .teardown = end };

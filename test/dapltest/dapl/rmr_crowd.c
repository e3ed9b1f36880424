/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that are bound again and again, under traffic
 *
 * Each of several threads has a connection of its own.  `b` binds a region to a range of its
 * memory, which the thread chooses, and `a` writes into the range and reads it.  Now and then `a`
 * uses the context of an earlier bind, invalidates the region, or the region is made anew.
 * Meanwhile another thread sends messages on the queue of the binds, and upcalls of `a` take and
 * post receives.
 *
 * Checked: each bind that is not suppressed has one event, in order.  What `a` writes is in the
 * range, and nothing else of the memory changes.  An old context gives no access and breaks that
 * connection only.  A region of memory that is bound cannot be freed.  The messages come in their
 * order.
 */
#include "crowd.h"
#include "lib/runner.h"

#define BINDERS 4
#define MEMORY 1024 /* that regions are bound to; messages use what follows */
#define MESSAGE 8
#define RECEIVES 8
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
#define BOTH (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

struct binder {
	unsigned int seed;
	bool for_ep; /* the region is for one endpoint */
	struct dt_pair pair;
	DAT_RMR_HANDLE rmr;
	DAT_RMR_CONTEXT context, stale;
	size_t offset, length; /* of the range; length 0: none */
	char expected[MEMORY];
	DAT_UINT64 binds;
	_Atomic(bool) sends, stops; /* the sender may send; it ends */
	_Atomic(bool) sending;
	_Atomic(uint32_t) sent, received;
	uint32_t breaks;
};

static int rounds;

/* ---- messages from `b` to `a` ---- */

static void
post_receive(struct binder *m, DAT_UINT64 i)
{
	dt_recv(&m->pair.a, MEMORY + MESSAGE * (size_t)i, MESSAGE, i);
}

static void
take_message(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	struct binder *m = instance;
	uint32_t number;

	(void)more;
	if (dto->status != DAT_DTO_SUCCESS)
		return;
	memcpy(
	    &number, m->pair.a.buffer + MEMORY + MESSAGE * dto->user_cookie.as_64, sizeof number);
	ck_assert_uint_eq(number, m->received + 1);
	if (dt_try_recv(&m->pair.a, MEMORY + MESSAGE * (size_t)dto->user_cookie.as_64, MESSAGE,
		dto->user_cookie.as_64) == DAT_SUCCESS)
		m->received = number;
}

static void *
sender(void *arg)
{
	struct binder *m = arg;
	uint32_t number;

	while (!m->stops) {
		m->sending = true;
		/* As many as `a` has receives for, so that none waits. */
		if (m->sends && m->sent - m->received < RECEIVES) {
			number = m->sent + 1;
			memcpy(m->pair.b.buffer + MEMORY + MESSAGE * (number % RECEIVES), &number,
			    sizeof number);
			if (dt_try_send(&m->pair.b, MEMORY + MESSAGE * (number % RECEIVES), MESSAGE,
				0, DAT_COMPLETION_SUPPRESS_FLAG) == DAT_SUCCESS)
				m->sent = number;
		}
		m->sending = false;
		dt_nap_ms(1);
	}
	return NULL;
}

static void
pause_sender(struct binder *m)
{
	m->sends = false;
	CROWD_AWAIT(!m->sending);
}

/* ---- connections ---- */

static void
connect_binder(struct binder *m)
{
	DAT_UPCALL_OBJECT object = { m, take_message };

	dt_ok(dat_evd_modify_upcall(
	    m->pair.a.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	for (DAT_UINT64 i = 0; i < RECEIVES; i++)
		post_receive(m, i);
	dt_connect_pair(&m->pair);
	m->sent = m->received = 0;
	m->sends = true;
}

static void
open_binder(struct binder *m, int i)
{
	DAT_UPCALL_OBJECT object = { m, take_message };

	memset(m, 0, sizeof *m);
	m->seed = (unsigned int)i + 1;
	m->for_ep = i % 2;
	dt_side_open(&m->pair.a, "soft", DT_SEPARATE);
	dt_side_open(&m->pair.b, "soft", DT_SEPARATE);
	dt_side_listen(&m->pair.b);
	dt_ok(dat_evd_kcreate(
	    m->pair.a.ia, 64, DAT_UPCALL_DISABLE, &object, DAT_EVD_DTO_FLAG, &m->pair.a.recv));
	m->pair.b.request = dt_evd(&m->pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 64);
	dt_ok(dat_ep_free(m->pair.a.ep));
	dt_ok(dat_ep_free(m->pair.b.ep));
	m->pair.a.ep = dt_ep(&m->pair.a, NULL);
	m->pair.b.ep = dt_ep(&m->pair.b, NULL);
	connect_binder(m);
}

static void
make_region(struct binder *m)
{
	if (m->for_ep)
		dt_ok(dat_rmr_create_for_ep(m->pair.b.pz, &m->rmr));
	else
		dt_ok(dat_rmr_create(m->pair.b.pz, &m->rmr));
	m->length = 0;
}

/* The end of both connections; then they are made again. */
static void
reconnect(struct binder *m)
{
	struct dt_side *sides[] = { &m->pair.a, &m->pair.b };
	DAT_UPCALL_OBJECT object = { m, take_message };
	DAT_EVENT event;

	pause_sender(m);
	for (int i = 0; i < 2; i++) {
		dt_next(sides[i]->connect, &event);
		ck_assert(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
			  event.event_number == DAT_CONNECTION_EVENT_BROKEN);
		dt_assert_empty(sides[i]->connect);
	}
	/* No upcall takes a message of this connection while there is another one. */
	dt_ok(dat_evd_modify_upcall(
	    m->pair.a.recv, DAT_UPCALL_TEARDOWN, &object, DAT_UPCALL_INVOC_ANY));
	for (int i = 0; i < 2; i++)
		dt_ok(dat_ep_reset(sides[i]->ep));
	dt_assert_empty(m->pair.b.request);
	dt_assert_empty(m->pair.a.request);
	m->breaks++;
	connect_binder(m);
}

/* ---- binds ---- */

/* The next event of a bind; those of messages that were flushed stand between. */
static void
expect_bind(struct binder *m, DAT_UINT64 cookie)
{
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data;
	DAT_EVENT event;

	dt_expect(m->pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	data = &event.event_data.rmr_completion_event_data;
	ck_assert_ptr_eq(data->rmr_handle, m->rmr);
	ck_assert_uint_eq(data->user_cookie.as_64, cookie);
	ck_assert_int_eq(data->status, DAT_DTO_SUCCESS);
}

/* A range of that length; 0: unbinds. */
static void
bind_range(struct binder *m, size_t length)
{
	const DAT_RETURN full = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	const bool silent = crowd_choose(&m->seed, 3) == 0;
	const size_t offset = (size_t)crowd_choose(&m->seed, (int)(MEMORY - length) / 8) * 8;
	DAT_LMR_TRIPLET range = dt_local(&m->pair.b, offset, length);
	DAT_RMR_CONTEXT context = m->context;
	DAT_RETURN ret;

	do {
		ret = dat_rmr_bind(m->rmr, m->pair.b.lmr, &range, BOTH, DAT_VA_TYPE_VA,
		    m->pair.b.ep, dt_cookie(m->binds + 1),
		    silent ? DAT_COMPLETION_SUPPRESS_FLAG : DEFAULT, &context);
		if (ret == full) /* of messages */
			dt_nap_ms(1);
	} while (ret == full);
	dt_ok(ret);
	m->binds++;
	if (m->length)
		m->stale = m->context;
	m->context = context;
	m->offset = offset;
	m->length = length;
	if (!silent)
		expect_bind(m, m->binds);
}

/* A bind whose completion is not suppressed shows that all earlier ones are complete. */
static void
settle(struct binder *m)
{
	DAT_LMR_TRIPLET local = dt_local(&m->pair.b, MEMORY + MESSAGE * RECEIVES, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&m->pair.a, MEMORY + MESSAGE * RECEIVES, 8);
	DAT_EVENT event;
	DAT_RETURN ret;

	do
		ret = dat_ep_post_rdma_write(
		    m->pair.b.ep, 1, &local, dt_cookie(77), &remote, DEFAULT);
	while (DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES);
	dt_ok(ret);
	dt_expect_dto(m->pair.b.request, m->pair.b.ep, 77, DAT_DTO_SUCCESS, &event);
}

/* ---- access ---- */

static DAT_RMR_TRIPLET
remote_of(const struct binder *m, DAT_RMR_CONTEXT context, size_t at)
{
	DAT_RMR_TRIPLET remote = dt_remote(&m->pair.b, at, 8);

	remote.rmr_context = context;
	return remote;
}

static void
check_memory(const struct binder *m)
{
	ck_assert_mem_eq(m->pair.b.buffer, m->expected, MEMORY);
}

/* `a` writes 8 bytes of the range, and reads them. */
static void
access_range(struct binder *m)
{
	const size_t at = m->offset + (size_t)crowd_choose(&m->seed, (int)m->length / 8) * 8;
	DAT_RMR_TRIPLET remote = remote_of(m, m->context, at);
	DAT_LMR_TRIPLET local = dt_local(&m->pair.a, 0, 8);
	DAT_EVENT event;

	memcpy(m->pair.a.buffer, &m->binds, 8);
	memcpy(m->expected + at, &m->binds, 8);
	dt_ok(dat_ep_post_rdma_write(m->pair.a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT));
	dt_expect_dto(m->pair.a.request, m->pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	check_memory(m);
	local = dt_local(&m->pair.a, 8, 8);
	dt_ok(dat_ep_post_rdma_read(m->pair.a.ep, 1, &local, dt_cookie(2), &remote, DEFAULT));
	dt_expect_dto(m->pair.a.request, m->pair.a.ep, 2, DAT_DTO_SUCCESS, &event);
	ck_assert_mem_eq(m->pair.a.buffer + 8, m->expected + at, 8);
}

static void
use_stale_context(struct binder *m)
{
	DAT_RMR_TRIPLET remote = remote_of(m, m->stale, m->offset);
	DAT_LMR_TRIPLET local = dt_local(&m->pair.a, 0, 8);
	DAT_EVENT event;

	memset(m->pair.a.buffer, 0xee, 8);
	dt_ok(dat_ep_post_rdma_write(m->pair.a.ep, 1, &local, dt_cookie(3), &remote, DEFAULT));
	dt_expect_dto(m->pair.a.request, m->pair.a.ep, 3, DAT_DTO_ERR_REMOTE_ACCESS, &event);
	reconnect(m);
	check_memory(m);
	if (m->for_ep)
		m->length = 0; /* it was bound through the old queue pair */
}

static void
invalidate(struct binder *m)
{
	DAT_LMR_TRIPLET local = dt_local(&m->pair.a, 0, 8);
	DAT_RMR_PARAM param;
	DAT_EVENT event;

	dt_recv(&m->pair.b, MEMORY + MESSAGE * RECEIVES, 8, 5);
	dt_ok(dat_ep_post_send_with_invalidate(
	    m->pair.a.ep, 1, &local, dt_cookie(4), DEFAULT, DAT_TRUE, m->context));
	dt_expect_dto(m->pair.a.request, m->pair.a.ep, 4, DAT_DTO_SUCCESS, &event);
	if (crowd_choose(
		&m->seed, 2)) { /* else the region is bound again before its event is taken */
		dt_expect_dto(m->pair.b.recv, m->pair.b.ep, 5, DAT_DTO_SUCCESS, &event);
		dt_ok(dat_rmr_query(m->rmr, DAT_RMR_FIELD_ALL, &param));
		ck_assert_uint_eq(param.lmr_triplet.segment_length, 0);
	} else {
		bind_range(m, 64);
		settle(m);
		access_range(m);
		dt_expect_dto(m->pair.b.recv, m->pair.b.ep, 5, DAT_DTO_SUCCESS, &event);
		access_range(m);
		return;
	}
	m->stale = m->context;
	m->length = 0;
}

static void
renew_region(struct binder *m)
{
	dt_ok(dat_rmr_free(m->rmr));
	if (m->length)
		m->stale = m->context;
	make_region(m);
}

static void
play(struct binder *m)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);

	bind_range(m, 8 * (size_t)(1 + crowd_choose(&m->seed, 16)));
	settle(m);
	access_range(m);
	switch (crowd_choose(&m->seed, 8)) {
	case 0:
		if (m->stale)
			use_stale_context(m);
		break;
	case 1:
		bind_range(m, 0);
		settle(m);
		break;
	case 2:
		if (m->for_ep)
			invalidate(m);
		break;
	case 3:
		renew_region(m);
		break;
	case 4:
		dt_assert_ret(dat_lmr_free(m->pair.b.lmr), in_use);
		break;
	default:
		access_range(m);
	}
}

static void *
binder(void *arg)
{
	struct binder *m = arg;

	make_region(m);
	for (int i = 0; i < rounds; i++)
		play(m);
	return NULL;
}

DT_CASE("stress-rmr:rmr", .seconds = 300);

/* clause: e.7.23, e.7.24, e.7.26, e.7.33 */
TEST(regions__bound_again_under_traffic__each_access_and_event_is_checked)
{
	static struct binder binders[BINDERS];
	pthread_t threads[BINDERS], senders[BINDERS];
	uint32_t breaks = 0, messages = 0;
	DAT_UINT64 binds = 0;

	rounds = 2 * crowd_number("STRESS_ROUNDS", 100);
	for (int i = 0; i < BINDERS; i++)
		open_binder(&binders[i], i);
	for (int i = 0; i < BINDERS; i++) {
		senders[i] = crowd_start(sender, &binders[i]);
		threads[i] = crowd_start(binder, &binders[i]);
	}
	for (int i = 0; i < BINDERS; i++) {
		pthread_join(threads[i], NULL);
		binders[i].stops = true;
		pthread_join(senders[i], NULL);
	}
	for (int i = 0; i < BINDERS; i++) {
		CROWD_AWAIT(binders[i].received == binders[i].sent);
		dt_ok(dat_rmr_free(binders[i].rmr));
		dt_ok(dat_lmr_free(binders[i].pair.b.lmr));
		binds += binders[i].binds;
		breaks += binders[i].breaks;
		messages += binders[i].received;
	}
	printf("%u binders: %u binds, %u broken connections, %u messages on the last ones\n",
	    BINDERS, (unsigned int)binds, breaks, messages);
	for (int i = 0; i < BINDERS; i++)
		dt_pair_close(&binders[i].pair);
}

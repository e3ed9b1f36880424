/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared receive queue with many endpoints, under traffic
 *
 * `a` connects each of its endpoints to one of `b`; those of `b` receive from one queue, on four
 * EVDs that also have the events of their connections.  Two EVDs are waited on, one has upcalls one
 * at a time, one several at once.  Senders send from any endpoint of `a`.  Others end connections,
 * from either side, and connect again, after a reset or with new endpoints.  One thread resizes the
 * queue and sets its watermark.
 *
 * Counted: each buffer is posted, or not; a completion takes a posted one.  Each connection has one
 * ESTABLISHED and one end on both sides, and one EP_BROKEN.  Each message comes once, those of a
 * connection in their order, and one that was sent with success has come before the end of its
 * connection.  At the end the buffers that are posted are those that the queue has.
 */
#include "crowd.h"
#include "lib/runner.h"

#define ENDS_MAX 1000
#define BUFFERS 256
#define DEPTH_MIN 32
#define EVDS 4
#define MANY_EVD 3 /* whose upcalls run at once */
#define BREAKERS 3
#define SENDERS 2

/* A message, and the buffer for it. */
struct message {
	uint32_t end, connection, number;
};

/* Two endpoints, and what has happened to them. */
struct end {
	DAT_EP_HANDLE from;
	_Atomic(DAT_EP_HANDLE) to;
	_Atomic(uint32_t) connection;	       /* which of them it is, from 1 */
	_Atomic(uint32_t) established, ended;  /* events of `b` */
	_Atomic(uint32_t) reported;	       /* EP_BROKEN of `b` */
	_Atomic(uint32_t) received, succeeded; /* messages of this connection */
	_Atomic(uint32_t) last;	  /* the number of the last one; not where several upcalls run */
	_Atomic(bool) open, busy; /* may be sent from; a send is outstanding */
	uint32_t sent;		  /* of the thread that made it busy */
};

static struct {
	struct dt_side a, b;
	DAT_SRQ_HANDLE srq;
	DAT_EVD_HANDLE evds[EVDS];
	int n_ends, rounds;
	struct end ends[ENDS_MAX];
	_Atomic(bool) posted[BUFFERS];
	struct message out[ENDS_MAX], in[BUFFERS];
	DAT_LMR_CONTEXT out_context, in_context;
	_Atomic(bool) senders_stop, resizer_stops, threads_stop;
	_Atomic(uint32_t) messages, connections, flushed, resizes, watermarks;
} s;

static DAT_LMR_CONTEXT
register_memory(const struct dt_side *side, void *memory, size_t size)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_LMR_CONTEXT context;
	DAT_LMR_HANDLE lmr;

	dt_ok(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, size, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &context, NULL, NULL, NULL));
	return context;
}

/* ---- the buffers ---- */

/* Posts a buffer that is not posted, if the queue is long enough now. */
static void
post(uint32_t buffer)
{
	const DAT_RETURN full = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	DAT_LMR_TRIPLET iov = {
		.virtual_address = (uintptr_t)&s.in[buffer],
		.segment_length = sizeof s.in[buffer],
		.lmr_context = s.in_context,
	};
	DAT_RETURN ret;

	if (atomic_exchange(&s.posted[buffer], true))
		return;
	ret = dat_srq_post_recv(s.srq, 1, &iov, dt_cookie(buffer));
	if (ret == DAT_SUCCESS)
		return;
	dt_assert_ret(ret, full);
	s.posted[buffer] = false;
}

static int
count_posted(void)
{
	int n = 0;

	for (int i = 0; i < BUFFERS; i++)
		n += s.posted[i];
	return n;
}

/* ---- events of `b` ---- */

static struct end *
end_of(DAT_EP_HANDLE to)
{
	for (int i = 0; i < s.n_ends; i++)
		if (s.ends[i].to == to)
			return &s.ends[i];
	ck_abort_msg("an event of an endpoint that does not exist");
	return NULL;
}

/* The buffer is not posted again before it was read. */
static void
take_message(const DAT_DTO_COMPLETION_EVENT_DATA *dto, int evd)
{
	const struct message m = s.in[dto->user_cookie.as_64];
	struct end *end = &s.ends[m.end];

	ck_assert_uint_eq(dto->transfered_length, sizeof m);
	ck_assert_uint_lt(m.end, (uint32_t)s.n_ends);
	ck_assert_uint_eq(m.end % EVDS, (uint32_t)evd);
	ck_assert_uint_eq(m.connection, end->connection);
	ck_assert_ptr_eq(dto->ep_handle, end->to);
	if (evd != MANY_EVD) {
		ck_assert_uint_eq(m.number, end->last + 1);
		ck_assert_uint_eq(end->established, m.connection);
		ck_assert_uint_lt(end->ended, m.connection);
		end->last = m.number;
	}
	end->received++;
	s.messages++;
}

static void
take_receive(const DAT_DTO_COMPLETION_EVENT_DATA *dto, int evd)
{
	const DAT_UINT64 buffer = dto->user_cookie.as_64;

	ck_assert_uint_lt(buffer, BUFFERS);
	ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
	if (dto->status == DAT_DTO_SUCCESS) {
		take_message(dto, evd);
	} else {
		ck_assert_int_eq(dto->status, DAT_DTO_ERR_FLUSHED);
		s.flushed++;
	}
	ck_assert_msg(atomic_exchange(&s.posted[buffer], false), "a buffer completes twice");
	if (buffer % 2)
		post((uint32_t)buffer);
}

static void
take(const DAT_EVENT *event, int evd)
{
	const DAT_CONNECTION_EVENT_DATA *data = &event->event_data.connect_event_data;

	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		take_receive(&event->event_data.dto_completion_event_data, evd);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		end_of(data->ep_handle)->established++;
		break;
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
		end_of(data->ep_handle)->ended++;
		break;
	default:
		ck_abort_msg("event %x", (unsigned int)event->event_number);
	}
}

static void
upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)more;
	take(event, (int)(uintptr_t)instance);
}

static void *
event_thread(void *arg)
{
	const int evd = (int)(uintptr_t)arg;
	DAT_EVENT event;
	DAT_COUNT more;

	while (!s.threads_stop)
		if (dat_evd_wait(s.evds[evd], 20000, 1, &event, &more) == DAT_SUCCESS)
			take(&event, evd);
	while (dat_evd_dequeue(s.evds[evd], &event) == DAT_SUCCESS)
		take(&event, evd);
	return NULL;
}

static void
take_report(const DAT_EVENT *event)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event->event_data.asynch_error_event_data;

	ck_assert_int_eq(event->event_number, DAT_ASYNC_ERROR_EP_BROKEN);
	if (data->dat_handle == s.srq) {
		ck_assert_int_eq(data->reason, DAT_SRQ_LOW_WATERMARK_EVENT);
		s.watermarks++;
		return;
	}
	ck_assert_int_eq(data->reason, DAT_EP_TRANSFER_TO_ERROR);
	end_of(data->dat_handle)->reported++;
}

static void *
report_thread(void *arg)
{
	DAT_EVENT event;
	DAT_COUNT more;

	while (!s.threads_stop)
		if (dat_evd_wait(s.b.async, 20000, 1, &event, &more) == DAT_SUCCESS)
			take_report(&event);
	while (dat_evd_dequeue(s.b.async, &event) == DAT_SUCCESS)
		take_report(&event);
	return arg;
}

/* ---- messages of `a` ---- */

static void *
request_thread(void *arg)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;
	DAT_COUNT more;
	struct end *end;

	while (!s.threads_stop) {
		if (dat_evd_wait(s.a.request, 20000, 1, &event, &more) != DAT_SUCCESS)
			continue;
		ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
		dto = &event.event_data.dto_completion_event_data;
		end = &s.ends[dto->user_cookie.as_64];
		ck_assert(end->busy);
		end->succeeded += dto->status == DAT_DTO_SUCCESS;
		end->busy = false;
	}
	return arg;
}

/* One message, if the end is connected and has none outstanding. */
static void
send_from(int i)
{
	struct end *end = &s.ends[i];
	DAT_LMR_TRIPLET iov = {
		.virtual_address = (uintptr_t)&s.out[i],
		.segment_length = sizeof s.out[i],
		.lmr_context = s.out_context,
	};

	if (atomic_exchange(&end->busy, true))
		return;
	if (end->open) { /* as long as it is busy it stays what it is */
		/* Its completion may be taken before the post returns. */
		s.out[i] = (struct message){ (uint32_t)i, end->connection, ++end->sent };
		if (dat_ep_post_send(end->from, 1, &iov, dt_cookie((DAT_UINT64)i),
			DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS)
			return;
		end->sent--;
	}
	end->busy = false;
}

/* Some at a time: the threads that connect get their turns, too. */
static void *
sender(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!s.senders_stop) {
		for (int i = 0; i < 20; i++)
			send_from(crowd_choose(&seed, s.n_ends));
		dt_nap_ms(1);
	}
	return NULL;
}

/* ---- the queue ---- */

static void
check_counts(void)
{
	DAT_SRQ_PARAM param;

	dt_ok(dat_srq_query(s.srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_ge(param.available_dto_count, 0);
	ck_assert_int_le(param.available_dto_count, param.outstanding_dto_count);
	ck_assert_int_le(param.outstanding_dto_count, param.max_recv_dtos);
}

static void *
resizer(void *arg)
{
	unsigned int seed = 7;
	DAT_RETURN ret;
	int most;

	while (!s.resizer_stops) {
		ret =
		    dat_srq_resize(s.srq, DEPTH_MIN + crowd_choose(&seed, BUFFERS + 1 - DEPTH_MIN));
		if (ret == DAT_SUCCESS)
			s.resizes++;
		else
			dt_assert_type(ret, DAT_INVALID_STATE);
		if (crowd_choose(&seed, 4) == 0)
			dt_ok(dat_srq_set_lw(s.srq, crowd_choose(&seed, DEPTH_MIN)));
		most = crowd_choose(&seed, BUFFERS + 1);
		for (uint32_t i = 0; i < BUFFERS && count_posted() < most; i++)
			post(i);
		check_counts();
		dt_nap_ms(5);
	}
	return arg;
}

/* ---- connections ---- */

/* Connects the ends first, first + BREAKERS, ..., and ends and renews some of them. */
struct breaker {
	int first;
	unsigned int seed;
	struct dt_side a, b; /* with EVDs of its own for connections and requests */
};

static void
make_endpoints(struct breaker *m, int i)
{
	DAT_EP_HANDLE to;

	dt_ok(dat_ep_create(
	    s.a.ia, s.a.pz, DAT_HANDLE_NULL, s.a.request, m->a.connect, NULL, &s.ends[i].from));
	dt_ok(dat_ep_create_with_srq(
	    s.b.ia, s.b.pz, s.evds[i % EVDS], s.b.request, s.evds[i % EVDS], s.srq, NULL, &to));
	s.ends[i].to = to;
}

static void
connect_end(struct breaker *m, int i)
{
	struct end *end = &s.ends[i];
	DAT_CR_HANDLE request;

	end->received = end->succeeded = end->last = 0;
	end->sent = 0;
	end->connection++;
	m->a.ep = end->from;
	dt_connect(&m->a, &m->b, NULL, 0);
	request = dt_request(&m->b);
	dt_ok(dat_cr_accept(request, end->to, 0, NULL));
	dt_expect_established(&m->a);
	CROWD_AWAIT(end->established == end->connection);
	s.connections++;
	end->open = true;
}

static void
disconnect_end(struct breaker *m, int i)
{
	static const DAT_CLOSE_FLAGS flags[] = { DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG };
	struct end *end = &s.ends[i];
	const int way = crowd_choose(&m->seed, 4);
	DAT_EVENT event;

	dt_ok(dat_ep_disconnect(way & 1 ? end->from : end->to, flags[way / 2]));
	end->open = false;
	dt_next(m->a.connect, &event);
	ck_assert(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
		  event.event_number == DAT_CONNECTION_EVENT_BROKEN);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, end->from);
	CROWD_AWAIT(!end->busy);
	CROWD_AWAIT(end->ended == end->connection);
	CROWD_AWAIT(end->reported == end->connection);
	/* An upcall that runs beside others may not have counted its message yet. */
	if (i % EVDS == MANY_EVD)
		CROWD_AWAIT(end->received >= end->succeeded);
	ck_assert_uint_ge(end->received, end->succeeded);
	ck_assert_uint_le(end->received, end->sent);
	dt_assert_empty(m->a.connect);
}

static void
renew_end(struct breaker *m, int i)
{
	struct end *end = &s.ends[i];

	disconnect_end(m, i);
	if (crowd_choose(&m->seed, 2)) {
		dt_ok(dat_ep_reset(end->from));
		dt_ok(dat_ep_reset(end->to));
	} else {
		dt_ok(dat_ep_free(end->from));
		dt_ok(dat_ep_free(end->to));
		make_endpoints(m, i);
	}
	connect_end(m, i);
}

static void *
breaker(void *arg)
{
	struct breaker *m = arg;

	for (int i = m->first; i < s.n_ends; i += BREAKERS) {
		make_endpoints(m, i);
		connect_end(m, i);
	}
	for (int n = 0; n < s.rounds; n++)
		renew_end(
		    m, crowd_choose(&m->seed, (s.n_ends - m->first + BREAKERS - 1) / BREAKERS) *
			       BREAKERS +
			   m->first);
	return NULL;
}

static void *
last_breaker(void *arg)
{
	struct breaker *m = arg;

	for (int i = m->first; i < s.n_ends; i += BREAKERS)
		disconnect_end(m, i);
	return NULL;
}

static void
run_breakers(struct breaker *breakers, void *(*body)(void *))
{
	pthread_t threads[BREAKERS];

	for (int i = 0; i < BREAKERS; i++)
		threads[i] = crowd_start(body, &breakers[i]);
	for (int i = 0; i < BREAKERS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- the test ---- */

static void
open_all(struct breaker *breakers)
{
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_MANY };
	const DAT_EVD_FLAGS flags = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
	DAT_SRQ_ATTR attr = { BUFFERS, 1, 4 };

	memset(&s, 0, sizeof s);
	s.n_ends = crowd_number("STRESS_ENDPOINTS", ENDS_MAX);
	s.rounds = crowd_number("STRESS_ROUNDS", 100);
	dt_side_open(&s.a, "soft", DT_SEPARATE);
	dt_side_open(&s.b, "soft-loops", DT_SEPARATE);
	dt_ok(dat_ep_free(s.a.ep));
	dt_ok(dat_ep_free(s.b.ep));
	s.out_context = register_memory(&s.a, s.out, sizeof s.out);
	s.in_context = register_memory(&s.b, s.in, sizeof s.in);
	dt_ok(dat_srq_create(s.b.ia, s.b.pz, &attr, &s.srq));
	for (int i = 0; i < EVDS; i++) {
		DAT_UPCALL_OBJECT object = { (DAT_PVOID)(uintptr_t)i, upcall };

		if (i < 2)
			s.evds[i] = dt_evd(&s.b, flags, 64);
		else
			dt_ok(dat_evd_kcreate(
			    s.b.ia, 64, policies[i - 2], &object, flags, &s.evds[i]));
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		post(i);
	for (int i = 0; i < BREAKERS; i++) {
		breakers[i] = (struct breaker){ i, (unsigned int)i + 1, s.a, s.b };
		breakers[i].a.connect = dt_evd(&s.a, DAT_EVD_CONNECTION_FLAG, 8);
		dt_side_listen(&breakers[i].b);
	}
}

/* Every message has come, and every connection is counted. */
static void
check_open_ends(void)
{
	for (int i = 0; i < s.n_ends; i++) {
		const struct end *end = &s.ends[i];

		CROWD_AWAIT(end->received == end->sent);
		ck_assert_uint_eq(end->succeeded, end->sent);
		ck_assert_uint_eq(end->established, end->connection);
		ck_assert_uint_eq(end->ended, end->connection - 1);
		ck_assert_uint_eq(end->reported, end->connection - 1);
	}
}

static void
check_buffers(void)
{
	const int posted = count_posted();
	DAT_SRQ_PARAM param;

	dt_ok(dat_srq_query(s.srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.outstanding_dto_count, posted);
	ck_assert_int_eq(param.available_dto_count, posted);
}

DT_CASE("stress-srq:srq", .seconds = 300);

/* clause: d.3.6, d.4.1, d.4.4, e.7.16, e.7.17 */
TEST(queue__of_many_endpoints_under_traffic__each_buffer_and_end_is_counted)
{
	pthread_t threads[SENDERS + 5];
	struct breaker breakers[BREAKERS];
	int n = 0;

	open_all(breakers);
	threads[n++] = crowd_start(event_thread, (void *)0);
	threads[n++] = crowd_start(event_thread, (void *)1);
	threads[n++] = crowd_start(report_thread, NULL);
	threads[n++] = crowd_start(request_thread, NULL);
	threads[n++] = crowd_start(resizer, NULL);
	for (int i = 0; i < SENDERS; i++)
		threads[n++] = crowd_start(sender, (void *)(uintptr_t)(i + 1));
	run_breakers(breakers, breaker);

	s.senders_stop = true;
	for (int i = SENDERS; i > 0; i--)
		pthread_join(threads[--n], NULL);
	for (int i = 0; i < s.n_ends; i++)
		CROWD_AWAIT(!s.ends[i].busy);
	check_open_ends();
	s.resizer_stops = true;
	pthread_join(threads[--n], NULL);
	run_breakers(breakers, last_breaker);
	s.threads_stop = true;
	while (n > 0)
		pthread_join(threads[--n], NULL);
	check_buffers();
	for (int i = 0; i < s.n_ends; i++) {
		dt_ok(dat_ep_free(s.ends[i].from));
		dt_ok(dat_ep_free(s.ends[i].to));
	}
	check_buffers();
	dt_assert_empty(s.b.async);
	dt_ok(dat_srq_free(s.srq));
	printf("%d endpoints: %u connections, %u messages, %u flushed, %u resizes, %u watermarks\n",
	    s.n_ends, s.connections, s.messages, s.flushed, s.resizes, s.watermarks);
	dt_side_close(&s.a);
	dt_side_close(&s.b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses c.13.13 and c.13.14: a CNO whose proxy is a descriptor. */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/contract.h"

struct scene {
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_FD fd;
};

static void
begin(struct scene *s, int i)
{
	contract_side(&s->side, i);
	dt_ok(dat_cno_fd_create(s->side.ia, &s->fd, &s->cno));
}

static bool
readable(const struct scene *s, int timeout_ms)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN);
}

static void
expect_trigger(const struct scene *s, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE triggered = (DAT_EVD_HANDLE)3;

	dt_ok(dat_cno_trigger(s->cno, &triggered));
	ck_assert_ptr_eq(triggered, evd);
}

static void
expect_none(const struct scene *s)
{
	DAT_EVD_HANDLE triggered = (DAT_EVD_HANDLE)3;

	ck_assert(!readable(s, 0));
	dt_assert_type(dat_cno_trigger(s->cno, &triggered), DAT_QUEUE_EMPTY);
	ck_assert_ptr_null(triggered);
}

/* Returns when all events posted before have triggered: EVDs of one adapter trigger in order. */
static void
settle(const struct scene *s)
{
	DAT_CNO_HANDLE cno = contract_cno(&s->side);
	DAT_EVD_HANDLE evd = contract_evd(&s->side, cno, DAT_EVD_SOFTWARE_FLAG, 8), triggered;

	dt_post_se(evd, 0);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
}

DT_CASE("c.13-fd:fd");

/* clause: c.13.13, c.13.14 */
TEST_LOOP(fd__is_readable_while_and_only_while_triggered, dt_personalities())
{
	DAT_EVD_HANDLE one, two;
	struct scene s;
	DAT_EVENT event;

	begin(&s, _i);
	one = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG, 8);
	two = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
	expect_none(&s);
	dt_post_se(one, 1);
	ck_assert(readable(&s, DT_FOREVER_MS));
	dt_post_se(one, 2);
	settle(&s);
	ck_assert(readable(&s, 0)); /* still readable without a trigger call */
	expect_trigger(&s, one);
	expect_none(&s); /* the queued events have been reported */
	dt_post_se(one, 3);
	ck_assert(readable(&s, DT_FOREVER_MS));
	dt_post_se(two, 4);
	settle(&s);
	expect_trigger(&s, one);
	ck_assert(readable(&s, 0));
	expect_trigger(&s, two);
	expect_none(&s);
	for (uintptr_t i = 1; i <= 3; i++)
		contract_expect_se(one, i);
	contract_expect_se(two, 4);
	dt_assert_empty(one);
	dt_assert_type(dat_evd_dequeue(two, &event), DAT_QUEUE_EMPTY);
	dt_side_close(&s.side);
}

/* clause: c.13.13 */
TEST_LOOP(fd__completions__wake_poll_and_epoll, dt_personalities())
{
	struct dt_pair pair;
	struct scene s;
	DAT_EVENT event;
	struct epoll_event e = { .events = EPOLLIN };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	contract_pair(&pair, DT_SEPARATE, _i);
	dt_ok(dat_cno_fd_create(pair.b.ia, &s.fd, &s.cno));
	ck_assert_int_eq(epoll_ctl(epfd, EPOLL_CTL_ADD, s.fd, &e), 0);
	dt_ok(dat_evd_modify_cno(pair.b.recv, s.cno));
	for (DAT_UINT64 i = 0; i < 20; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
		ck_assert_int_eq(epoll_wait(epfd, &e, 1, DT_FOREVER_MS), 1);
		expect_trigger(&s, pair.b.recv);
		dt_poll_next(pair.b.recv, &event);
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
		/* A spurious notification does not trigger: the poll finds no completion. */
		dt_nap_ms(1);
		while (readable(&s, 0))
			expect_trigger(&s, pair.b.recv);
	}
	close(epfd);
	dt_pair_close(&pair);
}

/* clause: c.13.13 */
TEST(fd__consumed_by_cno_wait__is_not_readable_any_more)
{
	DAT_EVD_HANDLE evd, triggered;
	struct scene s;

	begin(&s, 0);
	evd = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	ck_assert(readable(&s, DT_FOREVER_MS));
	dt_ok(dat_cno_wait(s.cno, 0, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	expect_none(&s);
	dt_side_close(&s.side);
}

/* clause: c.13.12, c.13.13 */
TEST(fd__last_evd_goes__is_readable_and_names_none)
{
	DAT_EVD_HANDLE evd;
	struct scene s;

	begin(&s, 0);
	evd = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	ck_assert(readable(&s, DT_FOREVER_MS));
	dt_ok(dat_evd_free(evd));
	ck_assert(readable(&s, 0));
	expect_trigger(&s, DAT_HANDLE_NULL);
	expect_none(&s);
	evd = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	ck_assert(readable(&s, 0));
	dt_ok(dat_evd_modify_cno(evd, s.cno)); /* it has an EVD again */
	expect_none(&s);
	dt_side_close(&s.side);
}

/* clause: c.13.10 */
TEST(fd__query__returns_it_and_no_agent_can_be_installed)
{
	const DAT_OS_WAIT_PROXY_AGENT agent = { NULL, (DAT_AGENT_FUNC)(uintptr_t)8 };
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	DAT_CNO_PARAM param;
	struct scene s;

	begin(&s, 0);
	/* Whatever is asked for. */
	for (int mask = DAT_CNO_FIELD_IA_HANDLE; mask <= DAT_CNO_FIELD_ALL; mask++) {
		dt_ok(dat_cno_query(s.cno, (DAT_CNO_PARAM_MASK)mask, &param));
		ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_FD);
		ck_assert_int_eq(param.proxy.fd, s.fd);
		ck_assert_ptr_eq(param.ia_handle, s.side.ia);
	}
	ck_assert_int_ne(fcntl(s.fd, F_GETFD) & FD_CLOEXEC, 0);
	dt_assert_ret(
	    dat_cno_modify_agent(s.cno, agent), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_ok(dat_cno_modify_agent(s.cno, none));
	dt_side_close(&s.side);
}

/* clause: c.13.13, c.13.14 */
TEST(fd__bad_arguments__each_gets_its_own_code)
{
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE plain;
	struct scene s;

	begin(&s, 0);
	plain = contract_cno(&s.side);
	dt_assert_ret(dat_cno_fd_create(s.side.ep, &s.fd, &s.cno),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	dt_assert_ret(dat_cno_fd_create(s.side.ia, NULL, &s.cno),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_cno_fd_create(s.side.ia, &s.fd, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(
	    dat_cno_trigger(s.cno, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_cno_trigger(plain, &triggered), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_assert_ret(dat_cno_trigger(s.side.recv, &triggered),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_assert_ret(
	    dat_cno_trywait(s.cno, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_cno_trywait(plain, &triggered), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_assert_ret(dat_cno_trywait(s.side.recv, &triggered),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_ok(dat_cno_free(s.cno));
	ck_assert_int_eq(fcntl(s.fd, F_GETFD), -1);
	dt_assert_ret(dat_cno_trigger(s.cno, &triggered),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_assert_ret(dat_cno_trywait(s.cno, &triggered),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_side_close(&s.side);
}

struct poster {
	DAT_EVD_HANDLE evd[4];
	int n;
};

static void *
post_everywhere(void *arg)
{
	const struct poster *p = arg;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	for (int i = 0; i < p->n;)
		i += dat_evd_post_se(p->evd[i % 4], &event) == DAT_SUCCESS;
	return NULL;
}

/*
 * A thread posts to four EVDs, and another sleeps until the descriptor is readable.  `serve` takes
 * triggers, and returns how many events it has dequeued.
 */
static void
react(int personality, int (*serve)(const struct scene *s))
{
	struct poster p = { .n = contract_load(20000) };
	pthread_t thread;
	struct scene s;
	int seen = 0;

	begin(&s, personality);
	for (int i = 0; i < 4; i++)
		p.evd[i] = contract_evd(&s.side, s.cno, DAT_EVD_SOFTWARE_FLAG, 32);
	ck_assert_int_eq(pthread_create(&thread, NULL, post_everywhere, &p), 0);
	while (seen < p.n) {
		ck_assert(readable(&s, DT_FOREVER_MS));
		seen += serve(&s);
	}
	pthread_join(thread, NULL);
	ck_assert_int_eq(seen, p.n);
	dt_side_close(&s.side);
}

/* One event for each trigger, until no EVD has any. */
static int
take_one_at_a_time(const struct scene *s)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	DAT_RETURN ret;
	int n = 0;

	while ((ret = dat_cno_trywait(s->cno, &triggered)) == DAT_SUCCESS)
		n += dat_evd_dequeue(triggered, &event) == DAT_SUCCESS;
	dt_assert_type(ret, DAT_QUEUE_EMPTY);
	return n;
}

/* clause: c.13.13 */
TEST_LOOP(fd__a_loop_takes_one_event_at_a_time__sees_all, dt_personalities())
{
	react(_i, take_one_at_a_time);
}

static int
drain_what_is_handed(const struct scene *s)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	int n = 0;

	dt_ok(dat_cno_trigger(s->cno, &triggered));
	while (dat_evd_dequeue(triggered, &event) == DAT_SUCCESS)
		n++;
	return n;
}

/* clause: c.13.7, c.13.13, c.13.14 */
TEST_LOOP(fd__a_reactor_drains_what_it_is_handed__sees_all, dt_personalities())
{
	react(_i, drain_what_is_handed);
}

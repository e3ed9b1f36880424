/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor -- what the descriptors of events do under poll, select, epoll, fcntl, dup and signals
 *
 * A row for each of the three descriptors: of a completion channel, of asynchronous events, of an
 * event channel.
 */
#include "line.h"
#include "story.h"

#include "softverbs/device/slot.h"
#include "softverbs/wire/peer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

static struct side a, b;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void
setup(void)
{
	pair_make(&a, &b, NULL);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	pair_free(&a, &b);
}

/* ---- one event of each kind: made, and read */

static void
make_completion(void)
{
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
}

static int
read_completion(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(a.channel, &cq, &context))
		return errno;
	ibv_ack_cq_events(cq, 1);
	ck_assert_int_eq(ibv_poll_cq(cq, 1, &wc), 1);
	return 0;
}

static void
make_asynchronous(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 };

	if (!a.srq)
		a.srq = ibv_create_srq(a.pd, &init);
	ck_assert_int_eq(ibv_modify_srq(a.srq, &limit, IBV_SRQ_LIMIT), 0);
}

static int
read_asynchronous(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(a.context, &event))
		return errno;
	ibv_ack_async_event(&event);
	return 0;
}

static void
make_connection_event(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, 100), 0);
}

static int
read_connection_event(void)
{
	struct rdma_cm_event *event;

	return rdma_get_cm_event(channel, &event) ? errno : (rdma_ack_cm_event(event), 0);
}

static const struct {
	void (*make)(void);
	int (*read)(void);
} kinds[] = {
	{ make_completion, read_completion },
	{ make_asynchronous, read_asynchronous },
	{ make_connection_event, read_connection_event },
};
#define KINDS 3

static int
descriptor(int kind)
{
	return kind == 0 ? a.channel->fd : kind == 1 ? a.context->async_fd : channel->fd;
}

static bool
selected(int fd, bool writing)
{
	struct timeval now = { 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, writing ? NULL : &set, writing ? &set : NULL, NULL, &now) == 1;
}

static short
polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	ck_assert_int_ge(poll(&p, 1, 0), 0);
	return p.revents;
}

CASE("soft-descriptor:descriptor", setup, teardown);

TEST_LOOP(descriptor__is_readable_while_there_is_an_event, KINDS)
{
	const int fd = descriptor(_i), copy = dup(fd);

	ck_assert_int_eq(polled(fd), 0);
	ck_assert(!selected(fd, false));
	kinds[_i].make();
	ck_assert_int_eq(polled(fd), POLLIN);
	ck_assert_int_eq(polled(copy), POLLIN);
	ck_assert(selected(fd, false));
	ck_assert_int_eq(kinds[_i].read(), 0);
	ck_assert_int_eq(polled(fd), 0);
	ck_assert_int_eq(polled(copy), 0);
	ck_assert(!selected(copy, false));
	close(copy);
}

static int
waited(int epoll)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0);
}

TEST_LOOP(epoll__by_level__tells_until_it_is_read, KINDS)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor(_i), &event), 0);
	ck_assert_int_eq(waited(epoll), 0);
	kinds[_i].make();
	ck_assert_int_eq(waited(epoll), 1);
	ck_assert_int_eq(waited(epoll), 1);
	ck_assert_int_eq(kinds[_i].read(), 0);
	ck_assert_int_eq(waited(epoll), 0);
	close(epoll);
}

TEST_LOOP(epoll__by_edge__tells_once_and_again_after_a_read, KINDS)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor(_i), &event), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(waited(epoll), 0);
		kinds[_i].make();
		ck_assert_int_eq(waited(epoll), 1);
		ck_assert_int_eq(waited(epoll), 0);
		ck_assert_int_eq(kinds[_i].read(), 0);
	}
	/* Added while there is an event, it tells at once. */
	kinds[_i].make();
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor(_i), NULL), 0);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor(_i), &event), 0);
	ck_assert_int_eq(waited(epoll), 1);
	ck_assert_int_eq(kinds[_i].read(), 0);
	close(epoll);
}

TEST_LOOP(epoll__once__tells_again_when_it_is_asked_again, KINDS)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor(_i), &event), 0);
	kinds[_i].make();
	ck_assert_int_eq(waited(epoll), 1);
	ck_assert_int_eq(waited(epoll), 0);
	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor(_i), &event), 0);
	ck_assert_int_eq(waited(epoll), 1);
	ck_assert_int_eq(kinds[_i].read(), 0);
	close(epoll);
}

/* The flags belong to the description, so those of a copy count, too. */
TEST_LOOP(nonblocking__and_no_event__EAGAIN__then_it_blocks_again, KINDS)
{
	const int fd = descriptor(_i), copy = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		  flags = fcntl(fd, F_GETFL);

	ck_assert_int_eq(flags & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(copy, F_SETFL, flags | O_NONBLOCK), 0);
	ck_assert_int_eq(kinds[_i].read(), EAGAIN);
	kinds[_i].make();
	ck_assert_int_eq(kinds[_i].read(), 0);
	ck_assert_int_eq(kinds[_i].read(), EAGAIN);
	ck_assert_int_eq(fcntl(fd, F_SETFL, flags), 0);
	kinds[_i].make();
	ck_assert_int_eq(kinds[_i].read(), 0);
	close(copy);
}

static void
on_alarm(int number)
{
	(void)number;
}

/* As for a read(2): with SA_RESTART it goes on, without it ends with EINTR. */
TEST_LOOP(read__a_signal_comes__EINTR, KINDS)
{
	struct sigaction action = { .sa_handler = on_alarm }, before;

	ck_assert_int_eq(sigaction(SIGALRM, &action, &before), 0);
	ualarm(20000, 20000); /* again and again, in case the first comes too early */
	ck_assert_int_eq(kinds[_i].read(), EINTR);
	ualarm(0, 0);
	kinds[_i].make();
	ck_assert_int_eq(kinds[_i].read(), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &before, NULL), 0);
}

/* The second of each kind: while another process has a link. */
TEST_LOOP(read__the_descriptor_is_closed__EBADF, 2 * KINDS)
{
	const int kind = _i / 2, fd = descriptor(kind), copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int door = -1, line = -1;
	unsigned int slot = 0;

	if (_i % 2) {
		slot = line_slot_take(&door);
		line = line_open(soft_slot_number());
		line_greet(line, slot);
		while (!soft_peers_linked())
			sleep_ms(1);
	}
	close(fd);
	ck_assert_int_eq(kinds[kind].read(), EBADF);
	ck_assert_int_eq(dup3(copy, fd, O_CLOEXEC), fd);
	close(copy);
	kinds[kind].make();
	ck_assert_int_eq(kinds[kind].read(), 0);
	if (_i % 2) {
		close(line);
		line_slot_leave(slot, door);
	}
}

/*
 * What an eventfd has and the descriptors of a kernel device lack, or the other way round, as
 * softverbs/README.md says: O_ASYNC is taken and sends no signal, FIONREAD tells nothing, and the
 * descriptor is writable.
 */
TEST_LOOP(descriptor__is_an_eventfd, KINDS)
{
	const int fd = descriptor(_i), flags = fcntl(fd, F_GETFL);
	int n = -1;

	ck_assert_int_eq(fcntl(fd, F_SETFL, flags | O_ASYNC), 0);
	kinds[_i].make(); /* SIGIO would end the test */
	ck_assert_int_eq(kinds[_i].read(), 0);
	ck_assert_int_eq(ioctl(fd, FIONREAD, &n), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert(selected(fd, true));
}

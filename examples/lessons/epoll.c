/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll -- completions and a timer in one epoll loop
 *
 * The lesson: the descriptor of a CNO makes an EVD one more source of an event loop.  When it is
 * readable, take the triggers with dat_cno_trigger(), each before the events of its EVD, and
 * dequeue until the EVD is empty: the descriptor is about triggers and not about events.  Never
 * read or close it.  (For other event loops see examples/loops.)
 *
 *	epoll ADAPTER
 */
#include "common.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MESSAGES = 10, LENGTH = 64, TICK_NS = 2000000 };

struct program {
	DAT_EP_HANDLE sender, receiver;
	struct buffer buffer; /* [0] is the sender's, [LENGTH] the receiver's */
	int sent, received;
	int owed; /* of the last message: its completion and its arrival */
};

/* A message for each tick of the timer, if the last one is done. */
static void
on_timer(struct program *program, int timer)
{
	uint64_t ticks;
	int length;

	if (read(timer, &ticks, sizeof ticks) != sizeof ticks)
		err(1, "timer");
	if (program->owed > 0 || program->sent == MESSAGES)
		return;
	program->owed = 2;
	length = snprintf(program->buffer.bytes, LENGTH, "message %d", ++program->sent);
	post_send(program->sender, &program->buffer, 0, (size_t)length, 0);
}

static void
on_event(struct program *program, const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = completion(event);

	program->owed--;
	if (data->operation != DAT_DTO_RECEIVE)
		return;
	printf("%.*s\n", (int)data->transfered_length, program->buffer.bytes + LENGTH);
	if (++program->received < MESSAGES)
		post_recv(program->receiver, &program->buffer, LENGTH, LENGTH, 0);
}

static void
on_cno(struct program *program, DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	/* An event that comes after its trigger was taken triggers the CNO again. */
	while (dat_cno_trigger(cno, &evd) == DAT_SUCCESS)
		while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
			on_event(program, &event);
}

static int
timer_create_fd(void)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (timer < 0 || timerfd_settime(timer, 0, &(struct itimerspec){ tick, tick }, NULL))
		err(1, "timer");
	return timer;
}

static void
epoll_add(int epoll, int fd)
{
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd,
		&(struct epoll_event){ .events = EPOLLIN, .data.fd = fd }))
		err(1, "epoll_ctl");
}

int
main(int argc, char **argv)
{
	struct program program = { .sent = 0 };
	const int epoll = epoll_create1(EPOLL_CLOEXEC), timer = timer_create_fd();
	struct epoll_event ready;
	struct adapter adapter;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	DAT_FD fd;

	take_arguments(argc, argv, 1, 1, "epoll ADAPTER");
	if (epoll < 0)
		err(1, "epoll_create1");
	adapter_open(&adapter, argv[1]);
	must("dat_cno_fd_create", dat_cno_fd_create(adapter.ia, &fd, &cno));
	evd = evd_create(&adapter, cno);
	program.sender = ep_create(&adapter, evd);
	program.receiver = ep_create(&adapter, evd);
	buffer_create(&program.buffer, &adapter, 2 * LENGTH);
	post_recv(program.receiver, &program.buffer, LENGTH, LENGTH, 0);
	ep_connect(&adapter, program.sender, program.receiver);
	epoll_add(epoll, fd);
	epoll_add(epoll, timer);
	while (program.received < MESSAGES) {
		if (epoll_wait(epoll, &ready, 1, -1) < 1)
			continue; /* a signal handler ran */
		if (ready.data.fd == fd)
			on_cno(&program, cno);
		else
			on_timer(&program, timer);
	}
	close(epoll);
	close(timer);
	must("dat_ep_free", dat_ep_free(program.sender));
	must("dat_ep_free", dat_ep_free(program.receiver));
	must("dat_evd_free", dat_evd_free(evd));
	must("dat_cno_free", dat_cno_free(cno)); /* closes the descriptor */
	buffer_free(&program.buffer);
	adapter_close(&adapter);
	return 0;
}

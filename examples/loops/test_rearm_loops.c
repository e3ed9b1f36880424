/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rearm_loops -- each event loop makes the callbacks of a loop of librearm, loses no wake-up,
 * and serves its other sources
 *
 *	test_rearm_loops
 *
 * The queue pair is in the state of errors: each receive that is posted to it completes at once.  A
 * wake-up that is lost is a loop that sleeps without end: the alarm ends the program.
 */
#include "epoll_rearm.h"

#include <err.h>
#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#ifdef WITH_LIBUV
#include "libuv_rearm.h"
#endif
#ifdef WITH_GLIB
#include <glib-unix.h>

#include "glib_rearm.h"
#endif

#include <pthread.h>

enum { WAKES = 1000, BURST = 7, FLOOD = 4000, ENTRIES = 256, PATIENCE = 60 };

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct rearm_loop *loop;
static struct rearm_queue *queue;
static struct ibv_qp *qp;
static int other; /* an eventfd of the program */
static sem_t seen, served;
static uint64_t posted, next; /* how many were posted; the number of the next completion */
static _Atomic(int) left;     /* post one more for so many that come */
static bool stopped;	      /* the other source was served for the last time */

static void
must(bool ok, const char *what)
{
	if (!ok)
		err(1, "%s", what);
}

/* Both threads post; the numbers are in the order of the posts. */
static void
post(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ibv_recv_wr wr = { 0 }, *bad;

	pthread_mutex_lock(&lock);
	wr.wr_id = posted++;
	must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
	pthread_mutex_unlock(&lock);
}

static void
completed(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)more;
	for (int i = 0; i < n; i++) {
		if (wc[i].wr_id != next++)
			errx(1, "%d came, not %d", (int)wc[i].wr_id, (int)next - 1);
		if (left > 0 && left-- > 0)
			post();
		sem_post(&seen);
	}
}

/* The program's own descriptor. */
static void
serve_other(void)
{
	eventfd_t value;

	must(!eventfd_read(other, &value), "eventfd_read");
	sem_post(&served);
	stopped = value > 1;
}

/* ---- the loops: each runs until `stopped` ---- */

static void
run_epoll(void)
{
	struct epoll_event events[4], own = { .events = EPOLLIN, .data.ptr = &other };
	int epoll = epoll_create1(EPOLL_CLOEXEC), n;

	must(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, other, &own), "epoll");
	must(!epoll_rearm_add(epoll, loop), "epoll_rearm_add");
	while (!stopped) {
		n = epoll_rearm_wait(epoll, loop, events, 4, -1);
		for (int i = 0; i < n; i++)
			serve_other();
	}
	epoll_rearm_remove(epoll, loop);
	close(epoll);
}

#ifdef WITH_LIBUV
static void
uv_other(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	serve_other();
	if (stopped)
		uv_stop(poll->loop);
}

static void
run_libuv(void)
{
	struct libuv_rearm *added;
	uv_loop_t uv;
	uv_poll_t poll;

	must(!uv_loop_init(&uv) && !uv_poll_init(&uv, &poll, other), "libuv");
	must(!uv_poll_start(&poll, UV_READABLE, uv_other), "uv_poll_start");
	added = libuv_rearm_add(&uv, loop);
	must(added != NULL, "libuv_rearm_add");
	uv_run(&uv, UV_RUN_DEFAULT);
	libuv_rearm_remove(added);
	uv_close((uv_handle_t *)&poll, NULL);
	uv_run(&uv, UV_RUN_DEFAULT);
	must(!uv_loop_close(&uv), "uv_loop_close");
}
#endif

#ifdef WITH_GLIB
static gboolean
glib_other(gint fd, GIOCondition condition, gpointer data)
{
	(void)fd;
	(void)condition;
	(void)data;
	serve_other();
	return G_SOURCE_CONTINUE;
}

static void
run_glib(void)
{
	GMainContext *main_context = g_main_context_new();
	GSource *added = glib_rearm_add(main_context, loop), *own;

	own = g_unix_fd_source_new(other, G_IO_IN);
	g_source_set_callback(own, (GSourceFunc)(void (*)(void))glib_other, NULL, NULL);
	g_source_attach(own, main_context);
	while (!stopped)
		g_main_context_iteration(main_context, TRUE);
	g_source_destroy(own);
	g_source_unref(own);
	g_source_destroy(added);
	g_source_unref(added);
	g_main_context_unref(main_context);
}
#endif

static const struct {
	const char *name;
	void (*run)(void);
} drivers[] = {
	{ "epoll", run_epoll },
#ifdef WITH_LIBUV
	{ "libuv", run_libuv },
#endif
#ifdef WITH_GLIB
	{ "GLib", run_glib },
#endif
};

/* ---- the tests ---- */

static void
await(sem_t *what, int n)
{
	while (n > 0)
		if (!sem_wait(what))
			n--;
}

/*
 * Another thread posts when the loop may just be going to sleep, and then a flood, beside which the
 * other source is served.
 */
static void *
poke(void *arg)
{
	(void)arg;
	for (int wake = 0; wake < WAKES; wake++) {
		int burst = 1 + wake % BURST;

		/* Callbacks that are due because another thread has enabled them. */
		if (wake % 3 == 0)
			must(!rearm_queue_disable(queue), "rearm_queue_disable");
		for (int i = 0; i < burst; i++)
			post();
		if (wake % 6 == 0)
			usleep(500); /* the loop sleeps again meanwhile */
		if (wake % 3 == 0)
			must(!rearm_queue_enable(queue, REARM_SINGLE, NULL, REARM_ANY),
			    "rearm_queue_enable");
		await(&seen, burst);
		if (wake % 16 == 0) {
			must(!eventfd_write(other, 1), "eventfd_write");
			await(&served, 1);
		}
	}
	left = FLOOD;
	for (int i = 0; i < ENTRIES / 8; i++)
		post();
	must(!eventfd_write(other, 1), "eventfd_write");
	await(&served, 1);
	await(&seen, FLOOD + ENTRIES / 8);
	must(!eventfd_write(other, 2), "eventfd_write");
	return NULL;
}

static void
open_queue(void)
{
	const struct rearm_loop_attr none = { .threads = 0 };
	const struct rearm_queue_attr attr = { .cqe = ENTRIES };
	const struct rearm_upcall upcall = { .function = completed, .batch = 16 };
	struct ibv_qp_init_attr init = { .cap = { 1, ENTRIES, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

	must(!rearm_loop_create(&none, &loop), "rearm_loop_create");
	must(!rearm_queue_create(loop, context, &attr, &queue), "rearm_queue_create");
	init.send_cq = init.recv_cq = rearm_queue_cq(queue);
	qp = ibv_create_qp(domain, &init);
	must(qp && !ibv_modify_qp(qp, &error, IBV_QP_STATE), "ibv_create_qp");
	must(!rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY), "rearm_queue_enable");
}

static void
try_loop(const char *name, void (*run)(void))
{
	pthread_t thread;

	alarm(PATIENCE);
	posted = next = 0;
	stopped = false;
	other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sem_init(&seen, 0, 0);
	sem_init(&served, 0, 0);
	open_queue();
	must(!pthread_create(&thread, NULL, poke, NULL), "pthread_create");
	run();
	pthread_join(thread, NULL);
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	must(!rearm_queue_free(queue) && !rearm_loop_free(loop), "rearm_loop_free");
	close(other);
	printf("ok    %s: no wake-up is lost, and other sources are served\n", name);
}

int
main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int n = sizeof drivers / sizeof *drivers;

	must(list && list[0], "there is no device");
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	must(context != NULL, "ibv_open_device");
	domain = ibv_alloc_pd(context);
	must(domain != NULL, "ibv_alloc_pd");
	for (int i = 0; i < n; i++)
		try_loop(drivers[i].name, drivers[i].run);
	ibv_dealloc_pd(domain);
	ibv_close_device(context);
	printf("%d passed, 0 failed\n", n);
	return 0;
}

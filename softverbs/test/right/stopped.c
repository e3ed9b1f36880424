/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C9 */
/*
 * The process gets no processor for a while: it is stopped, as by Ctrl-Z, a debugger, or a freezer.
 * Meanwhile a thread waits for events, with a completion to poll for which none is due, and others
 * destroy what was not acknowledged.  Right after that the main thread polls, arms, and
 * acknowledges.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

#define STOPPED 8 /* seconds, more than 5 times --stranded-after of the file "kinds" */

static void
rest(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* Returns a little later than the process was continued: the checker has looked at it. */
static void
stop(void)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		rest(200);
		kill(getppid(), SIGSTOP);
		rest(STOPPED * 1000);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	must(waitpid(child, NULL, 0) == child, "waitpid");
	rest(200);
}

static void
poll_all(struct ibv_cq *queue, unsigned int count)
{
	struct ibv_wc wc;
	int n;

	while (count) {
		n = ibv_poll_cq(queue, 1, &wc);
		must(n >= 0, "ibv_poll_cq");
		count -= (unsigned int)n;
	}
}

/* An event of the queue is there, and its completion is polled. */
static void
end_on(struct ibv_cq *queue)
{
	struct end a, b;

	end_open(&a, queue, 0);
	end_open(&b, queue_create(NULL), 0);
	end_connect(&a, &b, 1, 7);
	arm(queue);
	post_send(&a, IBV_SEND_SIGNALED);
	poll_all(b.cq, 1);
	poll_all(queue, 1);
	must(!ibv_destroy_qp(a.qp) && !ibv_destroy_qp(b.qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(a.mr) && !ibv_dereg_mr(b.mr) && !ibv_destroy_cq(b.cq), "ibv_destroy_cq");
}

static void *
wait_for_event(void *unused)
{
	(void)unused;
	next_event();
	return NULL;
}

static void *
destroy_queue(void *queue)
{
	must(!ibv_destroy_cq(queue), "ibv_destroy_cq");
	return NULL;
}

static void *
destroy_shared(void *shared)
{
	must(!ibv_destroy_srq(shared), "ibv_destroy_srq");
	return NULL;
}

static void
begin(pthread_t *thread, void *(*run)(void *), void *object)
{
	must(!pthread_create(thread, NULL, run, object), "pthread_create");
}

int
main(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	pthread_t waiter, queue_destroyer, shared_destroyer;
	struct ibv_async_event event;
	struct ibv_cq *ready, *late;
	struct ibv_srq *shared;
	void *own;

	pair_open();
	second_pair_open();
	late = queue_create(channel);
	/*
	 * Of one queue an event was read, of another object an asynchronous one: their
	 * acknowledgements come later.
	 */
	end_on(late);
	must(!ibv_get_cq_event(channel, &ready, &own) && ready == late, "ibv_get_cq_event");
	shared = ibv_create_srq(domain, &init);
	must(shared && !ibv_modify_srq(shared, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	/* The waiter relies on this thread, which polls and arms the other queue. */
	post_send(&third, IBV_SEND_SIGNALED);
	poll_all(fourth.cq, 1);
	begin(&waiter, wait_for_event, NULL);
	begin(&queue_destroyer, destroy_queue, late);
	begin(&shared_destroyer, destroy_shared, shared);
	stop();
	poll_all(other, 1);
	ibv_ack_cq_events(late, 1);
	ibv_ack_async_event(&event);
	arm(other);
	post_send(&third, IBV_SEND_SIGNALED);
	pthread_join(waiter, NULL);
	pthread_join(queue_destroyer, NULL);
	pthread_join(shared_destroyer, NULL);
	pair_close();
	return 0;
}

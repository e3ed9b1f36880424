/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queues -- a program on librearm that check-top watches: does what the lines of standard input say
 *
 *     open          a loop with two queues on the software device; the first makes callbacks
 *     complete N    N completions of the first queue, and waits for their callbacks
 *     close         frees all
 *
 * It prints "opened FIRST SECOND DEVICE", and "done" for each other line.
 */
#include <err.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include <rearm/rearm.h>

static struct rearm_loop *loop;
static struct rearm_queue *first, *second;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_qp *qp;
static sem_t heard;

static void
must(const char *call, int r)
{
	if (r)
		errx(1, "%s: %d", call, r);
}

static void
hear(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)wc;
	(void)more;
	while (n-- > 0)
		sem_post(&heard);
}

static void
begin(void)
{
	const struct rearm_queue_attr attr = { .cqe = 64 };
	const struct rearm_upcall upcall = { .function = hear, .batch = 1 };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = { .cap = { .max_send_wr = 1, .max_recv_wr = 64 },
		.qp_type = IBV_QPT_RC };
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	must("rearm_loop_create", rearm_loop_create(NULL, &loop));
	must("rearm_queue_create", rearm_queue_create(loop, context, &attr, &first));
	must("rearm_queue_create", rearm_queue_create(loop, context, &attr, &second));
	must("rearm_queue_enable", rearm_queue_enable(first, REARM_SINGLE, &upcall, REARM_ANY));
	init.send_cq = init.recv_cq = rearm_queue_cq(first);
	qp = ibv_create_qp(pd, &init);
	must("ibv_modify_qp", ibv_modify_qp(qp, &error, IBV_QP_STATE));
	printf("opened %p %p %s\n", (void *)first, (void *)second,
	    ibv_get_device_name(context->device));
}

/* Each receive is flushed at once. */
static void
complete(int n)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;

	for (int i = 0; i < n; i++) {
		must("ibv_post_recv", ibv_post_recv(qp, &wr, &bad));
		sem_wait(&heard);
	}
}

static void
end(void)
{
	must("ibv_destroy_qp", ibv_destroy_qp(qp));
	must("rearm_queue_free", rearm_queue_free(first));
	must("rearm_queue_free", rearm_queue_free(second));
	must("rearm_loop_free", rearm_loop_free(loop));
	must("ibv_dealloc_pd", ibv_dealloc_pd(pd));
	must("ibv_close_device", ibv_close_device(context));
}

int
main(void)
{
	char line[64];
	int n;

	sem_init(&heard, 0, 0);
	while (fgets(line, sizeof line, stdin)) {
		if (line[0] == 'o')
			begin();
		else if (sscanf(line, "complete %d", &n) == 1)
			complete(n);
		else
			end();
		if (line[0] != 'o')
			puts("done");
		fflush(stdout);
	}
	return 0;
}

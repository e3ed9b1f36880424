/* SPDX-License-Identifier: BSD-3-Clause */
#include "dat_queue.h"

#include "fail.h"

#include <stdlib.h>

static bool
queue_has_cno(enum consumer consumer)
{
	return consumer == CONSUMER_CNO || consumer == CONSUMER_POLL || consumer == CONSUMER_EPOLL;
}

static void
queue_create_cno(struct dat_queue *queue, DAT_IA_HANDLE ia)
{
	if (queue->end->load->consumer == CONSUMER_CNO)
		fail_dat("dat_cno_create",
		    dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &queue->cno));
	else
		fail_dat("dat_cno_fd_create", dat_cno_fd_create(ia, &queue->fd, &queue->cno));
}

static void
queue_create_evd(struct dat_queue *queue, DAT_IA_HANDLE ia, DAT_COUNT length)
{
	DAT_EVD_HANDLE *evd = &queue->evd[queue->evds];

	if (dat_upcall_has(queue->end->load->consumer)) {
		queue->upcall = dat_upcall_object(queue);
		fail_dat("dat_evd_kcreate", dat_evd_kcreate(ia, length, DAT_UPCALL_DISABLE,
						&queue->upcall, DAT_EVD_DTO_FLAG, evd));
	} else {
		fail_dat("dat_evd_create",
		    dat_evd_create(ia, length, queue->cno, DAT_EVD_DTO_FLAG, evd));
	}
	queue->evds++;
}

void *
dat_queue_create(void *arg, struct end *end, uint32_t length)
{
	struct dat_adapter *adapter = arg;
	const bool cno = queue_has_cno(end->load->consumer);
	const unsigned int evds = cno ? end->load->endpoints : 1;
	struct dat_queue *queue = calloc(1, sizeof *queue + evds * sizeof *queue->evd);

	if (!queue)
		fail("no memory");
	queue->end = end;
	queue->fd = -1;
	if (cno)
		queue_create_cno(queue, adapter->ia);
	while (queue->evds < evds)
		queue_create_evd(queue, adapter->ia, (DAT_COUNT)(length / evds));
	adapter->queue = queue;
	return queue;
}

DAT_EVD_HANDLE
dat_queue_evd(struct dat_queue *queue)
{
	return queue->evd[queue->used++ % queue->evds];
}

/* The EVDs were freed with the adapter. */
void
dat_queue_free(struct dat_queue *queue)
{
	free(queue);
}

void
dat_queue_run(void *arg)
{
	struct dat_queue *queue = arg;

	if (dat_upcall_has(queue->end->load->consumer))
		dat_upcall_run(queue);
	else
		dat_loop_run(queue);
}

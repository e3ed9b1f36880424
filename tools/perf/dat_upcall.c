/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_upcall -- upcalls, in which the events of an end are handled: one event, all new ones, an
 * array
 */
#include "dat_queue.h"

#include "fail.h"

#include <errno.h>

bool
dat_upcall_has(enum consumer consumer)
{
	return consumer >= CONSUMER_UPCALL_SINGLE && consumer <= CONSUMER_UPCALL_ARRAY;
}

static void
upcall_event(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct dat_queue *queue = data;

	(void)more;
	cpu_join_once(&queue->end->cpu);
	dat_queue_event(queue, event);
}

/* Under NOTIFY: events that come later have an upcall of their own. */
static void
upcall_fetch(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct dat_queue *queue = data;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)event;
	(void)more;
	cpu_join_once(&queue->end->cpu);
	while ((ret = dat_evd_dequeue(queue->evd[0], &next)) == DAT_SUCCESS)
		dat_queue_event(queue, &next);
	dat_check_empty("dat_evd_dequeue", ret);
}

static void
upcall_array(DAT_PVOID data, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	struct dat_queue *queue = data;

	(void)more;
	cpu_join_once(&queue->end->cpu);
	for (DAT_COUNT i = 0; i < n; i++)
		dat_queue_event(queue, &events[i]);
}

DAT_UPCALL_OBJECT
dat_upcall_object(struct dat_queue *queue)
{
	return (DAT_UPCALL_OBJECT){
		.instance_data = queue,
		.upcall_func = queue->end->load->consumer == CONSUMER_UPCALL_NOTIFY ? upcall_fetch :
										      upcall_event,
	};
}

static DAT_RETURN
upcall_enable(struct dat_queue *queue)
{
	const DAT_UPCALL_ARRAY_OBJECT array = { queue, upcall_array,
		(DAT_COUNT)queue->end->load->batch };
	DAT_UPCALL_POLICY policy = DAT_UPCALL_SINGLE_INSTANCE;

	switch (queue->end->load->consumer) {
	case CONSUMER_UPCALL_ARRAY:
		return dat_evd_modify_upcall_array(
		    queue->evd[0], policy, &array, DAT_UPCALL_INVOC_ANY);
	case CONSUMER_UPCALL_MANY:
		policy = DAT_UPCALL_MANY;
		break;
	case CONSUMER_UPCALL_NOTIFY:
		policy = DAT_UPCALL_NOTIFY;
		break;
	default:
		break;
	}
	return dat_evd_modify_upcall(queue->evd[0], policy, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY);
}

void
dat_upcall_run(struct dat_queue *queue)
{
	fail_dat("dat_evd_modify_upcall", upcall_enable(queue));
	while (sem_wait(&queue->end->handled))
		;
	fail_dat("dat_evd_modify_upcall", dat_evd_modify_upcall(queue->evd[0], DAT_UPCALL_TEARDOWN,
					      DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
}

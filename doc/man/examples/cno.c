/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_upcall.h>
#include <poll.h>

/* A CNO with a descriptor, for the EVDs that are created with it. */
static DAT_RETURN
create_descriptor(
    DAT_IA_HANDLE ia, struct pollfd *entry, DAT_CNO_HANDLE *cno)
{
	entry->events = POLLIN;
	return dat_cno_fd_create(ia, &entry->fd, cno);
}

/* When poll() has found the descriptor readable. */
static void
serve_descriptor(
    DAT_CNO_HANDLE cno, void (*handle)(const DAT_EVENT *event))
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	while (dat_cno_trigger(cno, &evd) == DAT_SUCCESS) {
		/* Each EVD that has triggered the CNO is returned once. */
		while (evd != DAT_HANDLE_NULL &&
		       dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
			handle(&event);
	}
}

/*
 * One turn of a loop that handles one event at a time.  It sleeps after
 * DAT_QUEUE_EMPTY only: then the descriptor becomes readable for each event
 * that was not reported yet.
 */
static DAT_RETURN
serve_one_or_sleep(DAT_CNO_HANDLE cno, struct pollfd *entry,
    void (*handle)(const DAT_EVENT *event))
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_RETURN ret = dat_cno_trywait(cno, &evd);

	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY) {
		(void)poll(entry, 1, -1);
		return DAT_SUCCESS;
	}
	if (ret == DAT_SUCCESS && evd != DAT_HANDLE_NULL &&
	    dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		handle(&event);
	return ret;
}

/* The same without a descriptor: the thread sleeps in dat_cno_wait(). */
static void
serve_wait(DAT_CNO_HANDLE cno, void (*handle)(const DAT_EVENT *event))
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	if (dat_cno_wait(cno, 1000000, &evd) != DAT_SUCCESS ||
	    evd == DAT_HANDLE_NULL)
		return;
	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		handle(&event);
}

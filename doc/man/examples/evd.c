/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>

/* Waits for events, for a second at most, and handles all. */
static DAT_RETURN
serve(DAT_EVD_HANDLE evd, void (*handle)(const DAT_EVENT *event))
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret = dat_evd_wait(evd, 1000000, 1, &event, &more);

	while (ret == DAT_SUCCESS) {
		handle(&event);
		/* Until it is empty, whatever `more` was. */
		ret = dat_evd_dequeue(evd, &event);
	}
	return DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY ? DAT_SUCCESS : ret;
}

/* Any thread can send one to the thread that waits. */
static DAT_RETURN
send_to_waiter(DAT_EVD_HANDLE evd, void *message)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	event.event_data.software_event_data.pointer = message;
	return dat_evd_post_se(evd, &event);
}

/* For completions and for messages of other threads. */
static DAT_RETURN
create_queue(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd)
{
	return dat_evd_create(ia, 64, DAT_HANDLE_NULL,
	    DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, evd);
}

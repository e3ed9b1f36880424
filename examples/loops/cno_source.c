/* SPDX-License-Identifier: BSD-3-Clause */
#include "cno_source.h"

DAT_RETURN
cno_source_open(struct cno_source *source, DAT_IA_HANDLE ia,
    void (*handle)(void *context, const DAT_EVENT *event), void *context)
{
	*source = (struct cno_source){ .handle = handle, .context = context };
	return dat_cno_fd_create(ia, &source->fd, &source->cno);
}

DAT_RETURN
cno_source_close(struct cno_source *source)
{
	return dat_cno_free(source->cno);
}

/*
 * The descriptor is readable while a trigger is untaken, whatever events there are.  So: first take
 * the trigger, then dequeue.  An event that comes after the trigger was taken either is dequeued
 * here, or triggers the CNO again.  An EVD that was not dequeued until it was empty has no trigger:
 * it gets its CNO once more, which triggers the CNO if events are queued.
 */
void
cno_source_dispatch(struct cno_source *source)
{
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	int left = CNO_SOURCE_BATCH;

	while (left > 0 && dat_cno_trigger(source->cno, &evd) == DAT_SUCCESS) {
		/* Not a handle after the last EVD has left the CNO: the dequeue fails. */
		while (left > 0 && dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
			source->handle(source->context, &event);
			left--;
		}
		if (left == 0)
			(void)dat_evd_modify_cno(evd, source->cno); /* fails if it was freed */
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cno_source -- the events of a CNO as a source of an event loop
 *
 * The adapter of a loop watches the descriptor for reading and calls cno_source_dispatch() when it
 * is readable.  Nothing else is needed: what has to be done in which order, so that no wake-up is
 * lost, is in that function.  Watch for the level, not for edges (no EPOLLET): a call may leave the
 * descriptor readable.
 *
 * One thread runs the loop.  Any thread may post events and create and free EVDs.
 */
#ifndef LOOPS_CNO_SOURCE_H
#define LOOPS_CNO_SOURCE_H

#include <dat2/udat.h>

struct cno_source {
	DAT_CNO_HANDLE cno; /* for dat_evd_create() and dat_evd_modify_cno() */
	DAT_FD fd;	    /* the loop watches it; it belongs to the CNO: never read or close it */
	/* Called by the thread of the loop for each event of the EVDs.  It may free the EVD. */
	void (*handle)(void *context, const DAT_EVENT *event);
	void *context;
};

/* Fills in *source.  Returns what dat_cno_fd_create() does. */
DAT_RETURN cno_source_open(struct cno_source *source, DAT_IA_HANDLE ia,
    void (*handle)(void *context, const DAT_EVENT *event), void *context);

/* After it was removed from its loop and no EVD has its CNO any more. */
DAT_RETURN cno_source_close(struct cno_source *source);

/*
 * Handles events, but not more than CNO_SOURCE_BATCH, so that other sources of the loop get their
 * turn.  The descriptor stays readable if there are more.
 */
#define CNO_SOURCE_BATCH 64
void cno_source_dispatch(struct cno_source *source);

#endif

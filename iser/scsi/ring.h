/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring -- io_uring, where the build and the kernel have it
 */
#ifndef ISER_SCSI_RING_H
#define ISER_SCSI_RING_H

#include "io.h"

struct ring;

/*
 * Starts the thread that waits for completions.  What the ring could not do now, such as with
 * -EAGAIN, goes to `again`, which does it by other means.  0 or -errno; -ENOSYS without io_uring.
 */
int ring_open(
    struct ring **ring, void (*again)(void *context, struct io_request *request), void *context);

/* Nothing may be in flight. */
void ring_close(struct ring *ring);

/* From any thread.  False: the kernel takes none now. */
bool ring_submit(struct ring *ring, struct io_request *request);

#endif

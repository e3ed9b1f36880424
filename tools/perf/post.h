/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post -- the buffers and requests of an endpoint: what is posted, and whether what has come is
 * right
 *
 * All need the lock of the endpoint.
 */
#ifndef PERF_POST_H
#define PERF_POST_H

#include "end.h"
#include "message.h"

/* Whether the buffer of the next message, or read, is free. */
static inline bool
post_has_room(const struct endpoint *endpoint)
{
	const struct load *load = endpoint->end->load;

	return load->operation != OPERATION_READ ||
	       endpoint->posted[endpoint->sent % load->depth] == NOT_POSTED;
}

/* Sends or writes the next message; a notice has to follow a message that was written. */
void post_message(struct endpoint *endpoint, unsigned int flags, uint64_t value);

/* Sends a header with that number of messages: they were written, or have arrived. */
void post_notice(struct endpoint *endpoint, uint64_t messages);

/* Reads the next message, which was due at that time. */
void post_read(struct endpoint *endpoint, uint64_t due);

/* Checks what was received: its header, and which receive it was. */
struct header post_take(
    struct endpoint *endpoint, const struct completion *completion, uint64_t *number);

/*
 * Posts the receive again.  That comes after the answer, which it would delay; there are more
 * receives than the other side may send messages.
 */
void post_again(struct endpoint *endpoint, const struct completion *completion);

/* Checks the message of that number, which was written. */
struct header post_check_written(const struct endpoint *endpoint, uint64_t number);

/* Checks what was read: returns its number, and when it was due. */
uint64_t post_check_read(
    struct endpoint *endpoint, const struct completion *completion, uint64_t *due);

#endif

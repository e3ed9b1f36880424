/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream -- events or transfers posted one after the other, and the state of each
 *
 * A stream is the software events of one lane of an EVD, or the receives or the requests of one
 * endpoint.  One thread posts at a time, and others do not wait for it, so the order of the numbers
 * is the order of the posts.
 *
 * The check of the order does not depend on scheduling: if one call takes an event after another
 * call has returned one, its number must be greater.  Two calls that overlap may be in either
 * order.
 *
 * The owner's lock guards it.
 */
#ifndef REARM_HOSTILE_STREAM_H
#define REARM_HOSTILE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#define STREAM_RING 128
#define STREAM_HIGHS 16

enum record_state {
	RECORD_NONE,
	RECORD_POSTING,
	RECORD_ACCEPTED, /* and not delivered yet */
	RECORD_REFUSED,
	RECORD_DELIVERED,
	RECORD_EXCUSED, /* no delivery is required, or no longer */
};

struct record {
	uint32_t number;
	uint8_t state;
	uint8_t operation; /* of a request: DAT_DTOS */
	bool silent;	   /* no event if it succeeds */
	bool unsignalled;  /* it wakes no sink */
	bool solicited;
	uint32_t generation;
	/* the number of the receive or send in its connection, from 1; 0: neither */
	uint32_t index;
	uint64_t accepted; /* stamp, if accepted */
};

struct stream {
	bool busy;
	uint32_t last; /* the last number; the first is 1 */
	uint32_t queued;
	struct record ring[STREAM_RING];
	/* The last few deliveries, each with the greatest number delivered until then. */
	struct {
		uint64_t stamp;
		uint32_t number;
	} high[STREAM_HIGHS];
	unsigned int highs;
};

void stream_init(struct stream *stream);

/* A record to post, or NULL when another thread posts or the oldest in the ring is not done. */
struct record *stream_begin(struct stream *stream);
/* False if it was delivered although the post was refused. */
bool stream_end(struct stream *stream, struct record *record, bool accepted, uint64_t stamp);

/* The last number that has these low bits. */
uint32_t stream_whole(const struct stream *stream, uint64_t low, unsigned int bits);

/* The record with this number, or NULL. */
struct record *stream_at(struct stream *stream, uint32_t number);

/* Delivers it to a call that began at the stamp.  Returns the error, or NULL. */
const char *stream_deliver(struct stream *stream, uint32_t number, uint64_t begin, uint64_t now);

/* No further delivery is required. */
void stream_excuse(struct stream *stream);
/* The same for silent records before this number. */
void stream_excuse_silent(struct stream *stream, uint32_t before);

/* How many were accepted before the stamp and not delivered. */
unsigned int stream_waiting(const struct stream *stream, uint64_t before);
/* How many may be in a queue now: accepted, or being posted, and not delivered. */
unsigned int stream_possible(const struct stream *stream);

#endif

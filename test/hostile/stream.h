/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream -- things that were posted one after the other, and what came of each
 *
 * A stream is the software events of one lane of an EVD, or the receives or the requests of one
 * endpoint.  One thread posts at a time: whoever finds the stream busy goes elsewhere, so the order
 * of the numbers is the order of the posts.
 *
 * Order is judged without a guess about threads: what was taken by a call that began after another
 * taking was over must have the greater number.  Two takings that overlap may be in either order.
 *
 * The owner's lock guards it.
 */
#ifndef REARM_HOSTILE_STREAM_H
#define REARM_HOSTILE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#define STREAM_RING  128
#define STREAM_HIGHS 16

enum record_state {
	RECORD_NONE,
	RECORD_POSTING,
	RECORD_ACCEPTED, /* and not delivered yet */
	RECORD_REFUSED,
	RECORD_DELIVERED,
	RECORD_EXCUSED, /* nothing is due for it, or not any more */
};

struct record {
	uint32_t number;
	uint8_t state;
	uint8_t operation; /* of a request: DAT_DTOS */
	bool silent;	   /* it yields nothing if it succeeds */
	bool quiet;	   /* it wakes nobody */
	bool solicited;
	uint32_t generation;
	uint32_t
	    index; /* of an endpoint: which receive or send of its connection, from 1; 0: neither */
	uint64_t accepted; /* stamp, for what was accepted */
};

struct stream {
	bool busy;
	uint32_t last; /* the last number given; the first is 1 */
	uint32_t queued;
	struct record ring[STREAM_RING];
	/* The greatest number delivered until then, for the last few deliveries. */
	struct {
		uint64_t stamp;
		uint32_t number;
	} high[STREAM_HIGHS];
	unsigned int highs;
};

void stream_init(struct stream *stream);

/* A record to post, or NULL when another thread posts or the oldest in the ring is not done. */
struct record *stream_begin(struct stream *stream);
/* False: it was delivered although it is refused. */
bool stream_end(struct stream *stream, struct record *record, bool accepted, uint64_t stamp);

/* The number that has these low bits: of those given, the last. */
uint32_t stream_whole(const struct stream *stream, uint64_t low, unsigned int bits);

/* The record with this number while there is one. */
struct record *stream_at(struct stream *stream, uint32_t number);

/* What is wrong with delivering it to a taking that began at the stamp, or NULL. */
const char *stream_deliver(struct stream *stream, uint32_t number, uint64_t begin, uint64_t now);

/* Nothing is due any more for what was not delivered. */
void stream_excuse(struct stream *stream);
/* The same for silent ones before this number. */
void stream_excuse_silent(struct stream *stream, uint32_t before);

/* How many were accepted before the stamp and not delivered. */
unsigned int stream_waiting(const struct stream *stream, uint64_t before);
/* How many may be in a queue now: accepted, or being posted, and not delivered. */
unsigned int stream_possible(const struct stream *stream);

#endif

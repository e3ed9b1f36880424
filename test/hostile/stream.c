/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream.h"

#include <stddef.h>
#include <string.h>

void
stream_init(struct stream *stream)
{
	memset(stream, 0, sizeof *stream);
}

static struct record *
place(struct stream *stream, uint32_t number)
{
	return &stream->ring[number % STREAM_RING];
}

struct record *
stream_at(struct stream *stream, uint32_t number)
{
	struct record *record = place(stream, number);

	return number && record->number == number ? record : NULL;
}

uint32_t
stream_whole(const struct stream *stream, uint64_t low, unsigned int bits)
{
	const uint32_t one = UINT32_C(1) << bits;
	uint32_t number;

	low &= one - 1;
	number = (stream->last & ~(one - 1)) | (uint32_t)low;
	return number > stream->last && number >= one ? number - one : number;
}

struct record *
stream_begin(struct stream *stream)
{
	struct record *record = place(stream, stream->last + 1);

	if (stream->busy || record->state == RECORD_ACCEPTED || record->state == RECORD_POSTING)
		return NULL;
	stream->busy = true;
	*record = (struct record){ .number = ++stream->last, .state = RECORD_POSTING };
	return record;
}

bool
stream_end(struct stream *stream, struct record *record, bool accepted, uint64_t stamp)
{
	stream->busy = false;
	if (record->state != RECORD_POSTING)
		return accepted || record->state == RECORD_EXCUSED;
	record->accepted = stamp;
	record->state = accepted ? RECORD_ACCEPTED : RECORD_REFUSED;
	stream->queued += accepted;
	return true;
}

/* The greatest number delivered before the stamp, among the last few deliveries. */
static uint32_t
high_before(const struct stream *stream, uint64_t stamp)
{
	for (unsigned int i = 1; i <= STREAM_HIGHS && i <= stream->highs; i++) {
		unsigned int at = (stream->highs - i) % STREAM_HIGHS;

		if (stream->high[at].stamp < stamp)
			return stream->high[at].number;
	}
	return 0;
}

static void
note_high(struct stream *stream, uint32_t number, uint64_t now)
{
	unsigned int at = stream->highs % STREAM_HIGHS;

	if (stream->highs) {
		uint32_t most = stream->high[(stream->highs - 1) % STREAM_HIGHS].number;

		if (most > number)
			number = most;
	}
	stream->high[at].stamp = now;
	stream->high[at].number = number;
	stream->highs++;
}

const char *
stream_deliver(struct stream *stream, uint32_t number, uint64_t begin, uint64_t now)
{
	struct record *record = stream_at(stream, number);
	uint32_t high;

	if (!record)
		return number <= stream->last && number ? "delivered or refused long ago" :
							  "never posted";
	switch (record->state) {
	case RECORD_DELIVERED:
		return "delivered before";
	case RECORD_REFUSED:
		return "refused when it was posted";
	case RECORD_NONE:
		return "never posted";
	case RECORD_ACCEPTED:
		stream->queued--;
		break;
	case RECORD_POSTING:
	case RECORD_EXCUSED:
	default:
		break;
	}
	record->state = RECORD_DELIVERED;
	high = high_before(stream, begin);
	note_high(stream, number, now);
	return high > number ? "out of order: a later one was taken before this call began" : NULL;
}

void
stream_excuse(struct stream *stream)
{
	for (int i = 0; i < STREAM_RING; i++) {
		struct record *record = &stream->ring[i];

		if (record->state == RECORD_ACCEPTED || record->state == RECORD_POSTING)
			record->state = RECORD_EXCUSED;
	}
	stream->queued = 0;
}

void
stream_excuse_silent(struct stream *stream, uint32_t before)
{
	for (int i = 0; i < STREAM_RING; i++) {
		struct record *record = &stream->ring[i];

		if (record->silent && record->number < before && record->state == RECORD_ACCEPTED) {
			record->state = RECORD_EXCUSED;
			stream->queued--;
		}
	}
}

unsigned int
stream_waiting(const struct stream *stream, uint64_t before)
{
	unsigned int n = 0;

	for (int i = 0; i < STREAM_RING; i++) {
		const struct record *record = &stream->ring[i];

		n += record->state == RECORD_ACCEPTED && record->accepted < before;
	}
	return n;
}

unsigned int
stream_possible(const struct stream *stream)
{
	unsigned int n = 0;

	for (int i = 0; i < STREAM_RING; i++)
		n += stream->ring[i].state == RECORD_ACCEPTED ||
		     stream->ring[i].state == RECORD_POSTING;
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message -- the header of each message, by which the receiver checks that none is missing, doubled
 * or out of order
 *
 * The numbers are little-endian, so that hosts of both kinds can talk.  The last bytes of a message
 * have its number again, if there is room: a message of which only the beginning has come is found.
 */
#ifndef PERF_MESSAGE_H
#define PERF_MESSAGE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define MESSAGE_MEASURED 1u /* not of the warm-up */
#define MESSAGE_LAST 2u	    /* of this endpoint */

struct header {
	uint32_t number; /* of the messages from this side of the connection */
	uint16_t endpoint;
	uint16_t flags;
	uint64_t value; /* a time; of a confirmation and a notice: the number of messages */
};

/* What a message ends with. */
static inline uint32_t *
message_tail(char *bytes, uint32_t length)
{
	return length >= sizeof(struct header) + sizeof(uint32_t) ?
		   (uint32_t *)(bytes + (length & ~3u)) - 1 :
		   NULL;
}

static inline void
message_fill(char *bytes, uint32_t length, const struct header *header)
{
	uint32_t *tail = message_tail(bytes, length);
	struct header *wire = (struct header *)bytes;

	wire->number = htole32(header->number);
	wire->endpoint = htole16(header->endpoint);
	wire->flags = htole16(header->flags);
	wire->value = htole64(header->value);
	if (tail)
		*tail = htole32(header->number);
}

static inline struct header
message_header(const char *bytes)
{
	const struct header *wire = (const struct header *)bytes;

	return (struct header){
		.number = le32toh(wire->number),
		.endpoint = le16toh(wire->endpoint),
		.flags = le16toh(wire->flags),
		.value = le64toh(wire->value),
	};
}

#endif

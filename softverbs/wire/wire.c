/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"
#include "softverbs/device/topology.h"

#include <string.h>

static bool
wire_frame_has_segments(const struct soft_frame *frame)
{
	const uint32_t segment = sizeof(struct soft_wire_segment);

	return frame->length && frame->length % segment == 0 &&
	       frame->length <= SOFT_MAX_SGE * segment;
}

static bool
wire_frame_request_valid(const struct soft_frame *frame)
{
	const unsigned int both = SOFT_FRAME_FIRST | SOFT_FRAME_LAST;
	const bool whole = (frame->flags & both) == both;
	const bool pull = frame->flags & SOFT_FRAME_PULL;

	switch (frame->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return pull ? wire_frame_has_segments(frame) : frame->length <= frame->total;
	case IBV_WR_RDMA_READ:
		return whole && !frame->length;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return whole && !pull && !frame->length && frame->total == sizeof(uint64_t);
	default:
		return false;
	}
}

/* Whether a responder may send this NAK. */
static bool
wire_frame_nak_valid(const struct soft_frame *frame)
{
	switch (frame->opcode) {
	case SOFT_NAK_NOT_PULLED:
	case SOFT_NAK_NOT_READY:
	case SOFT_NAK_NOT_CONNECTED:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
		return !frame->length && frame->rnr_timer < 2 * SOFT_RNR_MADE;
	default:
		return false;
	}
}

/* The flags that a type of frame may have. */
static unsigned int
wire_frame_flags_known(uint8_t type)
{
	switch (type) {
	case SOFT_FRAME_REQUEST:
		return SOFT_FRAME_FIRST | SOFT_FRAME_LAST | SOFT_FRAME_SOLICITED | SOFT_FRAME_PULL;
	case SOFT_FRAME_RESPONSE:
		return SOFT_FRAME_FIRST | SOFT_FRAME_LAST | SOFT_FRAME_PULL;
	case SOFT_FRAME_DATAGRAM:
		return SOFT_FRAME_SOLICITED | SOFT_FRAME_GLOBAL;
	default:
		return 0;
	}
}

/* The port of a request may be none: it is refused then as one to another port. */
static bool
wire_frame_ports_valid(const struct soft_frame *frame)
{
	switch (frame->type) {
	case SOFT_FRAME_REQUEST:
		return (frame->port <= SOFT_PORT_NUMBERS || frame->port == SOFT_PORT_NOWHERE) &&
		       !frame->from_port;
	case SOFT_FRAME_DATAGRAM:
		return frame->port <= SOFT_PORT_NUMBERS && frame->from_port <= SOFT_PORT_NUMBERS;
	default:
		return !frame->port && !frame->from_port;
	}
}

bool
soft_frame_valid(const struct soft_frame *frame)
{
	if (frame->length > SOFT_WIRE_PAYLOAD || frame->total > SOFT_MAX_MSG ||
	    !wire_frame_ports_valid(frame) || frame->psn > SOFT_PSN_MASK ||
	    frame->flags & ~wire_frame_flags_known(frame->type))
		return false;
	switch (frame->type) {
	case SOFT_FRAME_HELLO:
		return frame->length == sizeof(struct soft_wire_hello);
	case SOFT_FRAME_CM:
		return frame->length == sizeof(struct soft_wire_cm);
	case SOFT_FRAME_REQUEST:
		return wire_frame_request_valid(frame);
	case SOFT_FRAME_RESPONSE:
		return frame->flags & SOFT_FRAME_PULL ? wire_frame_has_segments(frame) :
							frame->length <= frame->total;
	case SOFT_FRAME_PULLED:
		return !frame->length && frame->opcode <= SOFT_NOT_PULLED;
	case SOFT_FRAME_NAK:
		return wire_frame_nak_valid(frame);
	case SOFT_FRAME_DATAGRAM:
		return frame->length <= SOFT_MTU && frame->length == frame->total &&
		       (frame->opcode == IBV_WR_SEND || frame->opcode == IBV_WR_SEND_WITH_IMM);
	case SOFT_FRAME_WELCOME:
		return frame->length == sizeof(struct soft_wire_grant) &&
		       frame->opcode <= (SOFT_WELCOME_RINGS | SOFT_WELCOME_PULLS) &&
		       frame->opcode != SOFT_WELCOME_PULLS;
	case SOFT_FRAME_ACK:
	case SOFT_FRAME_READY:
		return !frame->length;
	default:
		return false;
	}
}

#if SOFT_TSAN
/* memcpy() reports to the sanitizer wherever it is called; an ordinary loop becomes a memcpy(). */
SOFT_FOREIGN_ACCESS void
soft_wire_copy(char *to, const char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}
#else
void
soft_wire_copy(char *to, const char *from, size_t length)
{
	memcpy(to, from, length);
}
#endif

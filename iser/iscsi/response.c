/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/response.h"

#include "iser/iscsi/pdu.h"

#include <stdio.h>

enum {
	RESIDUAL_IN = 40, /* of what a command of both directions reads */
	RESIDUAL = 44,
};

/* Sense keys, SPC-4 4.5.6. */
enum {
	KEY_NO_SENSE = 0x0,
	KEY_RECOVERED = 0x1,
	KEY_ATTENTION = 0x6,
	KEY_COMPLETED = 0xf,
};

/* ---- the target's ---- */

static void
put_count(unsigned char *bhs, unsigned int at, unsigned char over, unsigned char under,
    uint64_t too_many, uint32_t missing)
{
	if (too_many > 0) {
		bhs[PDU_FLAGS] |= over;
		wire_put32(bhs + at, too_many > UINT32_MAX ? UINT32_MAX : (uint32_t)too_many);
	} else if (missing > 0) {
		bhs[PDU_FLAGS] |= under;
		wire_put32(bhs + at, missing);
	}
}

void
response_put_residual(
    unsigned char *bhs, const struct scsi_task *scsi, unsigned char flags, uint32_t expected)
{
	const uint64_t too_many = scsi->residual > 0 ? (uint64_t)scsi->residual : 0;
	const uint32_t in = scsi->direction == SCSI_DATA_IN ? scsi->data_in_length : 0;
	const uint32_t out = scsi->direction == SCSI_DATA_OUT ? scsi->bytes : 0;

	if (scsi->status != SCSI_GOOD)
		return;
	if (!(flags & PDU_READ && flags & PDU_WRITE)) {
		put_count(
		    bhs, RESIDUAL, PDU_OVERFLOW, PDU_UNDERFLOW, too_many, expected - (in + out));
		return;
	}
	put_count(bhs, RESIDUAL, PDU_OVERFLOW, PDU_UNDERFLOW,
	    scsi->direction == SCSI_DATA_OUT ? too_many : 0, expected - out);
	put_count(bhs, RESIDUAL_IN, PDU_IN_OVERFLOW, PDU_IN_UNDERFLOW,
	    scsi->direction == SCSI_DATA_IN ? too_many : 0, scsi->expected_in - in);
}

/* ---- the initiator's ---- */

struct sense {
	unsigned int key, code;
};

/* False if there is none that can be read: it is in fixed or in descriptor format. */
static bool
take_sense(struct sense *sense, const unsigned char *pdu)
{
	const unsigned char *data = pdu + ISCSI_BHS_BYTES + 2;
	const uint32_t room = wire_get24(pdu + PDU_DATA);
	uint32_t length;

	if (room < 2)
		return false;
	length = wire_get16(pdu + ISCSI_BHS_BYTES);
	if (length > room - 2)
		return false;
	if (length >= 4 && (data[0] & 0x7e) == 0x72) {
		*sense = (struct sense){ data[1] & 0xfu, wire_get16(data + 2) };
		return true;
	}
	if (length < 14 || (data[0] & 0x7e) != 0x70)
		return false;
	*sense = (struct sense){ data[2] & 0xfu, wire_get16(data + 12) };
	return true;
}

/* What is not known to change nothing is taken for a change. */
static enum response_verdict
attention(unsigned int code)
{
	switch (code >> 8) {
	case 0x0b: /* a warning, as of the temperature */
	case 0x5d: /* a failure is foreseen */
		return RESPONSE_ATTENTION;
	default:
		break;
	}
	switch (code) {
	case 0x2900: /* power on, reset, or bus device reset */
	case 0x2901: /* power on */
	case 0x2904: /* device internal reset */
	case 0x2f01: /* commands cleared by a notification of power loss */
	case 0x3f01: /* other microcode */
		return RESPONSE_RESET;
	case 0x2902: /* bus reset */
	case 0x2903: /* reset of the LUN or the target by a function */
	case 0x2907: /* loss of a nexus */
	case 0x2a00: /* parameters */
	case 0x2a01: /* of modes */
	case 0x2a02: /* of logs */
	case 0x2a03: /* reservations */
	case 0x2a04:
	case 0x2a05:
	case 0x2a06: /* state of an asymmetric access */
	case 0x2a07:
	case 0x2a10: /* the time */
	case 0x2f00: /* commands cleared by another initiator */
	case 0x2f02: /* by the target itself */
	case 0x3807: /* a soft threshold of thin provisioning */
	case 0x3f03: /* INQUIRY data */
	case 0x3f0e: /* the list of LUNs */
		return RESPONSE_ATTENTION;
	default:
		return RESPONSE_CHANGED;
	}
}

/*
 * What was moved.  False if the counts make no sense: a command that asks for what it has room for
 * cannot overflow, and has one direction.
 */
static bool
take_moved(struct response *response, const unsigned char *pdu, uint32_t expected)
{
	const unsigned char all = PDU_UNDERFLOW | PDU_OVERFLOW | PDU_IN_UNDERFLOW | PDU_IN_OVERFLOW;
	const unsigned char flags = pdu[PDU_FLAGS] & all;
	const uint32_t count = wire_get32(pdu + RESIDUAL), count_in = wire_get32(pdu + RESIDUAL_IN);

	response->moved = expected - count;
	if (count_in == 0 &&
	    (flags == 0 ? count == 0 : flags == PDU_UNDERFLOW && count <= expected))
		return true;
	snprintf(response->text, sizeof response->text,
	    "GOOD for %u bytes with the residual flags 0x%02x and the counts %u and %u",
	    (unsigned int)expected, flags, (unsigned int)count, (unsigned int)count_in);
	return false;
}

void
response_take(struct response *response, const unsigned char *pdu, uint32_t expected)
{
	const unsigned char status = pdu[3];
	struct sense sense;

	*response = (struct response){ .verdict = RESPONSE_FAILED };
	snprintf(
	    response->text, sizeof response->text, "response %u, status 0x%02x", pdu[2], status);
	if (pdu[2] != 0)
		return;
	/* What another initiator has aborted may be half done; the same again makes it whole. */
	if (status == SCSI_BUSY || status == SCSI_TASK_SET_FULL || status == SCSI_TASK_ABORTED) {
		response->verdict = RESPONSE_BUSY;
	} else if (status == SCSI_GOOD && wire_get24(pdu + PDU_DATA) > 0 &&
		   (!take_sense(&sense, pdu) ||
		       (sense.key != KEY_NO_SENSE && sense.key != KEY_RECOVERED &&
			   sense.key != KEY_COMPLETED))) {
		snprintf(response->text, sizeof response->text, "GOOD with the sense of a failure");
	} else if (status == SCSI_GOOD) {
		if (take_moved(response, pdu, expected))
			response->verdict = RESPONSE_DONE;
	} else if (status == SCSI_CHECK_CONDITION && take_sense(&sense, pdu)) {
		snprintf(response->text, sizeof response->text, "sense key %u, code 0x%04x",
		    sense.key, sense.code);
		if (sense.key == KEY_ATTENTION) {
			response->verdict = attention(sense.code);
			response->aborts = sense.code >> 8 == 0x29 || sense.code >> 8 == 0x2f;
		}
	}
}

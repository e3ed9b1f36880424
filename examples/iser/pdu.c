/* SPDX-License-Identifier: BSD-3-Clause */
#include "pdu.h"

#include <endian.h>
#include <string.h>

#define PDU_MAGIC 0x52495352u	/* "RISR" */
#define HELLO_MAGIC 0x52484c4fu /* "RHLO" */

static const char *const status_texts[PDU_STATUS_COUNT] = {
	[PDU_OK] = "done",
	[PDU_MALFORMED] = "malformed PDU",
	[PDU_BAD_VERSION] = "unknown protocol version",
	[PDU_BAD_OPCODE] = "unknown command",
	[PDU_BAD_LENGTH] = "length is 0 or more than a block",
	[PDU_OUT_OF_RANGE] = "range ends after the end of the device",
	[PDU_SHORT_BUFFER] = "remote buffer is smaller than the length",
	[PDU_NOT_LOGGED_IN] = "command before the login",
	[PDU_LOGGED_IN] = "connection is logged in already",
	[PDU_QUEUE_OVERRUN] = "more commands outstanding than agreed",
	[PDU_BAD_QUEUE] = "queue depth is 0 or too large",
	[PDU_BAD_BLOCK] = "block size is 0, too large or not the one agreed",
	[PDU_BAD_SIZE] = "device cannot have this size",
	[PDU_NO_RESOURCES] = "no resources for another connection",
	[PDU_IO_ERROR] = "file of the device could not be read or written",
};

static void
put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof value);
}

static void
put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof value);
}

static void
put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof value);
}

static uint16_t
get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return be16toh(value);
}

static uint32_t
get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return be32toh(value);
}

static uint64_t
get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return be64toh(value);
}

void
pdu_encode(const struct pdu *pdu, void *wire)
{
	uint8_t *w = wire;

	memset(w, 0, PDU_BYTES);
	put32(w, PDU_MAGIC);
	w[4] = PDU_VERSION;
	w[5] = pdu->opcode;
	put16(w + 6, pdu->status);
	put32(w + 8, pdu->tag);
	put32(w + 12, pdu->length);
	put64(w + 16, pdu->lba);
	put64(w + 24, pdu->remote_address);
	put32(w + 32, pdu->remote_length);
	put32(w + 36, pdu->remote_context);
	put64(w + 40, pdu->device_bytes);
}

enum pdu_status
pdu_decode(struct pdu *pdu, const void *wire, size_t length)
{
	const uint8_t *w = wire;
	unsigned int request;

	memset(pdu, 0, sizeof *pdu);
	if (length != PDU_BYTES || get32(w) != PDU_MAGIC)
		return PDU_MALFORMED;
	pdu->opcode = w[5];
	pdu->status = get16(w + 6);
	pdu->tag = get32(w + 8);
	if (w[4] != PDU_VERSION)
		return PDU_BAD_VERSION;
	pdu->length = get32(w + 12);
	pdu->lba = get64(w + 16);
	pdu->remote_address = get64(w + 24);
	pdu->remote_length = get32(w + 32);
	pdu->remote_context = get32(w + 36);
	pdu->device_bytes = get64(w + 40);
	if (get64(w + 48) != 0 || get64(w + 56) != 0)
		return PDU_MALFORMED;
	request = pdu->opcode & ~PDU_RESPONSE;
	if (request < PDU_LOGIN || request > PDU_LOGOUT)
		return PDU_BAD_OPCODE;
	if (pdu->opcode & PDU_RESPONSE)
		return pdu->status < PDU_STATUS_COUNT ? PDU_OK : PDU_MALFORMED;
	return pdu->status == PDU_OK ? PDU_OK : PDU_MALFORMED;
}

enum pdu_status
pdu_check_range(const struct pdu *pdu, uint32_t block_bytes, uint64_t device_bytes)
{
	if (pdu->length == 0 || pdu->length > block_bytes)
		return PDU_BAD_LENGTH;
	if (pdu->remote_length < pdu->length)
		return PDU_SHORT_BUFFER;
	/* Divided, not multiplied: lba comes from the peer, and lba * block_bytes may wrap. */
	if (pdu->lba > device_bytes / block_bytes)
		return PDU_OUT_OF_RANGE;
	if (pdu->length > device_bytes - pdu->lba * block_bytes)
		return PDU_OUT_OF_RANGE;
	return PDU_OK;
}

void
hello_encode(const struct hello *hello, void *wire)
{
	uint8_t *w = wire;

	put32(w, HELLO_MAGIC);
	put16(w + 4, PDU_VERSION);
	put16(w + 6, hello->status);
	put32(w + 8, hello->queue_depth);
	put32(w + 12, hello->block_bytes);
}

enum pdu_status
hello_decode(struct hello *hello, const void *wire, size_t length)
{
	const uint8_t *w = wire;

	memset(hello, 0, sizeof *hello);
	if (!w || length < HELLO_BYTES || get32(w) != HELLO_MAGIC)
		return PDU_MALFORMED;
	if (get16(w + 4) != PDU_VERSION)
		return PDU_BAD_VERSION;
	hello->status = get16(w + 6);
	hello->queue_depth = get32(w + 8);
	hello->block_bytes = get32(w + 12);
	if (hello->status >= PDU_STATUS_COUNT)
		return PDU_MALFORMED;
	if (hello->queue_depth == 0 || hello->queue_depth > PDU_MAX_QUEUE_DEPTH)
		return PDU_BAD_QUEUE;
	if (hello->block_bytes == 0 || hello->block_bytes > PDU_MAX_BLOCK_BYTES)
		return PDU_BAD_BLOCK;
	if ((uint64_t)hello->queue_depth * hello->block_bytes > PDU_MAX_QUEUE_BYTES)
		return PDU_BAD_QUEUE;
	return PDU_OK;
}

const char *
pdu_status_text(unsigned int status)
{
	return status < PDU_STATUS_COUNT ? status_texts[status] : "unknown status";
}

const char *
pdu_opcode_name(unsigned int opcode)
{
	switch (opcode & ~PDU_RESPONSE) {
	case PDU_LOGIN:
		return opcode & PDU_RESPONSE ? "login response" : "login";
	case PDU_WRITE:
		return opcode & PDU_RESPONSE ? "write response" : "write";
	case PDU_READ:
		return opcode & PDU_RESPONSE ? "read response" : "read";
	case PDU_LOGOUT:
		return opcode & PDU_RESPONSE ? "logout response" : "logout";
	}
	return "unknown";
}

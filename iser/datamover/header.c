/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/header.h"

#include <string.h>

#define KIND_MASK 0xf0
#define KIND_CONTROL 0x10
#define WRITE_VALID 0x08
#define READ_VALID 0x04

static uint64_t
get64(const unsigned char *p)
{
	return (uint64_t)wire_get32(p) << 32 | wire_get32(p + 4);
}

static void
put64(unsigned char *p, uint64_t value)
{
	wire_put32(p, (uint32_t)(value >> 32));
	wire_put32(p + 4, (uint32_t)value);
}

bool
iser_header_decode(const unsigned char *wire, size_t length, struct iser_header *header)
{
	if (length < ISER_HEADER_BYTES || (wire[0] & KIND_MASK) != KIND_CONTROL)
		return false;
	*header = (struct iser_header){
		.write_valid = wire[0] & WRITE_VALID,
		.read_valid = wire[0] & READ_VALID,
		.write_stag = wire_get32(wire + 4),
		.write_address = get64(wire + 8),
		.read_stag = wire_get32(wire + 16),
		.read_address = get64(wire + 20),
	};
	return true;
}

void
iser_header_encode(const struct iser_header *header, unsigned char wire[ISER_HEADER_BYTES])
{
	memset(wire, 0, ISER_HEADER_BYTES);
	wire[0] = KIND_CONTROL | (header->write_valid ? WRITE_VALID : 0) |
		  (header->read_valid ? READ_VALID : 0);
	wire_put32(wire + 4, header->write_stag);
	put64(wire + 8, header->write_address);
	wire_put32(wire + 16, header->read_stag);
	put64(wire + 20, header->read_address);
}

void
iser_cm_encode(unsigned char wire[ISER_CM_BYTES])
{
	memset(wire, 0, ISER_CM_BYTES);
	wire[0] = ISER_CM_ZERO_BASED_NOT_USED | ISER_CM_SEND_INVALIDATE_NOT_USED;
}

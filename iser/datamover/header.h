/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * header -- what iSER puts before an iSCSI PDU, and into the private data of the CM
 *
 * A message is the header, 28 bytes, the basic header segment of the PDU, 48 bytes, and its data.
 *
 *	 0  1  0x10: an iSCSI control-type PDU; 0x20 and 0x30: Hello and HelloReply
 *	       0x08: the write STag is valid; 0x04: the read STag is
 *	 4  4  write STag, of data that the target reads     8  8  their address
 *	16  4  read STag, of memory that the target writes  20  8  its address
 *
 * The private data of a connection request and of its answer begins with a byte of flags.
 */
#ifndef ISER_DATAMOVER_HEADER_H
#define ISER_DATAMOVER_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISER_HEADER_BYTES 28
#define ISCSI_BHS_BYTES 48
#define ISER_CM_BYTES 4

/* Flags of the CM: addresses are virtual ones, not offsets; a send does not invalidate an STag. */
#define ISER_CM_ZERO_BASED_NOT_USED 0x80
#define ISER_CM_SEND_INVALIDATE_NOT_USED 0x40

struct iser_header {
	bool write_valid, read_valid;
	uint32_t write_stag, read_stag;
	uint64_t write_address, read_address;
};

/* False if it is no header of a control-type PDU. */
bool iser_header_decode(const unsigned char *wire, size_t length, struct iser_header *header);
void iser_header_encode(const struct iser_header *header, unsigned char wire[ISER_HEADER_BYTES]);

/* What both ends say: neither of the two is used here. */
void iser_cm_encode(unsigned char wire[ISER_CM_BYTES]);

static inline uint32_t
wire_get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t
wire_get24(const unsigned char *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint16_t
wire_get16(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
wire_put16(unsigned char *p, uint16_t value)
{
	p[0] = (unsigned char)(value >> 8);
	p[1] = (unsigned char)value;
}

static inline void
wire_put24(unsigned char *p, uint32_t value)
{
	p[0] = (unsigned char)(value >> 16);
	wire_put16(p + 1, (uint16_t)value);
}

static inline void
wire_put32(unsigned char *p, uint32_t value)
{
	wire_put16(p, (uint16_t)(value >> 16));
	wire_put16(p + 2, (uint16_t)value);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pdu -- the messages between initiator and target
 *
 * Every PDU is 64 bytes, all numbers big-endian:
 *
 *	 0  4  magic "RISR"
 *	 4  1  version, 1
 *	 5  1  opcode; a response carries its request's opcode with bit 7 set
 *	 6  2  status: 0 in a request, an enum pdu_status in a response
 *	 8  4  tag: chosen by the initiator, repeated in the response
 *	12  4  length: bytes to move; in a login the block size
 *	16  8  lba: first block, in units of the block size
 *	24  8  remote address   \
 *	32  4  remote length     > the initiator's buffer, as the target must name it
 *	36  4  remote context   /
 *	40  8  device size in bytes: in a login the requested size, in its response the real one
 *	48 16  reserved, 0
 *
 * A PDU has no data: the target reads the buffer of the initiator with RDMA read (write
 * command), or writes it with RDMA write (read command).
 *
 * The hello is the private data of the connection request: the number of outstanding commands
 * and the block size, for which the target prepares before the first PDU arrives.  16 bytes:
 * magic "RHLO" 4, version 2, status 2, queue depth 4, block size 4.  A target that refuses
 * returns the hello with the reason as its status.
 */
#ifndef ISER_PDU_H
#define ISER_PDU_H

#include <stddef.h>
#include <stdint.h>

#define PDU_BYTES 64
#define PDU_VERSION 1
#define HELLO_BYTES 16

/* The largest block and queue a peer may ask for: what a hello is checked against. */
#define PDU_MAX_BLOCK_BYTES (16u << 20)
#define PDU_MAX_QUEUE_DEPTH 4096u
/* ... and of buffers for one connection, which is what the two together ask for. */
#define PDU_MAX_QUEUE_BYTES (UINT64_C(1) << 30)

enum pdu_opcode {
	PDU_LOGIN = 1,	/* first PDU of a connection: agree on the size of the device */
	PDU_WRITE = 2,	/* initiator's buffer to the device */
	PDU_READ = 3,	/* device to the initiator's buffer */
	PDU_LOGOUT = 4, /* last PDU of a connection */
};

#define PDU_RESPONSE 0x80

enum pdu_status {
	PDU_OK,
	PDU_MALFORMED,	   /* not 64 bytes, wrong magic, or a reserved field in use */
	PDU_BAD_VERSION,   /* a version this side does not speak */
	PDU_BAD_OPCODE,	   /* a command this side does not know */
	PDU_BAD_LENGTH,	   /* 0, or more than a block */
	PDU_OUT_OF_RANGE,  /* part of the range lies behind the end of the device */
	PDU_SHORT_BUFFER,  /* the remote buffer is smaller than the length */
	PDU_NOT_LOGGED_IN, /* a command before the login */
	PDU_LOGGED_IN,	   /* a second login */
	PDU_QUEUE_OVERRUN, /* more commands outstanding than agreed */
	PDU_BAD_QUEUE,	   /* hello: queue depth 0 or too large, or too large for the block size */
	PDU_BAD_BLOCK,	   /* block size 0, too large, or not the one of the hello */
	PDU_BAD_SIZE,	   /* login: the device cannot be that large */
	PDU_NO_RESOURCES,  /* no memory or queue space for another connection */
	PDU_IO_ERROR,	   /* the device's file could not be read or written */
	PDU_STATUS_COUNT,
};

struct pdu {
	uint8_t opcode;
	uint16_t status;
	uint32_t tag;
	uint32_t length;
	uint64_t lba;
	uint64_t remote_address;
	uint32_t remote_length;
	uint32_t remote_context;
	uint64_t device_bytes;
};

struct hello {
	uint16_t status;
	uint32_t queue_depth;
	uint32_t block_bytes;
};

void pdu_encode(const struct pdu *pdu, void *wire);

/*
 * Takes `length` received bytes apart.  What could be read is in *pdu even when the result
 * is not PDU_OK, the tag above all: the refusal has to carry it.
 */
enum pdu_status pdu_decode(struct pdu *pdu, const void *wire, size_t length);

/*
 * What a target answers to a command before it moves a byte.  `block_bytes` was agreed in
 * the hello, `device_bytes` is the size of the device.
 */
enum pdu_status pdu_check_range(const struct pdu *pdu, uint32_t block_bytes, uint64_t device_bytes);

void hello_encode(const struct hello *hello, void *wire);

/* A connection manager may pad private data: what follows the first 16 bytes is ignored. */
enum pdu_status hello_decode(struct hello *hello, const void *wire, size_t length);

/* A sentence, never NULL. */
const char *pdu_status_text(unsigned int status);
const char *pdu_opcode_name(unsigned int opcode);

#endif

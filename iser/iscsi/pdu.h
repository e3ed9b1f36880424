/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pdu -- the basic header segments of iSCSI, RFC 7143 11: where what is
 */
#ifndef ISER_ISCSI_PDU_H
#define ISER_ISCSI_PDU_H

#include "iser/datamover/header.h"

enum pdu_opcode {
	PDU_NOP_OUT = 0x00,
	PDU_COMMAND = 0x01,
	PDU_MANAGE = 0x02,
	PDU_LOGIN = 0x03,
	PDU_TEXT = 0x04,
	PDU_DATA_OUT = 0x05,
	PDU_LOGOUT = 0x06,
	PDU_SNACK = 0x10,
	PDU_NOP_IN = 0x20,
	PDU_RESPONSE = 0x21,
	PDU_MANAGED = 0x22,
	PDU_LOGIN_ANSWER = 0x23,
	PDU_TEXT_ANSWER = 0x24,
	PDU_LOGOUT_ANSWER = 0x26,
	PDU_ASYNC = 0x32,
	PDU_REJECT = 0x3f,
};

#define PDU_OPCODE 0x3f	   /* of byte 0 */
#define PDU_IMMEDIATE 0x40 /* of byte 0 */
#define PDU_FINAL 0x80	   /* of byte 1 */
#define PDU_CONTINUE 0x40  /* of byte 1: a login or a text goes on in the next PDU */
#define PDU_NO_TAG UINT32_C(0xffffffff)

/* Offsets of what several PDUs have. */
enum pdu_offset {
	PDU_FLAGS = 1,
	PDU_AHS = 4,  /* words of additional header segments */
	PDU_DATA = 5, /* 24 bits: bytes of data */
	PDU_LUN = 8,
	PDU_ITT = 16,
	PDU_TTT = 20,
	PDU_EXPECTED = 20, /* of a command */
	PDU_CMDSN = 24,	   /* of a request */
	PDU_STATSN = 24,   /* of an answer */
	PDU_EXPSTATSN = 28,
	PDU_EXPCMDSN = 28,
	PDU_MAXCMDSN = 32,
	PDU_CDB = 32,
};

/* Flags of a command, and of its response. */
#define PDU_READ 0x40
#define PDU_WRITE 0x20
#define PDU_ATTRIBUTE 0x07
#define PDU_UNDERFLOW 0x02
#define PDU_OVERFLOW 0x04
#define PDU_IN_UNDERFLOW 0x08 /* of what a command of both directions reads */
#define PDU_IN_OVERFLOW 0x10

enum pdu_reject {
	REJECT_SNACK = 0x03,
	REJECT_PROTOCOL = 0x04,
	REJECT_NOT_SUPPORTED = 0x05,
	REJECT_IMMEDIATE = 0x06,
	REJECT_TASK_IN_PROGRESS = 0x07,
	REJECT_FIELD = 0x09,
	REJECT_RESOURCES = 0x0a,
};

/* Status class and detail of a login answer. */
enum login_status {
	LOGIN_OK = 0x0000,
	LOGIN_INITIATOR_ERROR = 0x0200,
	LOGIN_NOT_AUTHENTICATED = 0x0201,
	LOGIN_FORBIDDEN = 0x0202,
	LOGIN_NOT_FOUND = 0x0203,
	LOGIN_VERSION = 0x0205,
	LOGIN_TOO_MANY_CONNECTIONS = 0x0206,
	LOGIN_MISSING = 0x0207,
	LOGIN_NO_SESSION = 0x020a,
	LOGIN_INVALID = 0x020b,
	LOGIN_NO_RESOURCES = 0x0302,
};

/* Serial numbers of 32 bits, RFC 1982. */
static inline bool
sn_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif

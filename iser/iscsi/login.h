/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * login -- the login phase of a connection, at the target: from PDUs to what was agreed
 *
 * It knows no connection: a PDU goes in, and an answer comes out.  So it can be tested, and given
 * hostile input, without one.
 */
#ifndef ISER_ISCSI_LOGIN_H
#define ISER_ISCSI_LOGIN_H

#include "iser/iscsi/chap.h"
#include "iser/iscsi/keys.h"
#include "iser/iscsi/pdu.h"

#define LOGIN_ANSWER_BYTES 8192 /* RFC 7145: of data in a PDU, before something else is agreed */
#define LOGIN_PDUS 32		/* of an initiator that makes no progress */

enum login_stage {
	LOGIN_SECURITY = 0,
	LOGIN_OPERATIONAL = 1,
	LOGIN_FULL_FEATURE = 3,
};

struct login {
	/* Set before, unchanged after. */
	const char *target; /* the name that an initiator asks for */
	uint16_t portal_group;
	const struct chap_secrets *secrets; /* NULL: anyone may log in */
	const struct keys_limits *limits;

	struct keys keys;
	struct chap chap;
	enum login_stage stage;
	bool begun, authenticated, chap_chosen;
	unsigned int pdus;
	unsigned char isid[6];
	uint16_t cid;
	uint32_t itt, cmdsn;
	char *text; /* of PDUs that go on, TEXT_BYTES */
	size_t text_bytes;
};

void login_init(struct login *login);
void login_fini(struct login *login);

/*
 * Takes a login request, `length` bytes from its basic header segment on, and writes the answer:
 * the header without its serial numbers and TSIH, and *ret_bytes of data, for which `data` has
 * LOGIN_ANSWER_BYTES.  Returns the status.  If it is LOGIN_OK and login->stage is
 * LOGIN_FULL_FEATURE, the login is done; if it is anything else the connection ends after the
 * answer.
 */
enum login_status login_take(struct login *login, const unsigned char *pdu, size_t length,
    unsigned char answer[ISCSI_BHS_BYTES], char *data, size_t *ret_bytes);

#endif

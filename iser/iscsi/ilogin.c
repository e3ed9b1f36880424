/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/ilogin.h"

#include "iser/iscsi/chap.h"
#include "iser/iscsi/iconn_own.h"
#include "iser/iscsi/iprobe.h"
#include "iser/iscsi/text.h"

#include <stdio.h>
#include <string.h>

static void
send_login(struct iconn *conn, unsigned char flags, const struct text_out *text)
{
	const unsigned int index = conn->mover.index;
	unsigned char *bhs;
	unsigned int slot;

	bhs = text->overflow ? NULL :
			       iconn_request(conn, PDU_LOGIN | PDU_IMMEDIATE, 1, text->used, &slot);
	if (!bhs)
		return;
	bhs[PDU_FLAGS] = flags;
	/* An ISID of the random kind: 0x80, three bytes of the process, two of the connection. */
	bhs[8] = 0x80;
	wire_put24(bhs + 9, conn->serial);
	wire_put16(bhs + 12, (uint16_t)index);
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	memcpy(bhs + ISCSI_BHS_BYTES, text->at, text->used);
	mover_send(&conn->mover, slot, text->used, NULL, NULL);
}

static void
login_names(const struct iconn *conn, struct text_out *out)
{
	text_add(out, "InitiatorName", conn->initiator->options->name);
	text_add(out, "TargetName", conn->initiator->options->target);
	text_add(out, "SessionType", "Normal");
}

static void
login_operational(struct iconn *conn, bool names)
{
	static const char *const keys[][2] = {
		{ "HeaderDigest", "None" },
		{ "DataDigest", "None" },
		{ "MaxConnections", "1" },
		{ "InitialR2T", "Yes" },
		{ "ImmediateData", "No" },
		{ "MaxOutstandingR2T", "1" },
		{ "MaxBurstLength", "262144" },
		{ "DefaultTime2Wait", "0" },
		{ "DefaultTime2Retain", "0" },
		{ "ErrorRecoveryLevel", "0" },
		{ "RDMAExtensions", "Yes" },
		{ "InitiatorRecvDataSegmentLength", "8192" },
		{ "TargetRecvDataSegmentLength", "8192" },
	};
	char text[2048];
	struct text_out out = { .at = text, .size = sizeof text };

	if (names)
		login_names(conn, &out);
	for (unsigned int i = 0; i < sizeof keys / sizeof keys[0]; i++)
		text_add(&out, keys[i][0], keys[i][1]);
	iconn_set_state(conn, ICONN_OPERATIONAL);
	send_login(conn, PDU_FINAL | 1 << 2 | 3, &out);
}

void
ilogin_begin(struct iconn *conn)
{
	char text[1024];
	struct text_out out = { .at = text, .size = sizeof text };

	if (!conn->initiator->options->user) {
		login_operational(conn, true);
		return;
	}
	login_names(conn, &out);
	text_add(&out, "AuthMethod", "CHAP");
	iconn_set_state(conn, ICONN_SECURITY);
	send_login(conn, 0, &out);
}

static const char *
value_of(const struct text_pair *pairs, int count, const char *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

static void
answer_challenge(struct iconn *conn, const char *algorithm, const char *id, const char *challenge)
{
	const struct initiator_options *options = conn->initiator->options;
	unsigned char bytes[1024], response[CHAP_RESPONSE];
	char text[512], hex[2 * CHAP_RESPONSE + 3] = "0x";
	struct text_out out = { .at = text, .size = sizeof text };
	uint64_t method, number;
	int length = text_binary(challenge, bytes, sizeof bytes), n = -1;

	if (text_number(algorithm, 255, &method) && id && text_number(id, 255, &number) &&
	    length > 0)
		n = chap_respond((int)method, (unsigned char)number, options->secret, bytes,
		    (size_t)length, response);
	if (n < 0) {
		iconn_fail(conn, "the target's challenge makes no sense");
		return;
	}
	for (int i = 0; i < n; i++)
		sprintf(hex + 2 + 2 * i, "%02x", response[i]);
	text_add(&out, "CHAP_N", options->user);
	text_add(&out, "CHAP_R", hex);
	send_login(conn, PDU_FINAL | 1, &out);
}

static void
take_security(struct iconn *conn, const struct text_pair *pairs, int count, bool transit)
{
	const char *method = value_of(pairs, count, "AuthMethod");
	const char *challenge = value_of(pairs, count, "CHAP_C");
	const char *algorithm = value_of(pairs, count, "CHAP_A");
	char text[64];
	struct text_out out = { .at = text, .size = sizeof text };

	if (transit) {
		login_operational(conn, false);
	} else if (challenge && algorithm) {
		answer_challenge(conn, algorithm, value_of(pairs, count, "CHAP_I"), challenge);
	} else if (method && strcmp(method, "CHAP") == 0) {
		text_add(&out, "CHAP_A", "7,5");
		send_login(conn, 0, &out);
	} else {
		iconn_fail(conn, "the target does not take CHAP");
	}
}

void
ilogin_take(struct iconn *conn, unsigned char *pdu, size_t length)
{
	const unsigned int status = wire_get16(pdu + 36);
	const bool transit = pdu[PDU_FLAGS] & PDU_FINAL;
	struct text_pair pairs[TEXT_PAIRS];
	char why[64];
	int count;

	if (status != LOGIN_OK) {
		snprintf(why, sizeof why, "the target refuses the login: %s (0x%04x)",
		    status == LOGIN_NOT_AUTHENTICATED ? "not authenticated" :
		    status == LOGIN_NOT_FOUND	      ? "no such target" :
							"see RFC 7143, 11.13.5",
		    status);
		iconn_fail(conn, why);
		return;
	}
	count = text_split((char *)pdu + ISCSI_BHS_BYTES, wire_get24(pdu + PDU_DATA), pairs);
	(void)length; /* checked */
	if (count < 0) {
		iconn_fail(conn, "the target's answer to the login is no text");
	} else if (iconn_state(conn) == ICONN_SECURITY) {
		take_security(conn, pairs, count, transit);
	} else if (!transit || !value_of(pairs, count, "RDMAExtensions")) {
		iconn_fail(conn, "the target does not agree to RDMAExtensions=Yes");
	} else {
		iconn_set_state(conn, ICONN_PROBING);
		iprobe_ask(conn);
	}
}

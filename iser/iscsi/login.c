/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/login.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Offsets of a login request and its answer. */
enum {
	VERSION_MAX = 2,
	VERSION_MIN = 3,
	ISID = 8,
	TSIH = 14,
	CID = 20,
	STATUS = 36,
};

void
login_init(struct login *login)
{
	keys_init(&login->keys);
}

void
login_fini(struct login *login)
{
	free(login->text);
	login->text = NULL;
}

static enum login_stage
next_stage(const unsigned char *pdu)
{
	return pdu[PDU_FLAGS] & 3;
}

static enum login_stage
this_stage(const unsigned char *pdu)
{
	return pdu[PDU_FLAGS] >> 2 & 3;
}

/* What does not depend on the text. */
static enum login_status
check_header(struct login *login, const unsigned char *pdu)
{
	const bool transit = pdu[PDU_FLAGS] & PDU_FINAL, goes_on = pdu[PDU_FLAGS] & PDU_CONTINUE;
	const enum login_stage stage = this_stage(pdu), next = next_stage(pdu);

	if (pdu[VERSION_MIN] > 0)
		return LOGIN_VERSION;
	if (stage != LOGIN_SECURITY && stage != LOGIN_OPERATIONAL)
		return LOGIN_INVALID;
	if (++login->pdus > LOGIN_PDUS)
		return LOGIN_INITIATOR_ERROR;
	if (!login->begun) {
		if (wire_get16(pdu + TSIH) != 0) /* it asks for a further connection of a session */
			return LOGIN_TOO_MANY_CONNECTIONS;
		memcpy(login->isid, pdu + ISID, sizeof login->isid);
		login->cid = wire_get16(pdu + CID);
		login->itt = wire_get32(pdu + PDU_ITT);
		login->cmdsn = wire_get32(pdu + PDU_CMDSN);
		login->stage = stage;
		login->begun = true;
	}
	if (stage != login->stage)
		return LOGIN_INVALID;
	if (transit && (goes_on || next <= stage || next == 2))
		return LOGIN_INVALID;
	if (wire_get32(pdu + PDU_ITT) != login->itt || wire_get16(pdu + CID) != login->cid ||
	    memcmp(login->isid, pdu + ISID, sizeof login->isid) != 0)
		return LOGIN_INVALID;
	return LOGIN_OK;
}

/* Appends the data of a PDU to those before it. */
static enum login_status
collect(struct login *login, const unsigned char *pdu, size_t length)
{
	const size_t head = ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS];
	const size_t bytes = wire_get24(pdu + PDU_DATA);

	if (head + bytes > length || bytes > TEXT_BYTES - login->text_bytes)
		return LOGIN_INITIATOR_ERROR;
	if (!login->text)
		login->text = malloc(TEXT_BYTES);
	if (!login->text)
		return LOGIN_NO_RESOURCES;
	memcpy(login->text + login->text_bytes, pdu + head, bytes);
	login->text_bytes += bytes;
	return LOGIN_OK;
}

static const char *
value_of(const struct text_pair *pairs, int count, const char *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

/* The keys of the security stage. */
static enum login_status
authenticate(struct login *login, const struct text_pair *pairs, int count, struct text_out *out)
{
	const char *methods = value_of(pairs, count, "AuthMethod");
	const char *algorithms = value_of(pairs, count, "CHAP_A");
	const char *name = value_of(pairs, count, "CHAP_N");
	const char *response = value_of(pairs, count, "CHAP_R");
	char text[2 * CHAP_CHALLENGE + 3];

	if (methods && !login->secrets) {
		text_add(out, "AuthMethod", text_list_has(methods, "None") ? "None" : "Reject");
		return text_list_has(methods, "None") ? LOGIN_OK : LOGIN_NOT_AUTHENTICATED;
	}
	if (methods) {
		if (!text_list_has(methods, "CHAP"))
			return LOGIN_NOT_AUTHENTICATED;
		login->chap_chosen = true;
		text_add(out, "AuthMethod", "CHAP");
	}
	if (algorithms) {
		if (!login->chap_chosen || !chap_begin(&login->chap, algorithms))
			return LOGIN_NOT_AUTHENTICATED;
		text_add_number(out, "CHAP_A", (uint64_t)login->chap.algorithm);
		text_add_number(out, "CHAP_I", login->chap.id);
		text_add(out, "CHAP_C", chap_challenge_text(&login->chap, text));
		return LOGIN_OK; /* a response to an older challenge does not count */
	}
	if (name || response) {
		/* A challenge is used once.  One to this end would have to be answered. */
		bool right = login->chap.algorithm && name && response &&
			     !value_of(pairs, count, "CHAP_I") &&
			     chap_verify(&login->chap, login->secrets, name, response);

		login->chap.algorithm = 0;
		if (!right)
			return LOGIN_NOT_AUTHENTICATED;
		login->authenticated = true;
	}
	return LOGIN_OK;
}

static bool
is_of_security(const char *key)
{
	return strncmp(key, "CHAP_", 5) == 0 || strcmp(key, "AuthMethod") == 0;
}

/* Names, which the first request has to bring. */
static enum login_status
check_names(const struct login *login)
{
	if (!login->keys.initiator[0])
		return LOGIN_MISSING;
	if (login->keys.discovery)
		return LOGIN_OK;
	if (!login->keys.target[0])
		return LOGIN_MISSING;
	return strcasecmp(login->keys.target, login->target) == 0 ? LOGIN_OK : LOGIN_NOT_FOUND;
}

static enum login_status
take_pairs(struct login *login, const struct text_pair *pairs, int count, struct text_out *out)
{
	const bool operational = login->stage == LOGIN_OPERATIONAL;

	for (int i = 0; i < count; i++) {
		if (is_of_security(pairs[i].key)) {
			if (operational)
				return LOGIN_INITIATOR_ERROR;
			continue;
		}
		switch (keys_take(&login->keys, login->limits, operational, &pairs[i], out)) {
		case KEYS_ANSWERED:
			break;
		case KEYS_UNKNOWN:
			text_add(out, pairs[i].key, "NotUnderstood");
			break;
		case KEYS_TWICE:
		case KEYS_BAD:
		case KEYS_STAGE:
			return LOGIN_INITIATOR_ERROR;
		}
	}
	return LOGIN_OK;
}

static enum login_status
take_text(struct login *login, bool transit, enum login_stage next, struct text_out *out,
    bool *ret_transit)
{
	const bool first = !login->keys.initiator[0];
	struct text_pair pairs[TEXT_PAIRS];
	enum login_status status;
	int count = text_split(login->text, login->text_bytes, pairs);

	login->text_bytes = 0;
	if (count < 0)
		return LOGIN_INITIATOR_ERROR;
	status = take_pairs(login, pairs, count, out);
	if (status == LOGIN_OK)
		status = check_names(login);
	if (status == LOGIN_OK && first && !login->keys.discovery)
		text_add_number(out, "TargetPortalGroupTag", login->portal_group);
	if (status == LOGIN_OK && login->stage == LOGIN_SECURITY)
		status = authenticate(login, pairs, count, out);
	if (status != LOGIN_OK)
		return status;
	if (login->secrets && !login->authenticated) {
		if (login->stage != LOGIN_SECURITY)
			return LOGIN_NOT_AUTHENTICATED;
		*ret_transit = false;
		return LOGIN_OK;
	}
	if (transit && next == LOGIN_FULL_FEATURE && !login->keys.discovery && !login->keys.rdma)
		return LOGIN_INITIATOR_ERROR; /* RFC 7145 6.3: without it this is no iSER */
	*ret_transit = transit;
	return LOGIN_OK;
}

enum login_status
login_take(struct login *login, const unsigned char *pdu, size_t length,
    unsigned char answer[ISCSI_BHS_BYTES], char *data, size_t *ret_bytes)
{
	const bool goes_on = pdu[PDU_FLAGS] & PDU_CONTINUE;
	struct text_out out = { .at = data, .size = LOGIN_ANSWER_BYTES };
	enum login_status status;
	bool transit = false;

	status = check_header(login, pdu);
	if (status == LOGIN_OK)
		status = collect(login, pdu, length);
	if (status == LOGIN_OK && !goes_on)
		status =
		    take_text(login, pdu[PDU_FLAGS] & PDU_FINAL, next_stage(pdu), &out, &transit);
	if (status == LOGIN_OK && out.overflow)
		status = LOGIN_INITIATOR_ERROR;

	memset(answer, 0, ISCSI_BHS_BYTES);
	answer[0] = PDU_LOGIN_ANSWER;
	answer[PDU_FLAGS] =
	    (unsigned char)((pdu[PDU_FLAGS] & 0x0c) | (transit ? PDU_FINAL | next_stage(pdu) : 0));
	memcpy(answer + ISID, pdu + ISID, sizeof login->isid);
	memcpy(answer + PDU_ITT, pdu + PDU_ITT, 4);
	wire_put16(answer + STATUS, (uint16_t)status);
	*ret_bytes = status == LOGIN_OK ? out.used : 0;
	wire_put24(answer + PDU_DATA, (uint32_t)*ret_bytes);
	if (transit)
		login->stage = next_stage(pdu);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/discovery.h"

#include "iser/iscsi/session.h"
#include "iser/iscsi/target.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_TAG 1 /* of a text request that goes on: one at a time */

/* The address where the initiator has found this target. */
static void
own_address(struct session *session, char *text, size_t size)
{
	DAT_EP_PARAM param;
	const struct sockaddr *address = NULL;
	char number[INET6_ADDRSTRLEN];

	snprintf(text, size, "127.0.0.1");
	if (dat_ep_query(session->mover.ep, DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, &param) ==
	    DAT_SUCCESS)
		address = (const struct sockaddr *)(const void *)param.local_ia_address_ptr;
	if (!address)
		return;
	if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
		    number, sizeof number);
		snprintf(text, size, "%s", number);
	} else if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6,
		    &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, number,
		    sizeof number);
		snprintf(text, size, "[%s]", number);
	}
}

static void
send_targets(struct session *session, const char *which, struct text_out *out)
{
	const struct target_options *options = session->target->options;
	char own[64], value[128];

	/* All is for discovery sessions; an empty value is the target of the session. */
	if (session->discovery ?
		strcmp(which, "All") != 0 && strcasecmp(which, options->name) != 0 :
		*which && strcasecmp(which, options->name) != 0) {
		if (strcmp(which, "All") == 0)
			text_add(out, "SendTargets", "Reject");
		return;
	}
	text_add(out, "TargetName", options->name);
	own_address(session, own, sizeof own);
	for (unsigned int i = 0; i < options->portal_count; i++) {
		const struct portal *portal = &options->portals[i];

		snprintf(value, sizeof value, "%s:%u,%u",
		    portal->address[0] ? portal->address : own, portal->port, TARGET_PORTAL_GROUP);
		text_add(out, "TargetAddress", value);
	}
}

static bool
answer(struct session *session, struct text_out *out)
{
	struct text_pair pairs[TEXT_PAIRS];
	int count = text_split(session->text, session->text_bytes, pairs);

	for (int i = 0; i < count; i++) {
		if (strcmp(pairs[i].key, "SendTargets") == 0)
			send_targets(session, pairs[i].value, out);
		else
			text_add(out, pairs[i].key, "NotUnderstood");
	}
	return count >= 0 && !out->overflow;
}

/* Appends the data of the PDU to those before it. */
static bool
collect(struct session *session, const unsigned char *pdu)
{
	const uint32_t bytes = wire_get24(pdu + PDU_DATA);

	if (wire_get32(pdu + PDU_TTT) == PDU_NO_TAG)
		session->text_bytes = 0; /* a new request ends one that went on */
	else if (!session->text || wire_get32(pdu + PDU_TTT) != TEXT_TAG)
		return false;
	if (!session->text)
		session->text = malloc(TEXT_BYTES);
	if (!session->text || bytes > TEXT_BYTES - session->text_bytes)
		return false;
	memcpy(
	    session->text + session->text_bytes, pdu + ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS], bytes);
	session->text_bytes += bytes;
	return true;
}

void
discovery_text(struct session *session, const unsigned char *pdu)
{
	const bool goes_on = pdu[PDU_FLAGS] & PDU_CONTINUE;
	char data[LOGIN_ANSWER_BYTES];
	struct text_out out = { .at = data, .size = sizeof data };
	unsigned char *bhs;
	unsigned int slot;

	if (out.size > session->initiator_recv)
		out.size = session->initiator_recv;
	if ((goes_on && pdu[PDU_FLAGS] & PDU_FINAL) || !collect(session, pdu) ||
	    (!goes_on && !answer(session, &out))) {
		session_reject(session, REJECT_PROTOCOL, pdu);
		return;
	}
	bhs = session_answer(session, PDU_TEXT_ANSWER, wire_get32(pdu + PDU_ITT), out.used, &slot);
	if (!bhs)
		return;
	if (goes_on)
		bhs[PDU_FLAGS] = 0;
	wire_put32(bhs + PDU_TTT, goes_on ? TEXT_TAG : PDU_NO_TAG);
	memcpy(bhs + ISCSI_BHS_BYTES, data, out.used);
	session_send(session, bhs, slot, out.used, true, NULL);
	if (!goes_on) {
		free(session->text);
		session->text = NULL;
	}
}

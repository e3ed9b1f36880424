/* SPDX-License-Identifier: BSD-3-Clause */
/* The login of rearm-iser-target: text, keys, CHAP, and PDUs that mean harm. */
#include "lib/runner.h"

#include "iser/iscsi/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "iqn.2026-11.test:target"
#define BOTH "InitiatorName=iqn.2026-11.test:me|TargetName=" NAME "|"

/* Stages of a login request, and whether it goes on to the next. */
enum {
	SEC = 0x00,
	SEC_OPS = 0x81,
	SEC_FULL = 0x83,
	OPS = 0x04,
	OPS_FULL = 0x87,
	OPS_MORE = 0x44,
};

static const struct keys_limits limits = {
	.initial_r2t = true,
	.max_burst = 1 << 20,
	.first_burst = 64 << 10,
	.target_recv = 8192,
	.initiator_recv = 4096,
	.unexpected = 64,
};

struct step {
	unsigned char flags;
	const char *text; /* | stands for the 0 behind a pair */
	unsigned int status;
	unsigned char answer_flags;
	const char *answer;
};

/* clang-format off */
static const struct dialogue {
	const char *name;
	bool secrets;
	struct step steps[4];
} dialogues[] = {
	{ "libiscsi's", false, {
		{ OPS_FULL, BOTH "SessionType=Normal|HeaderDigest=None|DataDigest=None|InitialR2T=No|ImmediateData=Yes|"
			"MaxBurstLength=262144|FirstBurstLength=262144|MaxRecvDataSegmentLength=8192|DataPDUInOrder=Yes|"
			"DefaultTime2Wait=2|DefaultTime2Retain=0|IFMarker=No|OFMarker=No|MaxConnections=1|MaxOutstandingR2T=1|"
			"ErrorRecoveryLevel=0|DataSequenceInOrder=Yes|RDMAExtensions=Yes|InitiatorRecvDataSegmentLength=8192|"
			"TargetRecvDataSegmentLength=8192|", LOGIN_OK, OPS_FULL,
			"HeaderDigest=None|DataDigest=None|InitialR2T=Yes|ImmediateData=Yes|MaxBurstLength=262144|"
			"FirstBurstLength=65536|DataPDUInOrder=Yes|DefaultTime2Wait=2|DefaultTime2Retain=0|IFMarker=No|OFMarker=No|"
			"MaxConnections=1|MaxOutstandingR2T=1|ErrorRecoveryLevel=0|DataSequenceInOrder=Yes|RDMAExtensions=Yes|"
			"InitiatorRecvDataSegmentLength=4096|TargetRecvDataSegmentLength=8192|TargetPortalGroupTag=1|" } } },
	{ "in two stages", false, {
		{ SEC_OPS, BOTH "AuthMethod=CHAP,None|", LOGIN_OK, SEC_OPS, "TargetPortalGroupTag=1|AuthMethod=None|" },
		{ OPS_FULL, "RDMAExtensions=Yes|", LOGIN_OK, OPS_FULL, "RDMAExtensions=Yes|" } } },
	{ "past the operational stage", false, {
		{ SEC_FULL, BOTH, LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "of a discovery", false, {
		{ OPS_FULL, "InitiatorName=iqn.x:y|SessionType=Discovery|", LOGIN_OK, OPS_FULL, "" } } },
	{ "in pieces", false, {
		{ OPS_MORE, BOTH "RDMAExt", LOGIN_OK, 0x04, "" },
		{ OPS_FULL, "ensions=Yes|", LOGIN_OK, OPS_FULL, "RDMAExtensions=Yes|TargetPortalGroupTag=1|" } } },
	{ "what is unknown or odd", false, {
		{ OPS, BOTH "X-com.example=1|MaxBurstLength=511|MaxConnections=Yes|InitialR2T=1|HeaderDigest=CRC32C|"
			"OFMarkInt=1~2|TaskReporting=FastAbort,RFC3720|MaxOutstandingUnexpectedPDUs=5|iSERHelloRequired=Yes|",
			LOGIN_OK, OPS,
			"X-com.example=NotUnderstood|MaxBurstLength=Reject|MaxConnections=Reject|InitialR2T=Reject|"
			"HeaderDigest=Reject|OFMarkInt=Irrelevant|TaskReporting=RFC3720|MaxOutstandingUnexpectedPDUs=64|"
			"iSERHelloRequired=No|TargetPortalGroupTag=1|" } } },
	{ "twice", false, { { OPS, BOTH "InitialR2T=Yes|InitialR2T=No|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "no pair", false, { { OPS, BOTH "InitialR2T|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "no end", false, { { OPS, "InitiatorName=iqn.x:y", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "a control character", false, { { OPS, "InitiatorName=iqn.\033x|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "no name", false, { { OPS, "TargetName=" NAME "|", LOGIN_MISSING, 0, "" } } },
	{ "no target", false, { { OPS, "InitiatorName=iqn.x:y|", LOGIN_MISSING, 0, "" } } },
	{ "another target", false, { { OPS, "InitiatorName=iqn.x:y|TargetName=iqn.x:z|", LOGIN_NOT_FOUND, 0, "" } } },
	{ "a declaration that makes no sense", false, {
		{ OPS, BOTH "MaxRecvDataSegmentLength=1|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "back to an earlier stage", false, {
		{ OPS, BOTH, LOGIN_OK, OPS, "TargetPortalGroupTag=1|" }, { SEC_OPS, "", LOGIN_INVALID, 0, "" } } },
	{ "to stage 2", false, { { 0x82, BOTH, LOGIN_INVALID, 0, "" } } },
	{ "to the same stage", false, { { 0x85, BOTH, LOGIN_INVALID, 0, "" } } },
	{ "an operational key in the security stage", false, {
		{ SEC, BOTH "InitialR2T=No|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "a security key in the operational stage", false, {
		{ OPS, BOTH "AuthMethod=None|", LOGIN_INITIATOR_ERROR, 0, "" } } },
	{ "CHAP is due, and the stage left out", true, {
		{ OPS_FULL, BOTH "RDMAExtensions=Yes|", LOGIN_NOT_AUTHENTICATED, 0, "" } } },
	{ "CHAP is due, and not offered", true, { { SEC_OPS, BOTH "AuthMethod=None|", LOGIN_NOT_AUTHENTICATED, 0, "" } } },
	{ "CHAP is due, and passed over", true, {
		{ SEC_OPS, BOTH "AuthMethod=CHAP|", LOGIN_OK, SEC, "TargetPortalGroupTag=1|AuthMethod=CHAP|" },
		{ SEC_FULL, "", LOGIN_OK, SEC, "" },
		{ OPS_FULL, "RDMAExtensions=Yes|", LOGIN_INVALID, 0, "" } } },
	{ "an answer without a challenge", true, {
		{ SEC, BOTH "AuthMethod=CHAP|", LOGIN_OK, SEC, "TargetPortalGroupTag=1|AuthMethod=CHAP|" },
		{ SEC_OPS, "CHAP_N=me|CHAP_R=0x00|", LOGIN_NOT_AUTHENTICATED, 0, "" } } },
	{ "an algorithm that is unknown", true, {
		{ SEC, BOTH "AuthMethod=CHAP|", LOGIN_OK, SEC, "TargetPortalGroupTag=1|AuthMethod=CHAP|" },
		{ SEC, "CHAP_A=6|", LOGIN_NOT_AUTHENTICATED, 0, "" } } },
};
/* clang-format on */

#define DIALOGUES ((int)(sizeof dialogues / sizeof dialogues[0]))

static size_t
encode(unsigned char *pdu, const struct step *step)
{
	const size_t bytes = strlen(step->text);

	memset(pdu, 0, ISCSI_BHS_BYTES);
	pdu[0] = PDU_LOGIN | PDU_IMMEDIATE;
	pdu[PDU_FLAGS] = step->flags;
	wire_put24(pdu + PDU_DATA, (uint32_t)bytes);
	memcpy(pdu + ISCSI_BHS_BYTES, step->text, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (pdu[ISCSI_BHS_BYTES + i] == '|')
			pdu[ISCSI_BHS_BYTES + i] = 0;
	return ISCSI_BHS_BYTES + bytes;
}

static struct chap_secrets *
load_secrets(void)
{
	char path[] = "/tmp/test-iser-XXXXXX";
	static const char text[] = "# who\n\nother x\nme  open sesame\n";
	static const char good[] = "# who\n\nother x\n  me  sesame \n";
	struct chap_secrets *secrets = NULL;
	unsigned int line;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof text - 1), (int)sizeof text - 1);
	ck_assert_int_lt(chap_load(path, &secrets, &line), 0);
	ck_assert_uint_eq(line, 4);
	ck_assert_int_eq(pwrite(fd, good, sizeof good - 1, 0), (int)sizeof good - 1);
	ck_assert_int_eq(ftruncate(fd, sizeof good - 1), 0);
	ck_assert_int_eq(fchmod(fd, 0644), 0);
	ck_assert_int_lt(chap_load(path, &secrets, &line), 0); /* others can read it */
	ck_assert_int_eq(fchmod(fd, 0600), 0);
	ck_assert_int_eq(chap_load(path, &secrets, &line), 0);
	close(fd);
	unlink(path);
	return secrets;
}

static void
begin(struct login *login, const struct chap_secrets *secrets)
{
	*login = (struct login){
		.target = NAME, .portal_group = 1, .secrets = secrets, .limits = &limits
	};
	login_init(login);
}

static enum login_status
take(struct login *login, const struct step *step, unsigned char *answer, char *data, size_t *bytes)
{
	unsigned char pdu[ISCSI_BHS_BYTES + 2048];
	enum login_status status = login_take(login, pdu, encode(pdu, step), answer, data, bytes);

	for (size_t i = 0; i < *bytes; i++)
		if (!data[i])
			data[i] = '|';
	data[*bytes] = '\0';
	return status;
}

CASE("iser-login:login");

TEST_LOOP(login__dialogue__is_answered_as_the_standards_say, DIALOGUES)
{
	const struct dialogue *dialogue = &dialogues[_i];
	struct chap_secrets *secrets = load_secrets();
	unsigned char answer[ISCSI_BHS_BYTES];
	char data[LOGIN_ANSWER_BYTES + 1];
	struct login login;
	size_t bytes;

	begin(&login, dialogue->secrets ? secrets : NULL);
	for (const struct step *step = dialogue->steps; step->text; step++) {
		enum login_status status = take(&login, step, answer, data, &bytes);

		ck_assert_msg(status == step->status, "%s: status %x", dialogue->name, status);
		ck_assert_msg(strcmp(data, step->answer) == 0, "%s: %s", dialogue->name, data);
		ck_assert_uint_eq(wire_get16(answer + 36), step->status);
		if (status == LOGIN_OK)
			ck_assert_msg(answer[PDU_FLAGS] == step->answer_flags, "%s: flags %x",
			    dialogue->name, answer[PDU_FLAGS]);
	}
	login_fini(&login);
	chap_free(secrets);
}

/* The exchange of CHAP up to its last request: the status of that. */
static enum login_status
chap_exchange(
    struct chap_secrets *secrets, const char *algorithms, const char *name, const char *secret)
{
	const struct step offer = { SEC, BOTH "AuthMethod=CHAP|", 0, 0, NULL };
	unsigned char answer[ISCSI_BHS_BYTES], challenge[CHAP_CHALLENGE], response[CHAP_RESPONSE];
	char data[LOGIN_ANSWER_BYTES + 1], text[256], hex[65], digits[2 * CHAP_CHALLENGE + 3];
	struct step step = { SEC, text, 0, 0, NULL };
	unsigned int algorithm, id;
	enum login_status status;
	struct login login;
	size_t bytes;
	int n;

	begin(&login, secrets);
	ck_assert_uint_eq(take(&login, &offer, answer, data, &bytes), LOGIN_OK);
	snprintf(text, sizeof text, "CHAP_A=%s|", algorithms);
	ck_assert_uint_eq(take(&login, &step, answer, data, &bytes), LOGIN_OK);
	ck_assert_int_eq(
	    sscanf(data, "CHAP_A=%u|CHAP_I=%u|CHAP_C=%66[^|]", &algorithm, &id, digits), 3);
	ck_assert_int_eq(text_binary(digits, challenge, sizeof challenge), CHAP_CHALLENGE);
	ck_assert_uint_eq(algorithm, strstr(algorithms, "7") ? 7 : 5);
	n = chap_respond(
	    (int)algorithm, (unsigned char)id, secret, challenge, CHAP_CHALLENGE, response);
	ck_assert_int_eq(n, algorithm == 7 ? 32 : 16);
	for (int i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", response[i]);
	snprintf(text, sizeof text, "CHAP_N=%s|CHAP_R=0x%s|", name, hex);
	step.flags = SEC_OPS;
	status = take(&login, &step, answer, data, &bytes);
	ck_assert_int_eq(login.stage == LOGIN_OPERATIONAL, status == LOGIN_OK);
	/* The same answer again is none. */
	step.flags = SEC;
	if (status == LOGIN_OK) {
		login.stage = LOGIN_SECURITY;
		ck_assert_uint_eq(
		    take(&login, &step, answer, data, &bytes), LOGIN_NOT_AUTHENTICATED);
	}
	login_fini(&login);
	return status;
}

TEST(chap__only_who_knows_the_secret__is_let_in)
{
	struct chap_secrets *secrets = load_secrets();

	ck_assert_uint_eq(chap_exchange(secrets, "5", "me", "sesame"), LOGIN_OK);
	ck_assert_uint_eq(chap_exchange(secrets, "6,7,5", "me", "sesame"), LOGIN_OK);
	ck_assert_uint_eq(chap_exchange(secrets, "7", "me", "sesamf"), LOGIN_NOT_AUTHENTICATED);
	ck_assert_uint_eq(chap_exchange(secrets, "5", "other", "sesame"), LOGIN_NOT_AUTHENTICATED);
	ck_assert_uint_eq(chap_exchange(secrets, "5", "stranger", "x"), LOGIN_NOT_AUTHENTICATED);
	chap_free(secrets);
}

/* clang-format off */
static const struct {
	const char *text;
	int size, bytes;
	unsigned char first;
} binaries[] = {
	{ "0x0102", 8, 2, 0x01 }, { "0x102", 8, 2, 0x01 }, { "0XfF", 8, 1, 0xff }, { "0x", 8, -1, 0 }, { "0xg0", 8, -1, 0 },
	{ "0x010203", 2, -1, 0 }, { "0bAQI=", 8, 2, 0x01 }, { "0bAQID", 8, 3, 0x01 }, { "0bA", 8, -1, 0 },
	{ "0bAQ!D", 8, -1, 0 }, { "0bAQID", 2, -1, 0 }, { "12", 8, -1, 0 }, { "", 8, -1, 0 },
};
/* clang-format on */

TEST_LOOP(text_binary__hexadecimal_and_base64__are_bytes, (sizeof binaries / sizeof binaries[0]))
{
	unsigned char bytes[8];
	int n = text_binary(binaries[_i].text, bytes, (size_t)binaries[_i].size);

	ck_assert_int_eq(n < 0 ? -1 : n, binaries[_i].bytes);
	if (n > 0)
		ck_assert_uint_eq(bytes[0], binaries[_i].first);
}

TEST(login__too_much_text__is_refused)
{
	struct step step = { OPS_MORE, NULL, 0, 0, NULL };
	unsigned char answer[ISCSI_BHS_BYTES];
	char data[LOGIN_ANSWER_BYTES + 1], text[1001];
	enum login_status status = LOGIN_OK;
	struct login login;
	size_t bytes;
	int n;

	memset(text, 'a', 1000);
	text[1000] = '\0';
	step.text = text;
	begin(&login, NULL);
	for (n = 0; n < 100 && status == LOGIN_OK; n++)
		status = take(&login, &step, answer, data, &bytes);
	ck_assert_int_eq(n, 17);
	login_fini(&login);

	/* No progress is made either. */
	step.text = "";
	begin(&login, NULL);
	for (n = 0, status = LOGIN_OK; n < 100 && status == LOGIN_OK; n++)
		status = take(&login, &step, answer, data, &bytes);
	ck_assert_int_eq(n, LOGIN_PDUS + 1);
	login_fini(&login);
}

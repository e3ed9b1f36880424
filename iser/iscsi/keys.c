/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/keys.h"

#include <stdio.h>
#include <string.h>

/* How the answer follows from both sides. */
enum rule {
	LEAST, /* numbers */
	MOST,
	AND, /* booleans */
	OR,
	DECLARE, /* a number of the initiator, without an answer */
	FLAG,	 /* a boolean of the initiator, without an answer */
	ECHO,	 /* ... whose answer is this end's declaration */
	CHOICE,	 /* a list, of which one value is possible */
	DEAD,	 /* a key of RFC 3720 that has no meaning any more */
	NAME,	 /* a string of the initiator */
	TYPE,	 /* SessionType */
};

struct row {
	const char *key;
	enum rule rule;
	bool any_stage;
	uint32_t least, most; /* of numbers */
	uint64_t ours;	      /* unless `limit` says where it is */
	size_t limit;	      /* offset + 1 of a uint32_t in struct keys_limits */
	size_t field;	      /* offset + 1 in struct keys */
	uint64_t standard;    /* the default of the standard */
	const char *word;     /* the value that is possible */
};

#define FIELD(name) (offsetof(struct keys, name) + 1)
#define LIMIT(name) (offsetof(struct keys_limits, name) + 1)
#define MAX24 0xffffff

/* clang-format off */
static const struct row rows[] = {
	{ "MaxConnections",         LEAST, false, 1, 65535, 1, 0, FIELD(max_connections), 1, NULL },
	{ "InitialR2T",             OR, false, 0, 0, 1, 0, FIELD(initial_r2t), 1, NULL },
	{ "ImmediateData",          AND, false, 0, 0, 1, 0, FIELD(immediate_data), 1, NULL },
	{ "MaxBurstLength",         LEAST, false, 512, MAX24, 0, LIMIT(max_burst), FIELD(max_burst), 262144, NULL },
	{ "FirstBurstLength",       LEAST, false, 512, MAX24, 0, LIMIT(first_burst), FIELD(first_burst), 65536, NULL },
	{ "DefaultTime2Wait",       MOST, false, 0, 3600, 2, 0, FIELD(time_to_wait), 2, NULL },
	{ "DefaultTime2Retain",     LEAST, false, 0, 3600, 0, 0, FIELD(time_to_retain), 20, NULL },
	{ "MaxOutstandingR2T",      LEAST, false, 1, 65535, 1, 0, FIELD(outstanding_r2t), 1, NULL },
	{ "DataPDUInOrder",         OR, false, 0, 0, 1, 0, FIELD(pdus_in_order), 1, NULL },
	{ "DataSequenceInOrder",    OR, false, 0, 0, 1, 0, FIELD(sequences_in_order), 1, NULL },
	{ "ErrorRecoveryLevel",     LEAST, false, 0, 2, 0, 0, FIELD(recovery_level), 0, NULL },
	{ "iSCSIProtocolLevel",     LEAST, false, 0, 31, 1, 0, FIELD(protocol_level), 1, NULL },
	{ "MaxRecvDataSegmentLength", DECLARE, false, 512, MAX24, 0, 0, FIELD(max_recv), 8192, NULL },
	{ "HeaderDigest",           CHOICE, false, 0, 0, 0, 0, 0, 0, "None" },
	{ "DataDigest",             CHOICE, false, 0, 0, 0, 0, 0, 0, "None" },
	{ "TaskReporting",          CHOICE, false, 0, 0, 0, 0, 0, 0, "RFC3720" },
	{ "IFMarker",               AND, false, 0, 0, 0, 0, 0, 0, NULL },
	{ "OFMarker",               AND, false, 0, 0, 0, 0, 0, 0, NULL },
	{ "IFMarkInt",              DEAD, false, 0, 0, 0, 0, 0, 0, "Irrelevant" },
	{ "OFMarkInt",              DEAD, false, 0, 0, 0, 0, 0, 0, "Irrelevant" },
	{ "InitiatorName",          NAME, true, 0, 0, 0, 0, FIELD(initiator), 0, NULL },
	{ "TargetName",             NAME, true, 0, 0, 0, 0, FIELD(target), 0, NULL },
	{ "InitiatorAlias",         NAME, true, 0, 0, 0, 0, 0, 0, NULL },
	{ "SessionType",            TYPE, true, 0, 0, 0, 0, 0, 0, NULL },
	/* RFC 7145 */
	{ "RDMAExtensions",         AND, false, 0, 0, 1, 0, FIELD(rdma), 0, NULL },
	{ "TargetRecvDataSegmentLength", LEAST, false, 512, MAX24, 0, LIMIT(target_recv), FIELD(target_recv), 8192, NULL },
	{ "InitiatorRecvDataSegmentLength", LEAST, false, 512, MAX24, 0, LIMIT(initiator_recv), FIELD(initiator_recv), 8192, NULL },
	{ "iSERHelloRequired",      AND, false, 0, 0, 0, 0, FIELD(hello_required), 0, NULL },
	{ "MaxAHSLength",           DECLARE, false, 0, UINT32_MAX, 0, 0, FIELD(ahs), 256, NULL },
	{ "TaggedBufferForSolicitedDataOnly", FLAG, false, 0, 0, 0, 0, FIELD(tagged_solicited_only), 0, NULL },
	{ "MaxOutstandingUnexpectedPDUs", ECHO, false, 0, UINT32_MAX, 0, LIMIT(unexpected), FIELD(unexpected), 0, NULL },
};
/* clang-format on */

#define ROWS (sizeof rows / sizeof rows[0])

_Static_assert(ROWS <= 64, "a row has a bit in struct keys");

static uint64_t *
number_of(struct keys *keys, const struct row *row)
{
	return row->field ? (uint64_t *)(void *)((char *)keys + row->field - 1) : NULL;
}

static bool
is_number(const struct row *row)
{
	return row->rule <= ECHO;
}

void
keys_init(struct keys *keys)
{
	memset(keys, 0, sizeof *keys);
	for (unsigned int i = 0; i < ROWS; i++)
		if (is_number(&rows[i]) && rows[i].field)
			*number_of(keys, &rows[i]) = rows[i].standard;
}

static uint64_t
ours_of(const struct row *row, const struct keys_limits *limits)
{
	if (strcmp(row->key, "InitialR2T") == 0)
		return limits->initial_r2t;
	return row->limit ?
		   *(const uint32_t *)(const void *)((const char *)limits + row->limit - 1) :
		   row->ours;
}

static void
store(struct keys *keys, const struct row *row, uint64_t value)
{
	if (row->field)
		*number_of(keys, row) = value;
}

static enum keys_result
take_boolean(struct keys *keys, const struct row *row, uint64_t ours, const char *value,
    struct text_out *out)
{
	bool theirs, both;

	if (!text_boolean(value, &theirs)) {
		if (row->rule == FLAG)
			return KEYS_BAD;
		text_add(out, row->key, "Reject");
		return KEYS_ANSWERED;
	}
	both = row->rule == AND ? theirs && ours : row->rule == OR ? theirs || ours : theirs;
	store(keys, row, both);
	if (row->rule != FLAG)
		text_add(out, row->key, both ? "Yes" : "No");
	return KEYS_ANSWERED;
}

static enum keys_result
take_number(struct keys *keys, const struct row *row, uint64_t ours, const char *value,
    struct text_out *out)
{
	bool declared = row->rule == DECLARE || row->rule == ECHO;
	uint64_t theirs;

	if (!text_number(value, row->most, &theirs) || theirs < row->least) {
		if (declared)
			return KEYS_BAD;
		text_add(out, row->key, "Reject");
		return KEYS_ANSWERED;
	}
	if (declared) {
		store(keys, row, theirs);
		if (row->rule == ECHO)
			text_add_number(out, row->key, ours);
		return KEYS_ANSWERED;
	}
	if (row->rule == LEAST ? ours < theirs : ours > theirs)
		theirs = ours;
	store(keys, row, theirs);
	text_add_number(out, row->key, theirs);
	return KEYS_ANSWERED;
}

static enum keys_result
take_string(struct keys *keys, const struct row *row, const char *value, struct text_out *out)
{
	switch (row->rule) {
	case CHOICE:
		text_add(out, row->key, text_list_has(value, row->word) ? row->word : "Reject");
		return KEYS_ANSWERED;
	case DEAD:
		text_add(out, row->key, row->word);
		return KEYS_ANSWERED;
	case TYPE:
		keys->discovery = strcmp(value, "Discovery") == 0;
		return keys->discovery || strcmp(value, "Normal") == 0 ? KEYS_ANSWERED : KEYS_BAD;
	default: /* NAME */
		if (!*value || strlen(value) > (row->field ? KEYS_NAME_BYTES : 255))
			return KEYS_BAD;
		if (row->field)
			snprintf((char *)keys + row->field - 1, KEYS_NAME_BYTES + 1, "%s", value);
		return KEYS_ANSWERED;
	}
}

enum keys_result
keys_take(struct keys *keys, const struct keys_limits *limits, bool operational,
    const struct text_pair *pair, struct text_out *out)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		uint64_t ours;

		if (strcmp(pair->key, row->key) != 0)
			continue;
		if (keys->seen >> i & 1)
			return KEYS_TWICE;
		if (!operational && !row->any_stage)
			return KEYS_STAGE;
		keys->seen |= UINT64_C(1) << i;
		ours = ours_of(row, limits);
		if (row->rule == AND || row->rule == OR || row->rule == FLAG)
			return take_boolean(keys, row, ours, pair->value, out);
		if (is_number(row))
			return take_number(keys, row, ours, pair->value, out);
		return take_string(keys, row, pair->value, out);
	}
	return KEYS_UNKNOWN;
}

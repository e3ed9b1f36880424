/* SPDX-License-Identifier: BSD-3-Clause */
#include "incidents.h"
#include "errors.h"

#include <stdio.h>
#include <string.h>

#define INCIDENTS_VALUES(...) \
	{ \
		__VA_ARGS__ \
	}
#define INCIDENTS_LINE(identifier_, name_, kind_, takes_, values_, clause_) \
	{ .name = (name_), \
		.kind = SOFT_##kind_, \
		.takes = SOFT_TAKES_##takes_, \
		.values = INCIDENTS_VALUES values_, \
		.clause = (clause_) },

/* clang-format off */
const struct soft_incident_line soft_incidents[SOFT_INCIDENT_COUNT] = { SOFT_INCIDENTS(INCIDENTS_LINE) };
/* clang-format on */

#define STATUS(name) [IBV_WC_##name] = #name

static const char *const statuses[] = {
	STATUS(LOC_LEN_ERR),
	STATUS(LOC_QP_OP_ERR),
	STATUS(LOC_PROT_ERR),
	STATUS(MW_BIND_ERR),
	STATUS(BAD_RESP_ERR),
	STATUS(REM_INV_REQ_ERR),
	STATUS(REM_ACCESS_ERR),
	STATUS(RETRY_EXC_ERR),
	STATUS(RNR_RETRY_EXC_ERR),
	STATUS(FATAL_ERR),
	STATUS(GENERAL_ERR),
};

const char *
soft_incident_key(enum soft_incident incident)
{
	switch (soft_incidents[incident].kind) {
	case SOFT_COMPLETES:
		return "status";
	case SOFT_ANSWERS:
		return "errno";
	case SOFT_REJECTS:
		return "reason";
	case SOFT_HAPPENS:
	case SOFT_OCCURS:
		break;
	}
	return NULL;
}

const char *
soft_incident_value_name(enum soft_incident incident, int value, char *text, size_t size)
{
	if (soft_incidents[incident].kind == SOFT_COMPLETES)
		snprintf(text, size, "%s", statuses[value]);
	else if (soft_incidents[incident].kind == SOFT_ANSWERS)
		snprintf(text, size, "%s", soft_error_name(value));
	else
		snprintf(text, size, "%d", value);
	return text;
}

int
soft_incident_value_find(enum soft_incident incident, const char *name, size_t length)
{
	const int *values = soft_incidents[incident].values;
	char text[32];

	for (; *values; values++) {
		soft_incident_value_name(incident, *values, text, sizeof text);
		if (strlen(text) == length && !strncmp(text, name, length))
			return *values;
	}
	return 0;
}

const char *
soft_incident_values(enum soft_incident incident, char *text, size_t size)
{
	const int *values = soft_incidents[incident].values;
	size_t length = 0;
	char name[32];

	snprintf(text, size, "-");
	for (unsigned int i = 0; i < SOFT_INCIDENT_VALUES && values[i] && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
		    !i		  ? "" :
		    values[i + 1] ? ", " :
				    " or ",
		    soft_incident_value_name(incident, values[i], name, sizeof name));
	return text;
}

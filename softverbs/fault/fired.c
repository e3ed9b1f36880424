/* SPDX-License-Identifier: BSD-3-Clause */
#include "fired.h"
#include "process.h"
#include "softverbs/device/soft.h"

#include <stdarg.h>
#include <stdio.h>

unsigned int
soft_fired(const char *tail, const char *format, ...)
{
	const unsigned int i = soft_record->fired++;
	struct soft_recorded_fault *fault;
	va_list arguments;

	if (i >= SOFT_RECORD_FIRED)
		return i;
	fault = &soft_record->faults[i];
	fault->process = soft_fault_number();
	va_start(arguments, format);
	vsnprintf(fault->head, sizeof fault->head, format, arguments);
	va_end(arguments);
	snprintf(fault->tail, sizeof fault->tail, "%s", tail);
	fault->written = true;
	return i;
}

void
soft_fired_undo(unsigned int which)
{
	unsigned int end = which + 1;

	if (which < SOFT_RECORD_FIRED)
		soft_record->faults[which].written = false;
	/* Its place is free for the next one, unless another has fired meanwhile. */
	if (atomic_compare_exchange_strong(&soft_record->fired, &end, which))
		return;
	soft_record->undone++;
	if (which >= SOFT_RECORD_FIRED)
		soft_record->undone_late++;
}

const char *
soft_fired_parts(enum soft_incident incident, const struct soft_rule *rule, int value,
    char text[SOFT_RECORD_TAIL])
{
	const double second = SOFT_SECOND;
	size_t length = 0;
	char name[32];

#define PART(...) length += (size_t)snprintf(text + length, SOFT_RECORD_TAIL - length, __VA_ARGS__)
	*text = '\0';
	if (soft_incident_key(incident))
		PART(":%s=%s", soft_incident_key(incident),
		    soft_incident_value_name(incident, value, name, sizeof name));
	if (rule->lasts)
		PART(":for=%.9f", (double)rule->lasts / second);
	if (rule->time)
		PART(":time=%.9f", (double)rule->time / second);
	if (rule->rate)
		PART(":rate=%llu", (unsigned long long)rule->rate);
	if (rule->bytes)
		PART(":bytes=%llu", (unsigned long long)rule->bytes);
	if (rule->of)
		PART(":of=%u", rule->of);
	if (*rule->device && soft_incidents[incident].kind == SOFT_OCCURS)
		PART(":device=%s", rule->device);
	if (rule->port)
		PART(":port=%u", rule->port);
	if (rule->out || rule->in)
		PART(":way=%s", rule->out ? "out" : "in");
	if (rule->peer)
		PART(":peer=%u", rule->peer);
	if (rule->peer_slot)
		PART(":peer=slot%u", rule->peer_slot);
	if (*rule->peer_name)
		PART(":peer=%s", rule->peer_name);
	if (rule->data_length)
		PART(":data=");
	for (unsigned int i = 0; i < rule->data_length; i++)
		PART("%02x", rule->data[i]);
#undef PART
	return text;
}

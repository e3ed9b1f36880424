/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a rule after its name: when it holds, and for what. */
#include "rule_text.h"
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1e9
#define SECONDS_MAX 1e9

bool
soft_rule_refuse(const struct soft_rule_reading *reading, const char *format, ...)
{
	int length = snprintf(reading->error, reading->size,
	    "%.*s: ", reading->length < SOFT_RULE_SHOWN ? (int)reading->length : SOFT_RULE_SHOWN,
	    reading->rule);
	va_list arguments;

	va_start(arguments, format);
	if (length > 0 && (size_t)length < reading->size)
		vsnprintf(
		    reading->error + length, reading->size - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}

/* A whole number from 1 on, or 0. */
static uint64_t
rule_read_number(const char *text, size_t length)
{
	uint64_t number = 0;

	if (!length || length > 18)
		return 0;
	for (; length; text++, length--) {
		if (*text < '0' || *text > '9')
			return 0;
		number = number * 10 + (uint64_t)(*text - '0');
	}
	return number;
}

/* A decimal number without a sign, or -1.  strtod(3) expects another point in other locales. */
static double
rule_read_decimal(const char *text, size_t length)
{
	double number = 0, place = 0;
	bool digits = false;

	for (; length; text++, length--) {
		if (*text == '.' && !place) {
			place = 1;
			continue;
		}
		if (*text < '0' || *text > '9')
			return -1;
		digits = true;
		number = number * 10 + (*text - '0');
		place *= 10;
	}
	return digits ? number / (place ? place : 1) : -1;
}

static bool
rule_read_when(const struct soft_rule_reading *reading, enum soft_when when, const char *value,
    size_t length, struct soft_rule *rule)
{
	if (rule->n || rule->when == SOFT_BY_CHANCE)
		return soft_rule_refuse(reading, "only one of nth=, each= and p= is possible");
	rule->when = when;
	if (when == SOFT_BY_CHANCE) {
		rule->chance = rule_read_decimal(value, length);
		return (rule->chance >= 0 && rule->chance <= 1) ||
		       soft_rule_refuse(
			   reading, "p=%.*s: not a number from 0 to 1", (int)length, value);
	}
	rule->n = rule_read_number(value, length);
	return rule->n ||
	       soft_rule_refuse(reading, "%.*s: not a whole number from 1 on", (int)length, value);
}

/* The value of the incidents, whose key is this. */
static bool
rule_read_value(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, struct soft_rule *rule)
{
	const char *known;
	char list[256];

	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		if (!rule->incidents[i])
			continue;
		known = soft_incident_key(i);
		if (!known || strcmp(known, key) != 0)
			return soft_rule_refuse(
			    reading, "%s has no %s", soft_incidents[i].name, key);
		rule->error = soft_incident_value_find(i, value, length);
		if (!rule->error)
			return soft_rule_refuse(reading, "%s has %s, not %.*s",
			    soft_incidents[i].name, soft_incident_values(i, list, sizeof list),
			    length < SOFT_RULE_SHOWN ? (int)length : SOFT_RULE_SHOWN, value);
	}
	return rule->of_incidents || soft_rule_refuse(reading, "%s= belongs to incidents", key);
}

static bool
rule_read_error(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule)
{
	char list[128];

	if (rule->of_incidents)
		return rule_read_value(reading, "errno", value, length, rule);
	rule->error = soft_error_find(value, length);
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		if (rule->calls[call] && !soft_error_is_allowed(call, rule->error))
			return soft_rule_refuse(reading, "%s fails with %s, not with %.*s",
			    soft_call_name(call), soft_error_list(call, list, sizeof list),
			    length < SOFT_RULE_SHOWN ? (int)length : SOFT_RULE_SHOWN, value);
	return true;
}

/* True, and what follows, if the word begins with the key. */
static bool
rule_is_key(const char *word, size_t length, const char *key, const char **value, size_t *rest)
{
	const size_t size = strlen(key);

	if (length < size || strncmp(word, key, size) != 0)
		return false;
	*value = word + size;
	*rest = length - size;
	return true;
}

/* A number of the run, or a name that a replay line has. */
static bool
rule_read_process(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, unsigned int *process, char name[SOFT_PROCESS_NAME])
{
	const uint64_t number = rule_read_number(value, length);

	*process = (unsigned int)number;
	if (number)
		return number <= UINT32_MAX ||
		       soft_rule_refuse(reading, "%s%.*s: too large", key, (int)length, value);
	if (!length || length >= SOFT_PROCESS_NAME || (*value >= '0' && *value <= '9'))
		return soft_rule_refuse(reading,
		    "%s%.*s: neither a number from 1 on nor a name that a line had", key,
		    length < SOFT_RULE_SHOWN ? (int)length : SOFT_RULE_SHOWN, value);
	memcpy(name, value, length);
	name[length] = '\0';
	return true;
}

/* The same, or "slotN", as softverbs-ctl knows it. */
static bool
rule_read_peer(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule)
{
	const size_t prefix = strlen("slot");

	if (length > prefix && !strncmp(value, "slot", prefix))
		rule->peer_slot = (unsigned int)rule_read_number(value + prefix, length - prefix);
	return rule->peer_slot ||
	       rule_read_process(reading, "peer=", value, length, &rule->peer, rule->peer_name);
}

static bool
rule_read_way(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule)
{
	rule->out = length == strlen("out") && !strncmp(value, "out", length);
	rule->in = length == strlen("in") && !strncmp(value, "in", length);
	return rule->out || rule->in ||
	       soft_rule_refuse(reading, "way=%.*s: neither out, what the process sends, nor in",
		   length < SOFT_RULE_SHOWN ? (int)length : SOFT_RULE_SHOWN, value);
}

static bool
rule_read_count(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, uint64_t *out)
{
	*out = rule_read_number(value, length);
	return *out || soft_rule_refuse(reading, "%s%.*s: not a whole number from 1 on", key,
			   (int)length, value);
}

static bool
rule_read_object(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, unsigned int *out)
{
	uint64_t number = 0;
	const bool good = rule_read_count(reading, key, value, length, &number);

	*out = number < UINT32_MAX ? (unsigned int)number : UINT32_MAX;
	return good;
}

/* Whether all incidents of the rule take this part. */
static bool
rule_takes(const struct soft_rule_reading *reading, const char *key, unsigned int takes,
    const struct soft_rule *rule)
{
	if (!rule->of_incidents)
		return soft_rule_refuse(reading, "%s belongs to incidents, not to calls", key);
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++)
		if (rule->incidents[i] && !(soft_incidents[i].takes & takes))
			return soft_rule_refuse(
			    reading, "%s takes no %s", soft_incidents[i].name, key);
	return true;
}

static bool
rule_read_seconds(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, uint64_t *out)
{
	const double seconds = rule_read_decimal(value, length);

	*out = seconds > 0 ? (uint64_t)(seconds * SECOND) : 0;
	return (seconds >= 0 && seconds <= SECONDS_MAX) ||
	       soft_rule_refuse(
		   reading, "%s%.*s: not a number of seconds", key, (int)length, value);
}

/* How long something lasts: none at all is not for ever, nor as long as usual. */
static bool
rule_read_span(const struct soft_rule_reading *reading, const char *key, const char *value,
    size_t length, uint64_t *out)
{
	return rule_read_seconds(reading, key, value, length, out) &&
	       (*out ||
		   soft_rule_refuse(reading, "%s%.*s: no time at all", key, (int)length, value));
}

static int
rule_read_digit(char digit)
{
	const char *digits = "0123456789abcdef", *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool
rule_read_data(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule)
{
	int high, low;

	if (length % 2 || length / 2 > sizeof rule->data)
		return soft_rule_refuse(
		    reading, "data=: not pairs of digits, %u at most", SOFT_RULE_DATA);
	for (size_t i = 0; i < length / 2; i++) {
		high = rule_read_digit(value[2 * i]);
		low = rule_read_digit(value[2 * i + 1]);
		if (high < 0 || low < 0)
			return soft_rule_refuse(reading, "data=: digits are 0 to 9 and a to f");
		rule->data[i] = (uint8_t)(high << 4 | low);
	}
	rule->data_length = (uint8_t)(length / 2);
	return true;
}

/* What only rules of incidents have; false in `known` if it is none of these. */
static bool
rule_read_incident_part(const struct soft_rule_reading *reading, const char *word, size_t length,
    struct soft_rule *rule, bool *known)
{
	const char *value;
	size_t rest;

	*known = true;
	if (rule_is_key(word, length, "status=", &value, &rest))
		return rule_read_value(reading, "status", value, rest, rule);
	if (rule_is_key(word, length, "reason=", &value, &rest))
		return rule_read_value(reading, "reason", value, rest, rule);
	if (rule_is_key(word, length, "call=", &value, &rest))
		return soft_rule_read_call(reading, value, rest, rule);
	if (rule_is_key(word, length, "at=", &value, &rest)) {
		rule->timed = true;
		if (!rule->of_incidents)
			return soft_rule_refuse(reading, "at= belongs to incidents, not to calls");
		return rule_read_seconds(reading, "at=", value, rest, &rule->at);
	}
	if (rule_is_key(word, length, "for=", &value, &rest))
		return rule_takes(reading, "for=", SOFT_TAKES_FOR, rule) &&
		       rule_read_span(reading, "for=", value, rest, &rule->lasts);
	if (rule_is_key(word, length, "time=", &value, &rest))
		return rule_takes(reading, "time=", SOFT_TAKES_TIME, rule) &&
		       rule_read_span(reading, "time=", value, rest, &rule->time);
	if (rule_is_key(word, length, "rate=", &value, &rest))
		return rule_takes(reading, "rate=", SOFT_TAKES_RATE, rule) &&
		       rule_read_count(reading, "rate=", value, rest, &rule->rate);
	if (rule_is_key(word, length, "bytes=", &value, &rest))
		return rule_takes(reading, "bytes=", SOFT_TAKES_BYTES, rule) &&
		       rule_read_count(reading, "bytes=", value, rest, &rule->bytes);
	if (rule_is_key(word, length, "of=", &value, &rest))
		return rule_takes(reading, "of=", SOFT_TAKES_OF, rule) &&
		       rule_read_object(reading, "of=", value, rest, &rule->of);
	if (rule_is_key(word, length, "port=", &value, &rest))
		return rule_takes(reading, "port=", SOFT_TAKES_PORT, rule) &&
		       rule_read_object(reading, "port=", value, rest, &rule->port);
	if (rule_is_key(word, length, "way=", &value, &rest))
		return rule_takes(reading, "way=", SOFT_TAKES_WAY, rule) &&
		       rule_read_way(reading, value, rest, rule);
	if (rule_is_key(word, length, "peer=", &value, &rest))
		return rule_takes(reading, "peer=", SOFT_TAKES_PEER, rule) &&
		       rule_read_peer(reading, value, rest, rule);
	if (rule_is_key(word, length, "data=", &value, &rest))
		return rule_takes(reading, "data=", SOFT_TAKES_DATA, rule) &&
		       rule_read_data(reading, value, rest, rule);
	*known = false;
	return true;
}

bool
soft_rule_read_part(const struct soft_rule_reading *reading, const char *word, size_t length,
    struct soft_rule *rule)
{
	const char *value;
	bool known, good;
	size_t rest;

	good = rule_read_incident_part(reading, word, length, rule, &known);
	if (known)
		return good;
	if (rule_is_key(word, length, "nth=", &value, &rest))
		return rule_read_when(reading, SOFT_NTH, value, rest, rule);
	if (rule_is_key(word, length, "each=", &value, &rest))
		return rule_read_when(reading, SOFT_EACH, value, rest, rule);
	if (rule_is_key(word, length, "p=", &value, &rest))
		return rule_read_when(reading, SOFT_BY_CHANCE, value, rest, rule);
	if (rule_is_key(word, length, "errno=", &value, &rest))
		return rule_read_error(reading, value, rest, rule);
	if (rule_is_key(word, length, "from=", &value, &rest))
		return rule_read_seconds(reading, "from=", value, rest, &rule->from);
	if (rule_is_key(word, length, "process=", &value, &rest))
		return rule_read_process(
		    reading, "process=", value, rest, &rule->process, rule->name);
	if (rule_is_key(word, length, "device=", &value, &rest)) {
		if (!rest || rest >= sizeof rule->device)
			return soft_rule_refuse(reading, "device=: no name of a device");
		memcpy(rule->device, value, rest);
		rule->device[rest] = '\0';
		return true;
	}
	return soft_rule_refuse(reading,
	    "%.*s is none of nth=N, each=N, p=P, from=SECONDS, process=N, device=NAME and "
	    "errno=NAME%s",
	    length < SOFT_RULE_SHOWN ? (int)length : SOFT_RULE_SHOWN, word,
	    rule->of_incidents ? ", nor of what faults.md has for incidents" : "");
}

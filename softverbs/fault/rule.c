/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule.h"
#include "errors.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 64
#define SECOND 1e9
#define SECONDS_MAX 1e9
/* What a message shows of a word. */
#define SHOWN 60

struct reading {
	const char *rule;
	size_t length;
	char *error;
	size_t size;
};

static bool __attribute__((format(printf, 2, 3)))
rule_refuse(const struct reading *reading, const char *format, ...)
{
	int length = snprintf(reading->error, reading->size,
	    "%.*s: ", reading->length < SHOWN ? (int)reading->length : SHOWN, reading->rule);
	va_list arguments;

	va_start(arguments, format);
	if (length > 0 && (size_t)length < reading->size)
		vsnprintf(
		    reading->error + length, reading->size - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}

const char *
soft_call_name(enum soft_call call)
{
	const char *name = soft_calls[call].name;

	return name + (*name == '_');
}

enum soft_call
soft_call_find(const char *name, size_t length)
{
	enum soft_call call = 0;

	for (; call < SOFT_CALL_COUNT; call++)
		if (strlen(soft_call_name(call)) == length &&
		    !strncmp(soft_call_name(call), name, length))
			break;
	return call;
}

/* ---- the call ---- */

/* Why a name that is none of the calls is none. */
static bool
rule_refuse_name(const struct reading *reading, const char *name)
{
#define SURE(sure, reason) \
	if (!strcmp(name, #sure)) \
		return rule_refuse(reading, "%s never fails: %s", name, reason);
#define REFUSED(refused) \
	if (!strcmp(name, #refused)) \
		return rule_refuse(reading, "%s always fails: the device does not have it", name);
	SOFT_SURE_CALLS(SURE)
	SOFT_REFUSED_CALLS(REFUSED)
	return rule_refuse(reading, "%.*s is no %s; --faults=list prints them", SHOWN, name,
	    strchr(name, '.') ? "incident" : "call that can fail");
}

static bool
rule_read_name(
    const struct reading *reading, const char *word, size_t length, struct soft_rule *rule)
{
	char pattern[NAME_MAX_LENGTH];
	bool found = false;

	if (!length || length >= sizeof pattern)
		return rule_refuse(reading, "a rule begins with the name of a call");
	memcpy(pattern, word, length);
	pattern[length] = '\0';
	/* fnmatch() knows more than the manual. */
	if (strpbrk(pattern, "[]\\"))
		return rule_refuse(reading, "only * and ? stand for parts of a name");
	rule->of_incidents = strchr(pattern, '.');
	for (enum soft_incident i = 0; rule->of_incidents && i < SOFT_INCIDENT_COUNT; i++) {
		rule->incidents[i] = !fnmatch(pattern, soft_incidents[i].name, 0);
		found |= rule->incidents[i];
	}
	for (enum soft_call call = 0; !rule->of_incidents && call < SOFT_CALL_COUNT; call++) {
		rule->calls[call] = !fnmatch(pattern, soft_call_name(call), 0);
		found |= rule->calls[call];
	}
	return found || rule_refuse_name(reading, pattern);
}

/* The calls that bring about an incident. */
static bool
rule_read_call(
    const struct reading *reading, const char *value, size_t length, struct soft_rule *rule)
{
	char pattern[NAME_MAX_LENGTH];
	bool found = false;

	if (!rule->of_incidents)
		return rule_refuse(reading, "call= belongs to incidents, not to calls");
	snprintf(pattern, sizeof pattern, "%.*s", (int)length, value);
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		rule->calls[call] |= !fnmatch(pattern, soft_call_name(call), 0);
		found |= rule->calls[call];
	}
	return found || rule_refuse_name(reading, pattern);
}

/* ---- the conditions ---- */

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
rule_read_when(const struct reading *reading, enum soft_when when, const char *value, size_t length,
    struct soft_rule *rule)
{
	if (rule->n || rule->when == SOFT_BY_CHANCE)
		return rule_refuse(reading, "only one of nth=, each= and p= is possible");
	rule->when = when;
	if (when == SOFT_BY_CHANCE) {
		rule->chance = rule_read_decimal(value, length);
		return (rule->chance >= 0 && rule->chance <= 1) ||
		       rule_refuse(reading, "p=%.*s: not a number from 0 to 1", (int)length, value);
	}
	rule->n = rule_read_number(value, length);
	return rule->n ||
	       rule_refuse(reading, "%.*s: not a whole number from 1 on", (int)length, value);
}

/* The value of the incidents, whose key is this. */
static bool
rule_read_value(const struct reading *reading, const char *key, const char *value, size_t length,
    struct soft_rule *rule)
{
	const char *known;
	char list[256];

	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		if (!rule->incidents[i])
			continue;
		known = soft_incident_key(i);
		if (!known || strcmp(known, key) != 0)
			return rule_refuse(reading, "%s has no %s", soft_incidents[i].name, key);
		rule->error = soft_incident_value_find(i, value, length);
		if (!rule->error)
			return rule_refuse(reading, "%s has %s, not %.*s", soft_incidents[i].name,
			    soft_incident_values(i, list, sizeof list),
			    length < SHOWN ? (int)length : SHOWN, value);
	}
	return rule->of_incidents || rule_refuse(reading, "%s= belongs to incidents", key);
}

static bool
rule_read_error(
    const struct reading *reading, const char *value, size_t length, struct soft_rule *rule)
{
	char list[128];

	if (rule->of_incidents)
		return rule_read_value(reading, "errno", value, length, rule);
	rule->error = soft_error_find(value, length);
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		if (rule->calls[call] && !soft_error_is_allowed(call, rule->error))
			return rule_refuse(reading, "%s fails with %s, not with %.*s",
			    soft_call_name(call), soft_error_list(call, list, sizeof list),
			    length < SHOWN ? (int)length : SHOWN, value);
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

static bool
rule_read_process(
    const struct reading *reading, const char *value, size_t length, struct soft_rule *rule)
{
	const uint64_t number = rule_read_number(value, length);

	rule->process = (unsigned int)number;
	if (number)
		return number <= UINT32_MAX ||
		       rule_refuse(reading, "process=%.*s: too large", (int)length, value);
	if (!length || length >= sizeof rule->name || (*value >= '0' && *value <= '9'))
		return rule_refuse(reading,
		    "process=%.*s: neither a number from 1 on nor a name that a line had",
		    length < SHOWN ? (int)length : SHOWN, value);
	memcpy(rule->name, value, length);
	rule->name[length] = '\0';
	return true;
}

/* Whether all incidents of the rule take this part. */
static bool
rule_takes(const struct reading *reading, const char *key, unsigned int takes,
    const struct soft_rule *rule)
{
	if (!rule->of_incidents)
		return rule_refuse(reading, "%s belongs to incidents, not to calls", key);
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++)
		if (rule->incidents[i] && !(soft_incidents[i].takes & takes))
			return rule_refuse(reading, "%s takes no %s", soft_incidents[i].name, key);
	return true;
}

static bool
rule_read_seconds(
    const struct reading *reading, const char *key, const char *value, size_t length, uint64_t *out)
{
	const double seconds = rule_read_decimal(value, length);

	*out = seconds > 0 ? (uint64_t)(seconds * SECOND) : 0;
	return (seconds >= 0 && seconds <= SECONDS_MAX) ||
	       rule_refuse(reading, "%s%.*s: not a number of seconds", key, (int)length, value);
}

static int
rule_read_digit(char digit)
{
	const char *digits = "0123456789abcdef", *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool
rule_read_data(
    const struct reading *reading, const char *value, size_t length, struct soft_rule *rule)
{
	int high, low;

	if (length % 2 || length / 2 > sizeof rule->data)
		return rule_refuse(
		    reading, "data=: not pairs of digits, %u at most", SOFT_RULE_DATA);
	for (size_t i = 0; i < length / 2; i++) {
		high = rule_read_digit(value[2 * i]);
		low = rule_read_digit(value[2 * i + 1]);
		if (high < 0 || low < 0)
			return rule_refuse(reading, "data=: digits are 0 to 9 and a to f");
		rule->data[i] = (uint8_t)(high << 4 | low);
	}
	rule->data_length = (uint8_t)(length / 2);
	return true;
}

/* What only rules of incidents have; false in `known` if it is none of these. */
static bool
rule_read_incident_part(const struct reading *reading, const char *word, size_t length,
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
		return rule_read_call(reading, value, rest, rule);
	if (rule_is_key(word, length, "at=", &value, &rest)) {
		rule->timed = true;
		if (!rule->of_incidents)
			return rule_refuse(reading, "at= belongs to incidents, not to calls");
		return rule_read_seconds(reading, "at=", value, rest, &rule->at);
	}
	if (rule_is_key(word, length, "for=", &value, &rest))
		return rule_takes(reading, "for=", SOFT_TAKES_FOR, rule) &&
		       rule_read_seconds(reading, "for=", value, rest, &rule->lasts);
	if (rule_is_key(word, length, "time=", &value, &rest))
		return rule_takes(reading, "time=", SOFT_TAKES_TIME, rule) &&
		       rule_read_seconds(reading, "time=", value, rest, &rule->time);
	if (rule_is_key(word, length, "of=", &value, &rest)) {
		rule->of = (unsigned int)rule_read_number(value, rest);
		return rule_takes(reading, "of=", SOFT_TAKES_OF, rule) &&
		       (rule->of || rule_refuse(reading, "of=%.*s: not a whole number from 1 on",
					(int)rest, value));
	}
	if (rule_is_key(word, length, "way=", &value, &rest)) {
		rule->out = true;
		return rule_takes(reading, "way=", SOFT_TAKES_WAY, rule) &&
		       ((rest == strlen("out") && !strncmp(value, "out", rest)) ||
			   rule_refuse(reading, "way=out is what the process sends; for the other "
						"way name the other process"));
	}
	if (rule_is_key(word, length, "data=", &value, &rest))
		return rule_takes(reading, "data=", SOFT_TAKES_DATA, rule) &&
		       rule_read_data(reading, value, rest, rule);
	*known = false;
	return true;
}

static bool
rule_read_part(
    const struct reading *reading, const char *word, size_t length, struct soft_rule *rule)
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
		return rule_read_process(reading, value, rest, rule);
	if (rule_is_key(word, length, "device=", &value, &rest)) {
		if (!rest || rest >= sizeof rule->device)
			return rule_refuse(reading, "device=: no name of a device");
		memcpy(rule->device, value, rest);
		rule->device[rest] = '\0';
		return true;
	}
	return rule_refuse(reading,
	    "%.*s is none of nth=N, each=N, p=P, from=SECONDS, process=N, device=NAME and "
	    "errno=NAME%s",
	    length < SHOWN ? (int)length : SHOWN, word,
	    rule->of_incidents ? ", nor of what faults.md has for incidents" : "");
}

/* What happens by itself has a moment of its own; all else needs one. */
static bool
rule_check_incidents(const struct reading *reading, const struct soft_rule *rule)
{
	bool called = false;

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		called |= rule->calls[call];
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		const struct soft_incident_line *line = &soft_incidents[i];

		if (!rule->incidents[i])
			continue;
		if (line->kind == SOFT_OCCURS && called == rule->timed)
			return rule_refuse(
			    reading, "%s needs one of at=SECONDS and call=CALL", line->name);
		if (line->kind != SOFT_OCCURS && (called || rule->timed))
			return rule_refuse(
			    reading, "%s takes no %s", line->name, called ? "call=" : "at=");
		if (line->takes & SOFT_TAKES_TIME && !rule->time)
			return rule_refuse(reading, "%s needs time=SECONDS", line->name);
	}
	if (rule->timed && (rule->n || rule->when != SOFT_EACH || rule->from))
		return rule_refuse(reading, "at= is once: no nth=, each=, p= or from=");
	return true;
}

static bool
rule_read(const struct reading *reading, struct soft_rule *rule)
{
	const char *word = reading->rule, *end = word + reading->length;
	size_t length = strcspn(word, ":");

	*rule = (struct soft_rule){ .when = SOFT_EACH };
	if (length > reading->length)
		length = reading->length;
	if (!rule_read_name(reading, word, length, rule))
		return false;
	for (word += length; word < end; word += length) {
		word++;
		length = strcspn(word, ":");
		if (length > (size_t)(end - word))
			length = (size_t)(end - word);
		if (!rule_read_part(reading, word, length, rule))
			return false;
	}
	if (rule->of_incidents && !rule_check_incidents(reading, rule))
		return false;
	if (!rule->n)
		rule->n = 1;
	return true;
}

/* ---- the text ---- */

/* Where the next rule begins: after separators, spaces and comments. */
static const char *
rule_skip(const char *text)
{
	for (;;) {
		text += strspn(text, ",; \t\r\n");
		if (*text != '#')
			return text;
		text += strcspn(text, "\n");
	}
}

bool
soft_rules_read(const char *text, struct soft_rules *rules, char *error, size_t size)
{
	struct reading reading = { .error = error, .size = size };

	rules->count = 0;
	for (text = rule_skip(text); *text; text = rule_skip(text + reading.length)) {
		reading.rule = text;
		reading.length = strcspn(text, ",; \t\r\n#");
		if (reading.length == strlen("none") && !strncmp(text, "none", reading.length))
			continue;
		if (rules->count == SOFT_RULES_MAX)
			return rule_refuse(&reading, "more than %d rules", SOFT_RULES_MAX);
		if (!rule_read(&reading, &rules->rules[rules->count]))
			return false;
		rules->count++;
	}
	return true;
}

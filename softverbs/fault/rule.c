/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule_text.h"
#include "errors.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 64

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
rule_refuse_name(const struct soft_rule_reading *reading, const char *name)
{
#define SURE(sure, reason) \
	if (!strcmp(name, #sure)) \
		return soft_rule_refuse(reading, "%s never fails: %s", name, reason);
#define REFUSED(refused) \
	if (!strcmp(name, #refused)) \
		return soft_rule_refuse( \
		    reading, "%s always fails: the device does not have it", name);
	SOFT_SURE_CALLS(SURE)
	SOFT_REFUSED_CALLS(REFUSED)
	return soft_rule_refuse(reading, "%.*s is no %s; --faults=list prints them",
	    SOFT_RULE_SHOWN, name, strchr(name, '.') ? "incident" : "call that can fail");
}

/* The word with a 0 behind it; false if it can be no name. */
static bool
rule_read_pattern(const struct soft_rule_reading *reading, const char *word, size_t length,
    char pattern[NAME_MAX_LENGTH])
{
	if (!length || length >= NAME_MAX_LENGTH)
		return soft_rule_refuse(reading, "no name of a call has %zu characters", length);
	memcpy(pattern, word, length);
	pattern[length] = '\0';
	/* fnmatch() knows more than the manual. */
	return !strpbrk(pattern, "[]\\") ||
	       soft_rule_refuse(reading, "only * and ? stand for parts of a name");
}

static bool
rule_read_name(const struct soft_rule_reading *reading, const char *word, size_t length,
    struct soft_rule *rule)
{
	char pattern[NAME_MAX_LENGTH];
	bool found = false;

	if (!length)
		return soft_rule_refuse(reading, "a rule begins with the name of a call");
	if (!rule_read_pattern(reading, word, length, pattern))
		return false;
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
bool
soft_rule_read_call(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule)
{
	char pattern[NAME_MAX_LENGTH];
	bool found = false;

	if (!rule->of_incidents)
		return soft_rule_refuse(reading, "call= belongs to incidents, not to calls");
	if (!rule_read_pattern(reading, value, length, pattern))
		return false;
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		rule->calls[call] |= !fnmatch(pattern, soft_call_name(call), 0);
		found |= rule->calls[call];
	}
	return found || rule_refuse_name(reading, pattern);
}

/* What happens by itself has a moment of its own; all else needs one. */
static bool
rule_check_incidents(const struct soft_rule_reading *reading, const struct soft_rule *rule)
{
	bool called = false;

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		called |= rule->calls[call];
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		const struct soft_incident_line *line = &soft_incidents[i];

		if (!rule->incidents[i])
			continue;
		if (line->kind == SOFT_OCCURS && called == rule->timed)
			return soft_rule_refuse(
			    reading, "%s needs one of at=SECONDS and call=CALL", line->name);
		if (line->kind != SOFT_OCCURS && (called || rule->timed))
			return soft_rule_refuse(
			    reading, "%s takes no %s", line->name, called ? "call=" : "at=");
		if (line->takes & SOFT_TAKES_TIME && !rule->time)
			return soft_rule_refuse(reading, "%s needs time=SECONDS", line->name);
		if (line->takes & SOFT_TAKES_RATE && !rule->rate)
			return soft_rule_refuse(reading, "%s needs rate=BYTES", line->name);
		if (line->takes & SOFT_TAKES_BYTES && !rule->bytes)
			return soft_rule_refuse(reading, "%s needs bytes=N", line->name);
		if (*rule->device && rule->timed && !(line->takes & SOFT_TAKES_DEVICE))
			return soft_rule_refuse(reading, "%s takes no device=", line->name);
	}
	if (rule->timed && (rule->n || rule->when != SOFT_EACH || rule->from))
		return soft_rule_refuse(reading, "at= is once: no nth=, each=, p= or from=");
	return true;
}

/* It says what, and of which object: when, how often and where is known. */
static bool
rule_check_now(const struct soft_rule_reading *reading, struct soft_rule *rule)
{
	if (rule->timed || rule->n || rule->when != SOFT_EACH || rule->from || rule->process ||
	    *rule->name)
		return soft_rule_refuse(reading,
		    "it holds now, or for the next one, in this process: no at=, nth=, each=, p=, "
		    "from= or process=");
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++)
		rule->timed |= rule->incidents[i] && soft_incidents[i].kind == SOFT_OCCURS;
	if (*rule->device && !rule->timed)
		return soft_rule_refuse(reading, "the next one is that of any device");
	return true;
}

static bool
rule_read(const struct soft_rule_reading *reading, struct soft_rule *rule)
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
		if (!soft_rule_read_part(reading, word, length, rule))
			return false;
	}
	if (reading->now && !rule_check_now(reading, rule))
		return false;
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

static bool
rule_read_all(struct soft_rule_reading *reading, const char *text, struct soft_rules *rules)
{
	rules->count = 0;
	for (text = rule_skip(text); *text; text = rule_skip(text + reading->length)) {
		reading->rule = text;
		reading->length = strcspn(text, ",; \t\r\n#");
		if (reading->length == strlen("none") && !strncmp(text, "none", reading->length))
			continue;
		if (rules->count == SOFT_RULES_MAX)
			return soft_rule_refuse(reading, "more than %d rules", SOFT_RULES_MAX);
		if (!rule_read(reading, &rules->rules[rules->count]))
			return false;
		rules->count++;
	}
	return true;
}

bool
soft_rules_read(const char *text, struct soft_rules *rules, char *error, size_t size)
{
	struct soft_rule_reading reading = { .error = error, .size = size };

	return rule_read_all(&reading, text, rules);
}

bool
soft_rules_read_now(const char *text, struct soft_rules *rules, char *error, size_t size)
{
	struct soft_rule_reading reading = { .now = true, .error = error, .size = size };

	return rule_read_all(&reading, text, rules);
}

int
soft_rule_value(const struct soft_rule *rule, enum soft_incident incident)
{
	return rule->error ? rule->error : soft_incidents[incident].values[0];
}

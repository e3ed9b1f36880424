/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"
#include "complaint.h"

#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1000000000u

/* The text of the variable, or NULL if it says nothing. */
static const char *
number_text(const char *variable)
{
	const char *text = secure_getenv(variable);

	return text && *text ? text : NULL;
}

/* The digits that `*text` points to, and then behind them: false if there are too many. */
static bool
number_digits(const char **text, uint64_t *value)
{
	for (*value = 0; **text >= '0' && **text <= '9'; ++*text)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, **text - '0', value))
			return false;
	return true;
}

bool
soft_number_read_whole(const char *variable, uint64_t *value)
{
	const char *text = number_text(variable), *end = text;
	uint64_t number;

	if (!text)
		return true;
	if (!number_digits(&end, &number) || *end) {
		soft_complain("%s=%s: not a whole number from 0 to %llu", variable, text,
		    (unsigned long long)UINT64_MAX);
		return false;
	}
	*value = number;
	return true;
}

bool
soft_number_read_seconds(const char *variable, unsigned int most, uint64_t *nanoseconds)
{
	const char *text = number_text(variable), *end = text;
	uint64_t whole, part = 0, unit = NANOSECONDS;
	bool some, right;

	if (!text)
		return true;
	right = number_digits(&end, &whole) && whole <= most;
	some = end != text;
	if (right && *end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, some = true) {
			unit /= 10;
			part += unit * (unsigned int)(*end - '0');
		}
	if (!right || !some || *end || (whole == most && part)) {
		soft_complain("%s=%s: not a number of seconds from 0 to %u", variable, text, most);
		return false;
	}
	*nanoseconds = whole * NANOSECONDS + part;
	return true;
}

bool
soft_number_read_switch(const char *variable, bool *value)
{
	const char *text = number_text(variable);

	if (!text)
		return true;
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
		soft_complain("%s=%s: neither 0 nor 1", variable, text);
		return false;
	}
	*value = *text == '1';
	return true;
}

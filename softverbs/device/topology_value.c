/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
soft_topology_refuse(const struct soft_reading *reading, const char *format, ...)
{
	int length = 0;
	va_list arguments;

	if (reading->where)
		length =
		    snprintf(reading->error, reading->size, "%.*s: ", SOFT_SHOWN, reading->where);
	va_start(arguments, format);
	if (length >= 0 && (size_t)length < reading->size)
		vsnprintf(
		    reading->error + length, reading->size - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}

bool
soft_topology_number(const struct soft_reading *reading, const char *key, const char *text,
    uint64_t least, uint64_t most, uint64_t *number)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	errno = 0;
	*number = strtoull(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *number < least || *number > most)
		return soft_topology_refuse(reading,
		    "%s=%.*s: not a whole number from %llu to %llu", key, SOFT_SHOWN, text,
		    (unsigned long long)least, (unsigned long long)most);
	return true;
}

bool
soft_topology_choice(const struct soft_reading *reading, const char *key, const char *text,
    const struct soft_choice *choices, unsigned int *value)
{
	char names[128] = "";
	size_t length = 0;

	for (const struct soft_choice *c = choices; c->name; c++) {
		if (!strcmp(c->name, text)) {
			*value = c->value;
			return true;
		}
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
		    c == choices ? "" : ", ", c->name);
	}
	return soft_topology_refuse(
	    reading, "%s=%.*s: not one of %s", key, SOFT_SHOWN, text, names);
}

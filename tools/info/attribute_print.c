/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes, for people */
#include "attribute.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 4, WIDTH = 36, TEXT_MAX = 1024 };

static void
attribute_add(char text[static TEXT_MAX], const char *word)
{
	const size_t used = strlen(text);

	snprintf(text + used, TEXT_MAX - used, "%s%s", used != 0 ? " " : "", word);
}

static void
attribute_add_value(char text[static TEXT_MAX], const json_t *value)
{
	char number[32];
	json_t *element;
	size_t i;

	switch (json_typeof(value)) {
	case JSON_STRING:
		attribute_add(text, json_string_value(value));
		break;
	case JSON_INTEGER:
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
		attribute_add(text, number);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		attribute_add(text, json_is_true(value) ? "DAT_TRUE" : "DAT_FALSE");
		break;
	case JSON_ARRAY:
		json_array_foreach(value, i, element) attribute_add_value(text, element);
		break;
	default:
		attribute_add(text, "none");
		break;
	}
}

/* Of streams: "all" if each may share an EVD with each. */
static void
attribute_print_object(const char *name, json_t *object)
{
	const size_t members = json_object_size(object);
	bool all = members != 0;
	char text[TEXT_MAX];
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) all = all && json_array_size(value) == members;
	text_print(INDENT, WIDTH, name, all ? "all" : members == 0 ? "none" : "");
	if (all)
		return;
	json_object_foreach(object, key, value)
	{
		*text = '\0';
		attribute_add_value(text, value);
		text_print(INDENT + 2, WIDTH - 2, key, text);
	}
}

void
attribute_print(const json_t *attributes)
{
	json_t *units = attribute_units(), *value;
	char text[TEXT_MAX];
	const char *name;

	json_object_foreach((json_t *)(size_t)attributes, name, value)
	{
		if (json_is_object(value)) {
			attribute_print_object(name, value);
			continue;
		}
		*text = '\0';
		attribute_add_value(text, value);
		if (json_object_get(units, name) != NULL)
			attribute_add(text, json_string_value(json_object_get(units, name)));
		text_print(INDENT, WIDTH, name, text);
	}
	json_decref(units);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 4 };

/* The text behind a beginning, if it has that. */
static const char *
reason_skip(const char *text, const char *beginning)
{
	const size_t length = strlen(beginning);

	return strncmp(text, beginning, length) == 0 ? text + length : text;
}

/* Without "dat_ia_open("NAME"): ", "dat_ia_open: " and "FILE:LINE: ". */
static const char *
reason_strip(const char *line, const char *name, const char *place)
{
	json_t *before = text_format("dat_ia_open(\"%s\"): ", name);
	const char *text = reason_skip(line, json_string_value(before));

	json_decref(before);
	text = reason_skip(text, "dat_ia_open: ");
	if (place == NULL)
		return text;
	before = text_format("%s: ", place);
	text = reason_skip(text, json_string_value(before));
	json_decref(before);
	return text;
}

static json_t *
reason_find(json_t *reasons, const char *text)
{
	json_t *reason = json_object_get(reasons, text);

	if (reason == NULL) {
		reason = json_pack("{s:s, s:[]}", "text", text, "names");
		json_object_set_new(reasons, text, reason);
	}
	return reason;
}

void
reason_add(json_t *reasons, const json_t *lines, const char *name, const char *place)
{
	json_t *line, *reason;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		reason = reason_find(reasons, reason_strip(json_string_value(line), name, place));
		json_array_append_new(json_object_get(reason, "names"), text_json(name));
	}
}

json_t *
reason_list(const json_t *names)
{
	const size_t total = json_array_size(names), shown = total <= SHOWN + 1 ? total : SHOWN;
	json_t *list = json_string(""), *longer;
	size_t i;

	for (i = 0; i < shown; i++) {
		longer = text_format("%s%s%s", json_string_value(list), i != 0 ? ", " : "",
		    json_string_value(json_array_get(names, i)));
		json_decref(list);
		list = longer;
	}
	if (shown == total)
		return list;
	longer = text_format("%s and %zu more", json_string_value(list), total - shown);
	json_decref(list);
	return longer;
}

json_t *
reason_count(const json_t *names)
{
	const size_t total = json_array_size(names);

	return text_format("%zu name%s", total, total != 1 ? "s" : "");
}

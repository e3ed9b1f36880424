/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls return, by name: a name for each value that dat_strerror() knows, and the same one. */
#include <stdio.h>
#include <string.h>

#include "fault/fault.h"
#include "device.h"

/* All types that there can be, and more subtypes than DAT 2.0 has. */
#define TYPES 0x4000
#define SUBTYPES 200

/* The name at the end of a sentence of dat_strerror(), "... (NAME)."; "" if there is none. */
static void
name_at_end(const char *text, char *name, size_t size)
{
	const char *from = strrchr(text, '('), *to = strrchr(text, ')');

	snprintf(
	    name, size, "%.*s", from && to ? (int)(to - from - 1) : 0, from && to ? from + 1 : "");
}

static unsigned int
compare_names(DAT_RETURN ret, bool type)
{
	const char *texts[2], *name = fault_name(ret, type);
	char expected[80];

	if (dat_strerror(ret, &texts[0], &texts[1]) != DAT_SUCCESS) {
		ck_assert_msg(!name, "0x%x: %s", (unsigned int)ret, name);
		return 0;
	}
	name_at_end(texts[!type], expected, sizeof expected);
	ck_assert_msg(name, "0x%x has no name, it is %s", (unsigned int)ret, expected);
	ck_assert_str_eq(name, expected);
	return 1;
}

CASE("device-name:name");

TEST(name_of_what_a_call_returns__each_type_and_subtype__is_that_of_the_header)
{
	unsigned int known = 0;

	for (unsigned int i = 0; i < TYPES; i++)
		known += compare_names((DAT_RETURN)(i ? DAT_CLASS_ERROR | i << 16 : 0), true);
	ck_assert_uint_eq(known, 26);
	for (unsigned int i = 0; i < SUBTYPES; i++)
		known += compare_names(DAT_ERROR(DAT_INVALID_STATE, i), false);
	ck_assert_uint_gt(known, 26 + 100);
}

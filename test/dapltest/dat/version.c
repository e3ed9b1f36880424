/* SPDX-License-Identifier: BSD-3-Clause */
/* version -- the version of the headers, of the library and of configure */
#include <config.h>

#include <stdio.h>

#include <dat2/dat_version.h>

#include "story.h"

CASE("version:version");

/* clause: b.6.10 */
TEST(version__of_headers_library_and_configure__is_the_same)
{
	char numbers[64];

	snprintf(numbers, sizeof numbers, "%d.%d.%d", REARM_VERSION_MAJOR, REARM_VERSION_MINOR,
	    REARM_VERSION_PATCH);
	ck_assert_str_eq(REARM_VERSION, numbers);
	ck_assert_str_eq(dat_rearm_version(), REARM_VERSION);
	ck_assert_str_eq(PACKAGE_VERSION, REARM_VERSION);
}

TEST(version__at_least__compares_the_numbers_in_their_order)
{
	ck_assert(
	    REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR, REARM_VERSION_MINOR, REARM_VERSION_PATCH));
	ck_assert(!REARM_VERSION_AT_LEAST(
	    REARM_VERSION_MAJOR, REARM_VERSION_MINOR, REARM_VERSION_PATCH + 1));
	ck_assert(!REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR, REARM_VERSION_MINOR + 1, 0));
	ck_assert(!REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR + 1, 0, 0));
	ck_assert(REARM_VERSION_AT_LEAST(0, 1, 999));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* version -- the version of the headers, of the library and of configure */
#include <config.h>

#include <stdio.h>

#include <dat2/dat_version.h>

#include "story.h"

/* clause: b.6.10 */
START_TEST(version__of_headers_library_and_configure__is_the_same)
{
	char numbers[64];

	snprintf(numbers, sizeof numbers, "%d.%d.%d", REARM_VERSION_MAJOR, REARM_VERSION_MINOR,
	    REARM_VERSION_PATCH);
	ck_assert_str_eq(REARM_VERSION, numbers);
	ck_assert_str_eq(dat_rearm_version(), REARM_VERSION);
	ck_assert_str_eq(PACKAGE_VERSION, REARM_VERSION);
}
END_TEST

START_TEST(version__at_least__compares_the_numbers_in_their_order)
{
	ck_assert(
	    REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR, REARM_VERSION_MINOR, REARM_VERSION_PATCH));
	ck_assert(!REARM_VERSION_AT_LEAST(
	    REARM_VERSION_MAJOR, REARM_VERSION_MINOR, REARM_VERSION_PATCH + 1));
	ck_assert(!REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR, REARM_VERSION_MINOR + 1, 0));
	ck_assert(!REARM_VERSION_AT_LEAST(REARM_VERSION_MAJOR + 1, 0, 0));
	ck_assert(REARM_VERSION_AT_LEAST(0, 1, 999));
}
END_TEST

Suite *
dat_version_suite(void)
{
	Suite *suite = suite_create("version");
	TCase *t = runner_tcase(suite, "version");

	tcase_add_test(t, version__of_headers_library_and_configure__is_the_same);
	tcase_add_test(t, version__at_least__compares_the_numbers_in_their_order);
	return suite;
}

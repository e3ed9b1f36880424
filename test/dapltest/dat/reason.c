/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is printed on standard error when an adapter has no provider
 */
#include "story.h"

#include <stdio.h>
#include <stdlib.h>

#define NOT_FOUND DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED)

#define LINE(name, version, safety) name " " version " " safety " default l id.2.0 \"\" \"\"\n"
#define GOOD(name) LINE(name, "u2.0", "threadsafe")

static void
assert_reason(const char *text, const char *name, const char *want)
{
	char line[8192];
	DAT_IA_HANDLE ia;

	story_conf(text);
	story_listen();
	story_assert_ret(story_try_open(name, 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	snprintf(line, sizeof line, "dat: no provider for \"%s\" u2.0 threadsafe: %s%s\n", name,
	    story_conf_path(), want);
	ck_assert_str_eq(story_heard(), line);
}

START_TEST(reason__unknown_name__names_the_file_and_its_adapters)
{
	assert_reason(LINE("a", "u2.0", "threadsafe") LINE("b", "u2.0", "nonthreadsafe")
			  LINE("a", "u2.0", "threadsafe"),
	    "x", " has no such name; it has a, b");
}
END_TEST

START_TEST(reason__many_other_names__are_counted)
{
	assert_reason(LINE("a", "u2.0", "threadsafe") LINE("b", "u2.0", "threadsafe")
			  LINE("c", "u2.0", "threadsafe") LINE("d", "u2.0", "threadsafe")
			      LINE("e", "u2.0", "threadsafe") LINE("f", "u2.0", "threadsafe") LINE(
				  "g", "u2.0", "threadsafe") LINE("h", "u2.0", "threadsafe")
				  LINE("i", "u2.0", "threadsafe") LINE("j", "u2.0", "threadsafe"),
	    "x", " has no such name; it has a, b, c, d, e, f, g, h and 2 more");
}
END_TEST

START_TEST(reason__empty_file__has_no_name)
{
	assert_reason("# nothing\n", "x", " has no such name, nor any other");
}
END_TEST

START_TEST(reason__other_keys__are_listed_with_their_lines)
{
	assert_reason(
	    "# a comment\n" LINE("x", "u1.2", "threadsafe") LINE("x", "u2.0",
		"nonthreadsafe") "x u2.0 threadsafe nondefault l id.2.0 \"\" \"\"\n" LINE("x",
		"k2.0", "threadsafe"),
	    "x",
	    " has the name in line 2 as u1.2 threadsafe, in line 3 as u2.0 nonthreadsafe, "
	    "in line 4 as u2.0 threadsafe nondefault, in line 5 as k2.0 threadsafe");
}
END_TEST

START_TEST(reason__file_that_cannot_be_read__is_reported)
{
	char want[8192];
	DAT_IA_HANDLE ia;

	setenv("DAT_OVERRIDE", story_path("nowhere.conf"), 1);
	story_listen();
	story_assert_ret(story_try_open("x", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	snprintf(want, sizeof want,
	    "dat: no provider for \"x\" u2.0 threadsafe: %s cannot be read\n",
	    story_path("nowhere.conf"));
	ck_assert_ptr_nonnull(strstr(story_heard(), want));
}
END_TEST

/* The library has said what is wrong with it; once is enough. */
START_TEST(reason__library_fails__the_loaders_reason_is_printed_alone)
{
	DAT_IA_HANDLE ia;

	story_conf("x u2.0 threadsafe default " STUB_NO_INIT_PATH " id.2.0 \"\" \"\"\n");
	story_listen();
	story_assert_ret(story_try_open("x", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	ck_assert_ptr_null(strstr(story_heard(), "no provider"));
}
END_TEST

Suite *
dat_reason_suite(void)
{
	Suite *suite = suite_create("reason");
	TCase *t;

	t = story_tcase(suite, "reason");
	tcase_add_test(t, reason__unknown_name__names_the_file_and_its_adapters);
	tcase_add_test(t, reason__many_other_names__are_counted);
	tcase_add_test(t, reason__empty_file__has_no_name);
	tcase_add_test(t, reason__other_keys__are_listed_with_their_lines);
	tcase_add_test(t, reason__file_that_cannot_be_read__is_reported);
	tcase_add_test(t, reason__library_fails__the_loaders_reason_is_printed_alone);
	return suite;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is printed on standard error when an adapter has no provider
 */
#include "story.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_FOUND DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED)

#define LINE(name, version, safety) name " " version " " safety " default l id.2.0 \"\" \"\"\n"
#define CONF_LINE "x u2.0 threadsafe default %s id.2.0 \"\" \"\"\n"

static void
assert_reason(const char *text, const char *name, const char *before, const char *after)
{
	char line[8192];
	DAT_IA_HANDLE ia;

	story_conf(text);
	story_listen();
	story_assert_ret(story_try_open(name, 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	snprintf(line, sizeof line,
	    "dat: dat_ia_open(\"%s\"): no provider for u2.0 threadsafe: %s%s%s\n", name, before,
	    story_conf_path(), after);
	ck_assert_str_eq(story_heard(), line);
}

STORY_CASE("reason:reason");

TEST(reason__unknown_name__names_the_file_and_its_adapters)
{
	assert_reason(LINE("a", "u2.0", "threadsafe") LINE("b", "u2.0", "nonthreadsafe")
			  LINE("a", "u2.0", "threadsafe"),
	    "x", "", " has no such name; it has a, b; add a line: dat.conf(5)");
}

TEST(reason__many_other_names__are_counted)
{
	assert_reason(LINE("a", "u2.0", "threadsafe") LINE("b", "u2.0", "threadsafe")
			  LINE("c", "u2.0", "threadsafe") LINE("d", "u2.0", "threadsafe")
			      LINE("e", "u2.0", "threadsafe") LINE("f", "u2.0", "threadsafe") LINE(
				  "g", "u2.0", "threadsafe") LINE("h", "u2.0", "threadsafe")
				  LINE("i", "u2.0", "threadsafe") LINE("j", "u2.0", "threadsafe"),
	    "x", "",
	    " has no such name; it has a, b, c, d, e, f, g, h and 2 more; add a line: dat.conf(5)");
}

static const char misspelt_conf[] = LINE("rearm-soft", "u2.0", "threadsafe")
    LINE("rearm-ib0", "u2.0", "threadsafe") LINE("rearm-ib0", "u2.0", "nonthreadsafe")
	LINE("rearm-ib1", "u2.0", "threadsafe") LINE("local", "u2.0", "threadsafe");

#define HAS " has no such name; it has rearm-soft, rearm-ib0, rearm-ib1, local; "
#define ADD "add a line: dat.conf(5)"
#define MEANT(name) HAS "did you mean " name "? If not, " ADD

TEST(reason__misspelt_name__the_one_that_is_near_is_named)
{
	assert_reason(misspelt_conf, "rearm-sotf", "", MEANT("rearm-soft"));
	assert_reason(misspelt_conf, "rearmsoftt", "", MEANT("rearm-soft"));
	assert_reason(misspelt_conf, "rarm-ib0", "", MEANT("rearm-ib0"));
	assert_reason(misspelt_conf, "loca", "", MEANT("local"));
}

TEST(reason__name_with_no_or_several_near_ones__has_no_suggestion)
{
	assert_reason(misspelt_conf, "rearm-ib2", "", HAS ADD);
	assert_reason(misspelt_conf, "rearm-stuff", "", HAS ADD);
	assert_reason(misspelt_conf, "lo", "", HAS ADD);
}

TEST(reason__name_with_near_ones_of_several_keys__has_no_suggestion)
{
	assert_reason(LINE("ib0", "u2.0", "threadsafe") LINE("ib1", "u2.0", "threadsafe")
			  LINE("ib1", "u2.0", "nonthreadsafe"),
	    "ib2", "", " has no such name; it has ib0, ib1; " ADD);
}

/* origin: out33.F10 */
TEST(reason__name_in_other_case__is_named)
{
	assert_reason(misspelt_conf, "REARM-SOFT", "", MEANT("rearm-soft"));
	assert_reason(misspelt_conf, "Rearm-IB1", "", MEANT("rearm-ib1"));
	assert_reason(misspelt_conf, "REARM-SOTF", "", MEANT("rearm-soft"));
	assert_reason(misspelt_conf, "l", "", HAS ADD);
	assert_reason(misspelt_conf, "rearm-IB2", "", HAS ADD);
}

/* A name that may be opened in several ways is one name. */
/* origin: out33.F10 */
TEST(reason__name_with_several_keys__is_listed_and_counted_once)
{
	assert_reason(
	    LINE("a", "u2.0",
		"threadsafe") "a u2.0 threadsafe nondefault l id.2.0 \"\" \"\"\n" LINE("a", "u2.0",
		"nonthreadsafe") LINE("a", "u1.2", "threadsafe") LINE("b", "u2.0", "nonthreadsafe"),
	    "x", "", " has no such name; it has a, b; add a line: dat.conf(5)");
}

/* Its first lines do not count, in whatever way. */
/* origin: out35.P32 */
TEST_LOOP(reason__name_that_counts_by_a_later_line__is_listed_and_suggested, 3)
{
	static const char *const none[] = { "ab1 k2.0 threadsafe default l id.2.0 \"\" \"\"\n",
		"ab1 u2.0 threadsafe nondefault l id.2.0 \"\" \"\"\n",
		"ab1 k2.0 nonthreadsafe nondefault l id.2.0 \"\" \"\"\n" };
	char conf[512];

	snprintf(conf, sizeof conf, "%s%s%s%s", none[_i], LINE("other", "u2.0", "threadsafe"),
	    none[_i], LINE("ab1", "u2.0", "threadsafe"));
	assert_reason(conf, "ab2", "",
	    " has no such name; it has other, ab1; did you mean ab1? If not, add a line: "
	    "dat.conf(5)");
}

/* origin: out33.F10 */
TEST(reason__many_names_with_several_keys__the_rest_is_counted_by_names)
{
	char conf[4096] = "";

	for (int i = 0; i < 11; i++)
		for (int k = 0; k < 2; k++)
			snprintf(conf + strlen(conf), sizeof conf - strlen(conf),
			    "n%02d u2.0 %s default l id.2.0 \"\" \"\"\n", i,
			    k ? "nonthreadsafe" : "threadsafe");
	assert_reason(conf, "other", "",
	    " has no such name; it has n00, n01, n02, n03, n04, n05, n06, n07 and 3 more; "
	    "add a line: dat.conf(5)");
}

TEST(reason__empty_file__has_no_name)
{
	assert_reason("# nothing\n", "x", "there is no record in ",
	    " (no record in it); add a line: dat.conf(5)");
}

TEST(reason__other_keys__are_listed_with_their_lines)
{
	assert_reason(
	    "# a comment\n" LINE("x", "u1.2", "threadsafe") LINE("x", "u2.0",
		"nonthreadsafe") "x u2.0 threadsafe nondefault l id.2.0 \"\" \"\"\n" LINE("x",
		"k2.0", "threadsafe"),
	    "x", "",
	    " has the name in line 2 as u1.2 threadsafe (the program asks for u2.0), "
	    "in line 3 as u2.0 nonthreadsafe (the program asks for threadsafe), "
	    "in line 4 as u2.0 threadsafe nondefault (which switches it off), "
	    "in line 5 as k2.0 threadsafe (k: for the kernel); change a line, or add one: "
	    "dat.conf(5)");
}

TEST_LOOP(reason__fifth_line_of_a_name__is_not_shown, 2)
{
	char conf[1024] = "", after[1024] = " has the name";

	for (int i = 1; i <= 4 + _i; i++) {
		strcat(conf, LINE("x", "u2.1", "threadsafe"));
		if (i <= 4)
			snprintf(after + strlen(after), sizeof after - strlen(after),
			    "%s in line %d as u2.1 threadsafe (the program asks for u2.0)",
			    i > 1 ? "," : "", i);
	}
	strcat(after, _i ? ", and in further lines; " : "; ");
	strcat(after, "change a line, or add one: dat.conf(5)");
	assert_reason(conf, "x", "", after);
}

TEST(reason__file_that_cannot_be_read__is_reported)
{
	char want[8192];
	DAT_IA_HANDLE ia;

	setenv("DAT_OVERRIDE", story_path("nowhere.conf"), 1);
	story_listen();
	story_assert_ret(story_try_open("x", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	snprintf(want, sizeof want,
	    "dat: cannot read %s: No such file or directory\n"
	    "dat: dat_ia_open(\"x\"): no provider for u2.0 threadsafe: there is no record in %s "
	    "(No such file or directory); add a line: dat.conf(5)\n",
	    story_path("nowhere.conf"), story_path("nowhere.conf"));
	ck_assert_str_eq(story_heard(), want);
}

static void
assert_library_reason(const char *library, const char *format, ...)
{
	char conf[8192], line[8192], want[16384];
	DAT_IA_HANDLE ia;
	va_list args;

	snprintf(conf, sizeof conf, "# 1\n" CONF_LINE, library);
	story_conf(conf);
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	snprintf(want, sizeof want, "dat: dat_ia_open(\"x\"): %s:2: %s\n", story_conf_path(), line);
	/* Also for a program that may have either. */
	for (int i = 0; i < 2; i++) {
		story_listen();
		story_assert_ret(
		    story_try_open("x", 2, 0, i ? DAT_FALSE : DAT_TRUE, &ia), NOT_FOUND);
		ck_assert_str_eq(story_heard(), want);
	}
}

TEST(reason__library_that_no_folder_has__says_where_to_look)
{
	assert_library_reason("librearm-nowhere.so.9",
	    "cannot load the library: librearm-nowhere.so.9: cannot open shared object file: No "
	    "such file or directory; write its path in the fifth field, or add its folder to "
	    "/etc/ld.so.conf and run ldconfig");
}

TEST(reason__path_without_library__says_so)
{
	assert_library_reason("/nowhere/l.so",
	    "cannot load the library: /nowhere/l.so: cannot open shared object file: No such file "
	    "or directory; install the provider, or correct the fifth field");
}

TEST(reason__file_that_is_no_library__is_reported)
{
	assert_library_reason("/dev/null", "cannot load the library: /dev/null: file too short");
}

TEST(reason__library_without_init__is_no_provider)
{
	assert_library_reason(STUB_NO_INIT_PATH,
	    "%s is not a DAT provider: it has no dat_provider_init(); correct the fifth field",
	    STUB_NO_INIT_PATH);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat.conf: what is read, what is rejected and with which message
 */
#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GOOD(name) name " u2.0 nonthreadsafe default lib.so id.2.0 \"\" \"\"\n"

/* Line 2 is bad for this reason; the lines around it are read. */
static void
assert_refused(const char *bad, const char *reason)
{
	char conf[32768], want[8192];

	snprintf(conf, sizeof conf, GOOD("before") "%s\n" GOOD("after"), bad);
	story_conf(conf);
	story_listen();
	ck_assert_str_eq(story_listed(), "before after ");
	snprintf(want, sizeof want, "dat: %s:2: %s; line ignored\n", story_conf_path(), reason);
	ck_assert_str_eq(story_heard(), want);
}

/* The text is read without a word, and these names are listed. */
static void
assert_read(const char *text, const char *names)
{
	story_conf(text);
	story_listen();
	ck_assert_str_eq(story_listed(), names);
	ck_assert_str_eq(story_heard(), "");
}

STORY_CASE("conf:read");

TEST(conf__empty_file__lists_nothing)
{
	assert_read("", "");
}

/* clause: b.1.3 */
TEST(conf__good_lines__keep_their_order)
{
	assert_read(GOOD("c") GOOD("a") GOOD("b"), "c a b ");
}

TEST(conf__last_line_without_newline__is_read)
{
	assert_read("x u2.0 threadsafe default lib.so id.2.0 \"\" \"\"", "x ");
}

TEST(conf__byte_order_mark__is_no_part_of_the_first_line)
{
	assert_read("\xef\xbb\xbf" GOOD("x") GOOD("y"), "x y ");
}

TEST(conf__byte_order_mark_before_a_comment__is_no_part_of_it)
{
	assert_read("\xef\xbb\xbf# a comment\n" GOOD("x"), "x ");
}

TEST(conf__byte_order_mark_alone__is_nothing)
{
	assert_read("\xef\xbb\xbf", "");
}

/* There it is a character of the name. */
TEST(conf__byte_order_mark_of_another_line__is_no_mark)
{
	assert_read(GOOD("x") "\xef\xbb\xbf" GOOD("y"), "x \xef\xbb\xbfy ");
}

/* clause: b.1.3 */
TEST(conf__comments_and_blank_lines__are_nothing)
{
	assert_read("# a comment\n\n  \t \n   # another\n" GOOD("x") "#" GOOD("y"), "x ");
}

TEST(conf__comment_behind_a_record__is_nothing)
{
	assert_read("x u2.0 threadsafe default lib.so id.2.0 \"\" \"\" # why\n", "x ");
}

TEST(conf__hash_within_a_field__belongs_to_it)
{
	assert_read(GOOD("a#b"), "a#b ");
}

/* clause: b.1.3 */
TEST(conf__quoted_name_with_blanks__is_one_field)
{
	assert_read(
	    "\"two words\" u2.0 threadsafe default lib.so id.2.0 \"\" \"\"\n", "two words ");
}

/* clause: b.1.3 */
TEST(conf__backslash_within_quotes__takes_the_next_character)
{
	assert_read(GOOD("\"a\\b\\\"c\\\\d\""), "ab\"c\\d ");
}

TEST(conf__backslash_outside_quotes__is_itself)
{
	assert_read(GOOD("a\\b\\#c\\"), "a\\b\\#c\\ ");
}

TEST(conf__quote_behind_a_word__begins_the_next_field)
{
	assert_read("x u2.0 threadsafe default\"l\"id.2.0\"a\"\"b\"\n", "x ");
}

/* clause: b.1.6 */
TEST(conf__kernel_and_nondefault_lines__are_passed_over_in_silence)
{
	assert_read("k k2.0 threadsafe default lib.so id.2.0 \"\" \"\"\n"
		    "n u2.0 threadsafe nondefault lib.so id.2.0 \"\" \"\"\n" GOOD("x"),
	    "x ");
}

/* clause: b.3.4 */
TEST(conf__library_and_parameters__reach_the_provider_as_written)
{
	DAT_IA_HANDLE ia;

	story_conf("x u2.0 nonthreadsafe default \"%S\" id.2.0 \"eth0 0 \\\"a\\\"\" \"p\"\n");
	ia = story_open("x", DAT_FALSE);
	ck_assert_int_eq(story_traced("init x 2.0 0 \"eth0 0 \"a\"\""), 1);
	story_close(ia);
}

STORY_CASE("conf:refuse");

/* clause: b.1.5 */
TEST(conf__too_few_fields__are_counted)
{
	assert_refused("x u2.0 threadsafe", "3 fields where 8 are due");
}

TEST(conf__one_field__is_singular)
{
	assert_refused("x", "1 field where 8 are due");
}

/* clause: b.1.5 */
TEST(conf__too_many_fields__are_refused)
{
	assert_refused("x u2.0 threadsafe default lib.so id.2.0 eth0 0 more",
	    "there are more than 8 fields (quote blanks, end each line)");
}

TEST(conf__open_quote__is_refused)
{
	assert_refused("x u2.0 threadsafe default lib.so id.2.0 \"eth0 0", "a quote is not closed");
}

TEST(conf__escaped_closing_quote__closes_nothing)
{
	assert_refused(
	    "x u2.0 threadsafe default lib.so id.2.0 eth0 \"p\\\"", "a quote is not closed");
}

TEST(conf__backslash_at_the_end_of_an_open_quote__is_refused)
{
	assert_refused(
	    "x u2.0 threadsafe default lib.so id.2.0 eth0 \"p\\", "a quote is not closed");
}

/* clause: b.1.5 */
TEST(conf__bad_api_version__is_shown)
{
	assert_refused("x 2.0 threadsafe default l id.2.0 a b",
	    "field 2 is \"2.0\", not an API version such as u2.0");
}

TEST(conf__api_version_without_minor__is_refused)
{
	assert_refused("x u2 threadsafe default l id.2.0 a b",
	    "field 2 is \"u2\", not an API version such as u2.0");
}

TEST(conf__api_version_beyond_32_bits__is_refused)
{
	assert_refused("x u2.4294967296 threadsafe default l id.2.0 a b",
	    "field 2 is \"u2.4294967296\", not an API version such as u2.0");
}

TEST(conf__negative_version__is_refused)
{
	assert_refused("x u2.-1 threadsafe default l id.2.0 a b",
	    "field 2 is \"u2.-1\", not an API version such as u2.0");
}

/* clause: b.1.5 */
TEST(conf__bad_thread_safety__is_shown)
{
	assert_refused("x u2.0 maybe default l id.2.0 a b",
	    "field 3 is \"maybe\", neither threadsafe nor nonthreadsafe");
}

TEST(conf__bad_default__is_shown)
{
	assert_refused("x u2.0 threadsafe yes l id.2.0 a b",
	    "field 4 is \"yes\", neither default nor nondefault");
}

TEST(conf__bad_provider_version__is_shown)
{
	assert_refused("x u2.0 threadsafe default l dapl2.0 a b",
	    "field 6 is \"dapl2.0\", not a provider version such as dapl.2.0");
}

TEST_LOOP(conf__bad_provider_version__is_shown_to_40_bytes, 2)
{
	static const char *const rest[2][2] = { { "", "" }, { "1", "..." } };
	char line[128], reason[128];

	snprintf(line, sizeof line,
	    "x u2.0 threadsafe default l 123456789%%123456789s123456789n123456789c%s a b",
	    rest[_i][0]);
	snprintf(reason, sizeof reason,
	    "field 6 is \"123456789%%123456789s123456789n123456789c%s\", not a provider version "
	    "such as dapl.2.0",
	    rest[_i][1]);
	assert_refused(line, reason);
}

TEST(conf__control_characters_of_a_field__do_not_reach_the_terminal)
{
	assert_refused("x u2.0 \033[2J default l id.2.0 a b",
	    "field 3 is \"\\x1b[2J\", neither threadsafe nor nonthreadsafe");
}

TEST(conf__long_word_in_a_message__is_cut)
{
	assert_refused("x u2.0 1234567890123456789012345678901234567890x default l id.2.0 a b",
	    "field 3 (thread safety) is longer than 31 bytes");
}

TEST(conf__empty_name__is_refused)
{
	assert_refused(
	    "\"\" u2.0 threadsafe default l id.2.0 a b", "field 1 (interface name) is empty");
}

TEST(conf__empty_library__is_refused)
{
	assert_refused(
	    "x u2.0 threadsafe default \"\" id.2.0 a b", "field 5 (library path) is empty");
}

STORY_CASE("conf:read");

TEST(conf__name_of_255_bytes__is_read)
{
	char conf[512], want[512];

	memset(want, 'n', 255);
	strcpy(want + 255, " ");
	snprintf(conf, sizeof conf, "%.255s u2.0 threadsafe default l id.2.0 a b\n", want);
	assert_read(conf, want);
}

STORY_CASE("conf:refuse");

TEST(conf__name_of_256_bytes__is_refused)
{
	char line[512];

	memset(line, 'n', 256);
	strcpy(line + 256, " u2.0 threadsafe default l id.2.0 a b");
	assert_refused(line, "field 1 (interface name) is longer than 255 bytes");
}

TEST(conf__parameters_of_4096_bytes__are_refused)
{
	char line[8192] = "x u2.0 threadsafe default l id.2.0 ";
	size_t n = strlen(line);

	memset(line + n, 'p', 4096);
	strcpy(line + n + 4096, " b");
	assert_refused(line, "field 7 (interface parameters) is longer than 4095 bytes");
}

/*
 * A field as long as it may be, and with a byte more: the name, so that the line is known, is in
 * front.
 */
static const struct {
	const char *before, *name;
	int most;
	bool number; /* only so is it a right one */
	const char *behind;
} limits[] = {
	{ "x u2.", "API version", 31 - 3, true, " threadsafe default l id.2.0 a b" },
	{ "x u2.0 threadsafe default ", "library path", 4095, false, " id.2.0 a b" },
	{ "x u2.0 threadsafe default l i.0.", "provider version", 255 - 4, true, " a b" },
	{ "x u2.0 threadsafe default l id.2.0 ", "interface parameters", 4095, false, " b" },
	{ "x u2.0 threadsafe default l id.2.0 a ", "platform parameters", 4095, false, "" },
};

/* origin: out33.H3 */
TEST_LOOP(conf__each_field_at_its_limit__is_read_and_one_byte_more_is_refused,
    2 * sizeof limits / sizeof limits[0])
{
	const int i = _i / 2, more = _i % 2, field = i == 0 ? 2 : i + 4;
	char line[8192], fill[4200], reason[128];

	memset(fill, limits[i].number ? '0' : 'p', sizeof fill);
	snprintf(line, sizeof line, "%s%.*s%s", limits[i].before, limits[i].most + more, fill,
	    limits[i].behind);
	if (!more) {
		strcat(line, "\n");
		assert_read(line, "x ");
		return;
	}
	snprintf(reason, sizeof reason, "field %d (%s) is longer than %d bytes", field,
	    limits[i].name, limits[i].number ? field == 2 ? 31 : 255 : limits[i].most);
	assert_refused(line, reason);
}

static const struct {
	const char *version, *provider;
	bool good;
} versions[] = {
	{ "u4294967295.4294967295", "id.4294967295.4294967295", true },
	{ "u4294967296.0", "id.2.0", false },
	{ "u2.0x", "id.2.0", false },
	{ "u2.0.0", "id.2.0", false },
	{ "u.0", "id.2.0", false },
	{ "u2.", "id.2.0", false },
	{ "u 2.0", "id.2.0", false },
	{ "U2.0", "id.2.0", false },
	{ "k2", "id.2.0", false },
	{ "u2.0", ".2.0", false },
	{ "u2.0", "id", false },
	{ "u2.0", "id.2", false },
	{ "u2.0", "id.4294967296.0", false },
	{ "u2.0", "id.2.0x", false },
	{ "u2.0", "id.2.0.0", false },
	{ "u2.0", "i.d.2.0", false },
};

/* origin: out33.H3 */
TEST_LOOP(conf__versions__each_side_of_each_limit, sizeof versions / sizeof versions[0])
{
	DAT_REARM_RECORD records[2];
	DAT_COUNT n = -1;
	char line[256];

	snprintf(line, sizeof line, "x \"%s\" threadsafe default l \"%s\" a b\n",
	    versions[_i].version, versions[_i].provider);
	story_conf(line);
	story_listen();
	story_assert_ret(dat_rearm_list_records(2, &n, records), DAT_SUCCESS);
	ck_assert_msg((*story_heard() == '\0') == versions[_i].good, "%s", line);
	ck_assert_int_eq(n, versions[_i].good);
	if (versions[_i].good)
		ck_assert(records[0].version_major == UINT32_MAX &&
			  records[0].version_minor == UINT32_MAX);
}

/* origin: out33.H3 */
TEST(conf__each_blank__separates_fields)
{
	assert_read("x\tu2.0\vthreadsafe\fdefault \t\v\fl id.2.0 a b\v\f\n\v\f\n", "x ");
}

/* origin: out33.H3 */
TEST_LOOP(conf__line_of_16_kib__is_read_and_one_byte_more_is_refused, 2)
{
	char line[16384 + 2] = "x u2.0 threadsafe default l id.2.0 a b #";
	size_t n = strlen(line);

	memset(line + n, 'c', 16384 - n);
	strcpy(line + 16384, _i ? "c" : "\n");
	if (_i)
		assert_refused(line, "the line is longer than 16384 bytes");
	else
		assert_read(line, "x ");
}

TEST(conf__line_longer_than_16_kib__is_refused_whole)
{
	char line[20000];

	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	assert_refused(line, "the line is longer than 16384 bytes");
}

TEST(conf__carriage_return__is_refused)
{
	assert_refused("x u2.0 threadsafe default l id.2.0 a b\r",
	    "the line has a carriage return in it (a text file of another system?)");
}

TEST(conf__nul_byte__is_refused)
{
	static const char conf[] =
	    GOOD("before") "x u2.0 thr\0eadsafe default l id.2.0 a b\n" GOOD("after");
	char want[4200];

	story_conf_raw(conf, sizeof conf - 1);
	story_listen();
	ck_assert_str_eq(story_listed(), "before after ");
	snprintf(want, sizeof want, "dat: %s:2: the line has a NUL byte in it; line ignored\n",
	    story_conf_path());
	ck_assert_str_eq(story_heard(), want);
}

/* clause: b.1.4 */
TEST(conf__three_bad_lines__give_three_messages)
{
	char want[13000];
	const char *path = story_conf_path();

	story_conf("a\n" GOOD("x") "b c\n\n# d\n\"e\n");
	story_listen();
	ck_assert_str_eq(story_listed(), "x ");
	snprintf(want, sizeof want,
	    "dat: %s:1: 1 field where 8 are due; line ignored\n"
	    "dat: %s:3: 2 fields where 8 are due; line ignored\n"
	    "dat: %s:6: a quote is not closed; line ignored\n",
	    path, path, path);
	ck_assert_str_eq(story_heard(), want);
}

STORY_CASE("conf:file");

TEST(conf__endless_file__ends)
{
	DAT_COUNT n = -1;

	setenv("DAT_OVERRIDE", "/dev/zero", 1);
	story_listen();
	story_assert_ret(dat_registry_list_providers(0, &n, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	ck_assert_int_eq(n, 0);
	ck_assert_str_eq(story_heard(), "dat: /dev/zero:1: the file is larger than 4194304 bytes; "
					"the rest is ignored\n");
}

/* Of many lines, the last of which ends with the last byte that counts, or behind it. */
TEST_LOOP(conf__file_of_4_mib__is_read_and_what_is_behind_is_ignored, 2)
{
	enum { MOST = 4 << 20, LINES = 4096 };
	static char conf[MOST + 2];
	const char *last = GOOD("last");
	const size_t behind = _i, size = MOST + 2 * behind;
	char want[4200] = "";

	memset(conf, '#', sizeof conf);
	for (size_t i = MOST / LINES; i < MOST; i += MOST / LINES)
		conf[i - 1] = '\n';
	memcpy(conf, GOOD("first"), strlen(GOOD("first")));
	memcpy(conf + size - strlen(last), last, strlen(last));
	conf[size - strlen(last) - 1] = '\n';
	story_conf_raw(conf, size);
	story_listen();
	ck_assert_str_eq(story_listed(), behind ? "first " : "first last ");
	if (behind)
		snprintf(want, sizeof want,
		    "dat: %s:%d: the file is larger than 4194304 bytes; the rest is ignored\n",
		    story_conf_path(), LINES + 2);
	ck_assert_str_eq(story_heard(), want);
}

/* clause: b.1.1 */
TEST(conf__override_that_is_not_there__gives_no_providers_and_a_message)
{
	char want[8192];

	setenv("DAT_OVERRIDE", story_path("nowhere"), 1);
	story_listen();
	ck_assert_str_eq(story_listed(), "");
	snprintf(want, sizeof want, "dat: cannot read %s: No such file or directory\n",
	    story_path("nowhere"));
	ck_assert_str_eq(story_heard(), want);
}

TEST(conf__override_that_is_a_directory__gives_a_message)
{
	setenv("DAT_OVERRIDE", "/", 1);
	story_listen();
	ck_assert_str_eq(story_listed(), "");
	ck_assert_str_eq(story_heard(), "dat: cannot read /: Is a directory\n");
}

STORY_CASE("conf:read");

/* clause: b.1.8 */
TEST(conf__read_once__a_later_change_is_not_seen)
{
	story_conf(GOOD("first"));
	ck_assert_str_eq(story_listed(), "first ");
	story_conf(GOOD("second"));
	ck_assert_str_eq(story_listed(), "first ");
}

STORY_CASE("conf:log");

TEST(log__mask_without_errors__is_silent)
{
	setenv("DAT_DBG_TYPE", "0", 1);
	story_conf("bad\n");
	story_listen();
	ck_assert_str_eq(story_listed(), "");
	ck_assert_str_eq(story_heard(), "");
}

/* clause: b.6.6 */
TEST(log__registry_classes__print_load_and_registration)
{
	const char *heard;

	setenv("DAT_DBG_TYPE", "0xc", 1);
	story_conf("x u2.0 threadsafe default %S id.2.0 \"\" \"\"\n");
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	heard = story_heard();
	ck_assert_ptr_nonnull(strstr(heard, "dat: loaded "));
	ck_assert_ptr_nonnull(strstr(heard, "dat: \"x\" 2.0 threadsafe has registered\n"));
	ck_assert_ptr_nonnull(strstr(heard, "dat: \"x\" has removed its registration\n"));
}

/* clause: b.6.6 */
TEST_LOOP(log__destination_stdout__is_not_stderr, 4)
{
	static const char *const values[] = { "1", "stdout", "stdout,syslog", "3" };
	const int kept = dup(STDOUT_FILENO);
	char want[4200], got[4200] = "";
	FILE *file;

	setenv("DAT_DBG_DEST", values[_i], 1);
	story_conf("bad\n");
	story_listen();
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	ck_assert_str_eq(story_listed(), "");
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	(void)!fread(got, 1, sizeof got - 1, file);
	fclose(file);
	snprintf(want, sizeof want, "dat: %s:1: 1 field where 8 are due; line ignored\n",
	    story_conf_path());
	ck_assert_str_eq(got, want);
	ck_assert_str_eq(story_heard(), "");
}

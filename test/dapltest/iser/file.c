/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include "iser/backing.h"
#include "iser/digest.h"
#include "iser/options.h"
#include "iser/progress.h"
#include "iser/report.h"
#include "iser/scsi/file.h"

#include <errno.h>
#include <string.h>

CASE("iser-file:files");

TEST(backing__written_in_pieces__reads_back_and_sums_right)
{
	struct backing b = BACKING_NONE;
	struct digest digest;
	char text[DIGEST_TEXT], back[3];

	ck_assert_int_eq(backing_open_temporary(&b), 0);
	ck_assert_uint_eq(b.bytes, 0);
	ck_assert_int_eq(backing_reserve(&b, 3), 0);
	ck_assert_int_eq(file_write(b.fd, 1, "bc", 2), 0);
	ck_assert_int_eq(file_write(b.fd, 0, "a", 1), 0);
	ck_assert_int_eq(file_read(b.fd, 0, back, 3), 0);
	ck_assert_mem_eq(back, "abc", 3);
	ck_assert_int_eq(digest_backing(&b, NULL, &digest), 0);
	/* The example of FIPS 180-2. */
	ck_assert_str_eq(digest_text(&digest, text),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ck_assert_int_eq(backing_reserve(&b, 1), 0);
	ck_assert_uint_eq(b.bytes, 3);
	backing_close(&b);
	ck_assert_int_eq(b.fd, -1);
	backing_close(&b);
}

TEST(backing__read_behind_the_end__is_an_error)
{
	struct backing b = BACKING_NONE;
	char back[8];

	ck_assert_int_eq(backing_open_temporary(&b), 0);
	ck_assert_int_eq(backing_reserve(&b, 4), 0);
	ck_assert_int_eq(file_read(b.fd, 0, back, 8), -EIO);
	ck_assert_int_eq(backing_reserve(&b, UINT64_MAX), -EFBIG);
	backing_close(&b);
}

TEST(backing_open_source__nothing_to_copy__is_refused)
{
	struct backing b = BACKING_NONE;

	ck_assert_int_eq(backing_open_source(&b, "/nowhere/at/all"), -ENOENT);
	ck_assert_int_eq(backing_open_source(&b, "/dev/null"), -ENODATA);
	ck_assert_int_eq(backing_open_source(&b, "/usr"), -EISDIR);
	ck_assert_int_eq(b.fd, -1);
}

static const struct {
	const char *text;
	uint64_t limit;
	int r;
	uint64_t size;
} sizes[] = {
	{ "1", 100, 0, 1 },
	{ "64K", UINT64_MAX, 0, 65536 },
	{ "64k", 65536, 0, 65536 },
	{ "64k", 65535, -ERANGE, 0 },
	{ "0", 65535, -ERANGE, 0 },
	{ "3M", UINT64_MAX, 0, 3 << 20 },
	{ "2G", UINT64_MAX, 0, UINT64_C(2) << 30 },
	{ "1T", UINT64_MAX, 0, UINT64_C(1) << 40 },
	{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
	{ "18446744073709551615K", UINT64_MAX, -ERANGE, 0 },
	{ "", 100, -EINVAL, 0 },
	{ "-1", 100, -EINVAL, 0 },
	{ " 1", 100, -EINVAL, 0 },
	{ "K", 100, -EINVAL, 0 },
	{ "1KB", 10000, -EINVAL, 0 },
	{ "1.5", 100, -EINVAL, 0 },
};

CASE("iser-file:text");

TEST_LOOP(options_parse_size__suffixes_and_nonsense, (sizeof sizes / sizeof sizes[0]))
{
	uint64_t size = 0;

	ck_assert_int_eq(
	    options_parse_size(sizes[_i].text, 1, sizes[_i].limit, &size), sizes[_i].r);
	ck_assert_uint_eq(size, sizes[_i].size);
}

TEST(report_duration__from_ns_to_s__keeps_three_digits)
{
	char text[32];

	ck_assert_str_eq(report_duration(0, text, sizeof text), "0 ns");
	ck_assert_str_eq(report_duration(999, text, sizeof text), "999 ns");
	ck_assert_str_eq(report_duration(1000, text, sizeof text), "1.00 us");
	ck_assert_str_eq(report_duration(12345, text, sizeof text), "12.3 us");
	ck_assert_str_eq(report_duration(99960, text, sizeof text), "100 us");
	ck_assert_str_eq(report_duration(999600, text, sizeof text), "1.00 ms");
	ck_assert_str_eq(report_duration(UINT64_C(123000000000), text, sizeof text), "123 s");
}

TEST(progress_text__none_half_and_all__fills_the_bar)
{
	char text[128];

	progress_text(text, sizeof text, "write", 0, 10);
	ck_assert_str_eq(text, "write [----------------------------------------]   0%");
	progress_text(text, sizeof text, "read", 5, 10);
	ck_assert_str_eq(text, "read  [####################--------------------]  50%");
	progress_text(text, sizeof text, "read", 10, 10);
	ck_assert_str_eq(text, "read  [########################################] 100%");
}

static void
render(const struct report *report, void (*print)(const struct report *, FILE *), char *text,
    size_t size)
{
	FILE *out = fmemopen(text, size, "w");

	ck_assert_ptr_nonnull(out);
	print(report, out);
	fclose(out);
}

TEST(report__a_sum_that_differs__is_reported)
{
	static struct histogram latency;
	struct tally tally = { .upcalls = 3, .events = 9 };
	struct report report = {
		.source = "a \"file\"",
		.bytes = 5000000,
		.ia = "rearm-soft",
		.sums = { { .name = "source" }, { .name = "target" } },
		.sum_count = 2,
		.jobs = { { "write", 1000000000, &latency } },
		.job_count = 1,
		.sides = { { "initiator", &tally } },
		.side_count = 1,
	};
	char text[4096];

	histogram_clear(&latency);
	histogram_add(&latency, 1500);
	tally.evd.races_closed = 7;
	ck_assert(report_sums_match(&report));
	render(&report, report_print_table, text, sizeof text);
	ck_assert_ptr_nonnull(strstr(text, "matches"));
	ck_assert_ptr_nonnull(strstr(text, "1.50 us"));
	ck_assert_ptr_nonnull(strstr(text, " 5.0 ")); /* MB/s */

	report.sums[1].digest.bytes[31] = 1;
	ck_assert(!report_sums_match(&report));
	render(&report, report_print_table, text, sizeof text);
	ck_assert_ptr_nonnull(strstr(text, "DIFFERS"));
	render(&report, report_print_json, text, sizeof text);
	ck_assert_ptr_nonnull(strstr(text, "\"match\":false"));
	ck_assert_ptr_nonnull(strstr(text, "\"source\":\"a \\\"file\\\"\""));
	ck_assert_ptr_nonnull(strstr(text, "\"races_closed\":7"));
}

/* Names of files have any bytes; JSON has UTF-8. */
TEST_LOOP(report__a_name_that_is_no_utf_8__is_valid_json, 7)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "gr\xfc\xdf", "gr\\ufffd\\ufffd" },
		{ "\xc3", "\\ufffd" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },	     /* longer than it has to be */
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" }, /* half of a pair */
		{ "a\nb\x01\\", "a\\u000ab\\u0001\\\\" },
	};
	struct report report = { .source = cases[_i].name, .ia = "" };
	char text[4096], want[128];

	render(&report, report_print_json, text, sizeof text);
	snprintf(want, sizeof want, "{\"source\":\"%s\",", cases[_i].shown);
	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s is not %s", text, want);
}

static uint64_t sum_calls, sum_done;

static void
note_sum(uint64_t done, uint64_t total)
{
	ck_assert_uint_gt(done, sum_done);
	ck_assert_uint_le(done, total);
	sum_done = done;
	sum_calls++;
}

CASE("iser-file:files");

TEST(digest_backing__large_file__reports_how_far_it_is)
{
	struct backing b = BACKING_NONE;
	struct digest digest;

	ck_assert_int_eq(backing_open_temporary(&b), 0);
	ck_assert_int_eq(backing_reserve(&b, (64 << 20) + 1), 0);
	ck_assert_int_eq(digest_backing(&b, note_sum, &digest), 0);
	ck_assert_uint_eq(sum_done, (64 << 20) + 1);
	ck_assert_uint_eq(sum_calls, 3);
	backing_close(&b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings -- what the environment may say, and the lines about what it may not
 */
#include "story.h"

#include "softverbs/device/complaint.h"
#include "softverbs/device/number.h"
#include "softverbs/device/settings.h"
#include "softverbs/soft_arm.h"

#include <signal.h>

#define VARIABLE "REARM_TEST_NUMBER"

static char line[8192];

static void
hear(const char *text)
{
	strcpy(line, text);
}

static void
setup(void)
{
	soft_complain_to(hear);
}

/* NULL: there was no line. */
static void
expect_line(const char *format, const char *text)
{
	char want[512] = "";

	if (format)
		snprintf(want, sizeof want, format, text);
	ck_assert_str_eq(line, want);
	*line = '\0';
}

CASE("soft-settings:environment", setup);

static const struct {
	const char *text;
	uint64_t scaled; /* of a second; 0: it is wrong */
} factors[] = {
	{ "", 1000000000 },
	{ "1", 1000000000 },
	{ "1.", 1000000000 },
	{ "1.000", 1000000000 },
	{ "000000001", 1000000000 },
	{ "0.01", 10000000 },
	{ ".01", 10000000 },
	{ "0.010", 10000000 },
	{ "0.009", 0 },
	{ "2.5", 2500000000 },
	{ "0.123", 123000000 },
	{ "0.1234", 0 },
	{ "9.87", 9870000000 },
	{ "100", 100000000000 },
	{ "100.000", 100000000000 },
	{ "100.001", 0 },
	{ "101", 0 },
	{ "1000000", 0 },
	{ "99999999999999999999", 0 },
	{ ".", 0 },
	{ "1.2.3", 0 },
	{ "1,5", 0 },
	{ "/", 0 },
	{ ":", 0 },
	{ "-1", 0 },
	{ "1x", 0 },
};

/* origin: out33.AA6 */
TEST(time_factor__from_a_hundredth_to_a_hundred)
{
	uint64_t before = soft_settings_scale_time(1000000000);

	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		setenv("SOFTVERBS_TIME_FACTOR", factors[i].text, 1);
		ck_assert_int_eq(soft_settings_read(), factors[i].scaled ? 0 : -EINVAL);
		expect_line(factors[i].scaled ? NULL :
						"SOFTVERBS_TIME_FACTOR=%s: not a number "
						"from 0.01 to 100",
		    factors[i].text);
		if (factors[i].scaled)
			before = factors[i].scaled;
		ck_assert_uint_eq(soft_settings_scale_time(1000000000), before);
	}
}

static const struct {
	const char *text;
	int milliseconds; /* -1: it is wrong */
} waits[] = {
	{ "", 200 },
	{ "0", 0 },
	{ "1", 1 },
	{ "00200", 200 },
	{ "60000", 60000 },
	{ "60001", -1 },
	{ "600000", -1 },
	{ "42949672970", -1 },
	{ "1.5", -1 },
	{ "-1", -1 },
	{ "/", -1 },
	{ ":", -1 },
};

/* origin: out33.AA6 */
TEST(listener_wait__up_to_a_minute__and_scaled)
{
	setenv("SOFTVERBS_TIME_FACTOR", "2", 1);
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const int value = waits[i].milliseconds;

		setenv("SOFTVERBS_LISTENER_WAIT", waits[i].text, 1);
		ck_assert_int_eq(soft_settings_read(), value < 0 ? -EINVAL : 0);
		expect_line(
		    value < 0 ? "SOFTVERBS_LISTENER_WAIT=%s: not a number from 0 to 60000" : NULL,
		    waits[i].text);
		if (value >= 0)
			ck_assert_uint_eq(soft_settings_listener_wait(), value * 2000000ull);
	}
}

static bool
control(void)
{
	return soft_settings_read_control();
}

static bool
memlock(void)
{
	soft_settings_read_memlock();
	return soft_settings_memlock();
}

static bool
sockets(void)
{
	return !soft_settings_rings();
}

static bool
no_pull(void)
{
	return !soft_settings_pulls();
}

/* Each has its own value, and is off without one; one that is wrong is off, and no device opens. */
/* origin: out33.AA6 */
TEST(switch__is_0_or_1)
{
	static const struct {
		const char *variable;
		bool (*value)(void);
	} switches[] = {
		{ "SOFTVERBS_LISTENERS_RETURN", soft_settings_listeners_return },
		{ "SOFTVERBS_RNR_TIMER", soft_settings_rnr_timer },
		{ "SOFTVERBS_SOCKETS", sockets },
		{ "SOFTVERBS_NO_PULL", no_pull },
		{ "SOFTVERBS_MEMLOCK", memlock },
		{ "SOFTVERBS_CONTROL", control },
	};
	enum { SWITCHES = sizeof switches / sizeof *switches };
	static const char *const texts[] = { "", "0", "1", "2", "01", "x", "1 " };
	char text[64];

	for (int i = 0; i < SWITCHES; i++)
		for (int k = 0; k < 7; k++) {
			const bool right = k < 3;

			setenv(switches[i].variable, texts[k], 1);
			soft_settings_read_memlock();
			*line = '\0';
			ck_assert_int_eq(soft_settings_read(), right || i == 5 ? 0 : -EINVAL);
			for (int n = 0; n < SWITCHES; n++)
				ck_assert_int_eq(switches[n].value(), n == i && k == 2);
			sprintf(text, "%s=%s", switches[i].variable, texts[k]);
			expect_line(right ? NULL : "%s: neither 0 nor 1", text);
			unsetenv(switches[i].variable);
			soft_settings_read_memlock();
		}
	/* Each that is wrong has its line. */
	setenv("SOFTVERBS_LISTENERS_RETURN", "x", 1);
	setenv("SOFTVERBS_DEBUG", "y", 1);
	ck_assert_int_eq(soft_settings_read(), -EINVAL);
	expect_line("SOFTVERBS_DEBUG=%s: neither 0 nor 1", "y");
}

/* ---- numbers ---- */

static const struct {
	const char *text;
	bool right;
	uint64_t value;
} wholes[] = {
	{ "", true, 77 }, /* as it was */
	{ "0", true, 0 },
	{ "0018", true, 18 },
	{ "18446744073709551615", true, UINT64_MAX },
	{ "18446744073709551616", false, 0 },
	{ "18446744073709551620", false, 0 },
	{ "184467440737095516150", false, 0 },
	{ "1x", false, 0 },
	{ " 1", false, 0 },
	{ "-1", false, 0 },
	{ "/", false, 0 },
	{ ":", false, 0 },
};

static const struct {
	const char *text;
	bool right;
	uint64_t nanoseconds;
} seconds[] = {
	{ "", true, 77 },
	{ "0", true, 0 },
	{ "5", true, 5000000000 },
	{ "5.", true, 5000000000 },
	{ "5.000000000", true, 5000000000 },
	{ "5.000000001", false, 0 },
	{ "4.999999999", true, 4999999999 },
	{ "4.9999999999", true, 4999999999 }, /* the tenth place is too small */
	{ ".5", true, 500000000 },
	{ "0.000000012", true, 12 },
	{ "1.23", true, 1230000000 },
	{ "6", false, 0 },
	{ ".", false, 0 },
	{ "1.2.3", false, 0 },
	{ "1./", false, 0 },
	{ "1.:", false, 0 },
	{ "99999999999999999999", false, 0 },
	{ "x", false, 0 },
};

/* origin: out33.AA6 */
TEST(number__whole_or_of_seconds__in_its_bounds)
{
	uint64_t value;

	for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
		value = 77;
		setenv(VARIABLE, wholes[i].text, 1);
		ck_assert_int_eq(soft_number_read_whole(VARIABLE, &value), wholes[i].right);
		ck_assert_uint_eq(value, wholes[i].right ? wholes[i].value : 77);
		expect_line(wholes[i].right ? NULL :
					      VARIABLE "=%s: not a whole number from 0 to "
						       "18446744073709551615",
		    wholes[i].text);
	}
	for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
		value = 77;
		setenv(VARIABLE, seconds[i].text, 1);
		ck_assert_msg(soft_number_read_seconds(VARIABLE, 5, &value) == seconds[i].right,
		    "%s", seconds[i].text);
		ck_assert_uint_eq(value, seconds[i].right ? seconds[i].nanoseconds : 77);
		expect_line(
		    seconds[i].right ? NULL : VARIABLE "=%s: not a number of seconds from 0 to 5",
		    seconds[i].text);
	}
}

/* ---- lines ---- */

/* What does not fit whole is left out. */
/* origin: out33.F3 */
TEST(text__of_any_bytes__is_shown_as_far_as_there_is_room)
{
	static const char text[] = "a ~\x1f\x7f\xc3z", shown[] = "a ~\\x1f\\x7f\\xc3z";
	static const size_t lengths[] = { 0, 1, 2, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 16,
		16 };
	char to[32];

	for (size_t size = 1; size <= sizeof lengths / sizeof *lengths; size++) {
		memset(to, '#', sizeof to);
		ck_assert_ptr_eq(soft_show(to, size, text), to);
		ck_assert_uint_eq(strlen(to), lengths[size - 1]);
		ck_assert(!strncmp(to, shown, lengths[size - 1]));
		ck_assert_int_eq(to[size], '#');
	}
}

/* To standard error; errno stays. */
/* origin: out33.Z5, out37.EE4 */
TEST(complaint_and_debug_line__are_one_line_each)
{
	static char text[8192];
	char found[8192];
	const int saved = dup(2);
	ssize_t n;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], 2);
	soft_complain_to(NULL);
	errno = EXDEV;
	soft_complain("a\n%s %d", "b", 7);
	soft_debug("not heard");
	setenv("SOFTVERBS_DEBUG", "1", 1);
	ck_assert_int_eq(soft_settings_read(), 0);
	errno = EXDEV;
	soft_debug("c\t%d", 8);
	ck_assert_int_eq(errno, EXDEV);
	n = read(ends[0], found, sizeof found);
	sprintf(text, "softverbs: a\\x0ab 7\nsoftverbs[%d]: c\\x098\n", (int)getpid());
	ck_assert_int_eq(n, (ssize_t)strlen(text));
	ck_assert(!strncmp(found, text, (size_t)n));
	memset(text, 'x', sizeof text - 1);
	soft_complain("%s", text);
	ck_assert_int_eq(read(ends[0], found, sizeof found), 4012);
	soft_debug("%s", text);
	ck_assert_int_eq(read(ends[0], found, sizeof found), 256);
	ck_assert_int_eq(found[255], '\n');
	signal(SIGPIPE, SIG_DFL);
	close(ends[0]); /* and no signal if the reader has gone */
	soft_complain("%s", text);
	soft_debug("%s", text);
	dup2(saved, 2);
	close(saved);
	close(ends[1]);
}

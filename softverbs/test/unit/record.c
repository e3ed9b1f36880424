/* SPDX-License-Identifier: BSD-3-Clause */
/* record -- how the faults that have fired are recorded; rules that last no time */
#include "story.h"

#include "softverbs/fault/fault.h"
#include "softverbs/fault/fired.h"
#include "softverbs/fault/record.h"

static struct soft_rules rules;

static bool
is_read(const char *text, const char *reason)
{
	char error[256] = "";
	const bool read = soft_rules_read_now(text, &rules, error, sizeof error);

	ck_assert_msg(read || strstr(error, reason), "%s: %s", text, error);
	return read;
}

CASE("soft-record:record");

/* origin: out33.W9 */
TEST(rule__that_lasts_no_time__is_refused)
{
	ck_assert(!is_read("link.cut:for=0", "for=0: no time at all"));
	ck_assert(!is_read("link.cut:for=0.0000000001", "no time at all"));
	ck_assert(!is_read("link.delay:time=0.0", "time=0.0: no time at all"));
	ck_assert(!is_read("link.cut:for=x", "for=x: not a number of seconds"));
	ck_assert(is_read("link.cut:for=0.000001", ""));
	ck_assert(is_read("link.delay:time=0.1:for=2", ""));
}

/* Rules of --faults are repeated as they were given instead; commands have no such form. */
/* origin: out33.W8 */
TEST(fired__more_than_are_recorded__the_first_ones_are_repeated_after_commands)
{
	char *text;

	for (int i = 0; i < SOFT_RECORD_FIRED + 2; i++)
		(void)soft_fired("", "event.sm_change:at=%d", i);
	ck_assert_uint_eq(soft_record_left_out(soft_record), 2);
	ck_assert_ptr_null(soft_record_rules(soft_record));
	soft_record->commanded = true;
	text = soft_record_rules(soft_record);
	ck_assert_ptr_nonnull(text);
	ck_assert(!strncmp(text, "event.sm_change:at=0:process=", 29));
	ck_assert_ptr_nonnull(strstr(text, "at=127:"));
	free(text);
}

/* origin: out33.AA4 */
TEST(fired__what_was_refused__takes_no_place_and_is_not_left_out)
{
	char *text;

	for (int i = 0; i < SOFT_RECORD_FIRED; i++) {
		soft_fired_undo(soft_fired("", "event.qp_fatal:at=%d", i));
		(void)soft_fired("", "event.sm_change:at=%d", i);
	}
	/* One that is refused after another has fired has had its place. */
	soft_fired_undo(soft_fired("", "event.qp_fatal:at=0"));
	(void)soft_fired("", "event.qp_fatal:at=1");
	(void)soft_fired("", "event.sm_change:at=1000");
	soft_fired_undo(SOFT_RECORD_FIRED);
	ck_assert_uint_eq(soft_record_left_out(soft_record), 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), SOFT_RECORD_FIRED + 1);
	soft_record->commanded = true;
	text = soft_record_rules(soft_record);
	ck_assert_ptr_nonnull(strstr(text, "event.sm_change:at=127:"));
	ck_assert_ptr_null(strstr(text, "qp_fatal"));
	free(text);
}

static unsigned int seen;
static bool succeeds;

static bool
look(enum soft_incident incident, const struct soft_rule *rule, bool on)
{
	(void)incident, (void)rule, (void)on;
	seen = soft_record_fired(soft_record);
	return succeeds;
}

/* What happens may end the program. */
/* origin: out33.W10 */
TEST(incident__is_recorded_before_it_happens__and_not_if_it_did_not)
{
	char *text;

	soft_faults_set_actor(look);
	ck_assert(is_read("event.device_fatal", ""));
	(void)soft_fault_begin(&rules.rules[0], "at=1");
	ck_assert_uint_eq(seen, 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), 0);
	ck_assert_uint_eq(soft_record->happened, 0);
	succeeds = true;
	ck_assert(soft_fault_begin(&rules.rules[0], "at=2"));
	ck_assert_uint_eq(soft_record_fired(soft_record), 1);
	ck_assert_uint_eq(soft_record->happened, 1);
	text = soft_record_rules(soft_record);
	ck_assert_str_eq(text, "event.device_fatal:at=2:process=0");
	free(text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* record -- how the faults that have fired are recorded; commands; rules that last no time */
#include "story.h"

#include "softverbs/fault/command.h"
#include "softverbs/fault/errors.h"
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

/* ---- the rules that are recorded ---- */

/* Each part that a rule has, in the words of a rule. */
/* origin: out33.W8 */
TEST(parts__of_a_rule__are_those_with_which_it_is_repeated)
{
	static const struct {
		enum soft_incident incident;
		const char *rule, *parts;
		int value;
	} lines[] = {
		{ SOFT_INCIDENT_COMPLETION_SEND, "completion.send", ":status=RETRY_EXC_ERR",
		    IBV_WC_RETRY_EXC_ERR },
		{ SOFT_INCIDENT_REJECTED, "cm.rejected:data=00ff1e", ":reason=28:data=00ff1e", 28 },
		{ SOFT_INCIDENT_ADDR_ERROR, "cm.addr_error", ":errno=ENODEV", ENODEV },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:for=0.5:way=out:peer=7",
		    ":for=0.500000000:way=out:peer=7", 0 },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:way=in:peer=slot9", ":way=in:peer=slot9", 0 },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:peer=rping-1", ":peer=rping-1", 0 },
		{ SOFT_INCIDENT_LINK_DELAY, "link.delay:time=1.25", ":time=1.250000000", 0 },
		{ SOFT_INCIDENT_LINK_RATE, "link.rate:rate=12", ":rate=12", 0 },
		{ SOFT_INCIDENT_MEMORY_LIMIT, "memory.limit:bytes=4096", ":bytes=4096", 0 },
		{ SOFT_INCIDENT_QP_FATAL, "event.qp_fatal:of=3", ":of=3", 0 },
		{ SOFT_INCIDENT_PORT_ERR, "event.port_err:device=a:port=2", ":device=a:port=2", 0 },
		{ SOFT_INCIDENT_TIMEWAIT_EXIT, "cm.timewait_exit:time=0.000000001",
		    ":time=0.000000001", 0 },
		{ SOFT_INCIDENT_LOST_REQ, "cm.lost_req", "", 0 },
	};
	char text[SOFT_RECORD_TAIL];

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		ck_assert(is_read(lines[i].rule, ""));
		ck_assert_str_eq(
		    soft_fired_parts(lines[i].incident, &rules.rules[0], lines[i].value, text),
		    lines[i].parts);
	}
	/* The call of a completion, and no other, belongs to a device anyway. */
	ck_assert(soft_rules_read("completion.send:device=a", &rules, text, sizeof text));
	ck_assert_str_eq(soft_fired_parts(SOFT_INCIDENT_COMPLETION_SEND, &rules.rules[0],
			     IBV_WC_FATAL_ERR, text),
	    ":status=FATAL_ERR");
}

/* Those of errno(3) or of a number that a failed call returns; and which results are none. */
/* origin: out33.U8 */
TEST(result__of_each_call_that_fails__is_that_of_its_convention)
{
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		const enum soft_convention convention = soft_calls[call].convention;
		const bool error = convention == SOFT_FAILS_ERROR,
			   negative = convention == SOFT_FAILS_NEGATIVE,
			   again = convention == SOFT_FAILS_REREG,
			   null = convention == SOFT_FAILS_NULL;

		ck_assert_int_eq(soft_fault_result(call, EIO), error	? EIO :
							       negative ? -EIO :
							       again	? IBV_REREG_MR_ERR_CMD :
									  -1);
		ck_assert_int_eq(soft_fault_succeeded(call, 0), !null);
		ck_assert_int_eq(soft_fault_succeeded(call, 1), !error && !again);
		ck_assert_int_eq(soft_fault_succeeded(call, -1), null);
	}
}

/* ---- commands ---- */

static bool
command(const char *text, const char *reason)
{
	char error[512] = "";
	const bool done = soft_command(text, error, sizeof error);

	ck_assert_str_eq(error, reason);
	return done;
}

/* A later one takes the place of one that was not used. */
TEST(command__for_a_call_or_a_completion__holds_for_the_next_one)
{
	struct soft_rule rule = { .n = 0 };

	ck_assert(command("ibv_reg_mr:errno=EFAULT,ibv_post_*", ""));
	ck_assert(command("ibv_post_send:errno=ENOMEM", ""));
	ck_assert(soft_record->commanded);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), EFAULT);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_post_send), ENOMEM);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_post_recv),
	    soft_calls[SOFT_CALL_ibv_post_recv].errors[0]);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);

	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert(command("completion.*send:status=FATAL_ERR", ""));
	ck_assert(command("completion.send:status=GENERAL_ERR", ""));
	/* It waits where its status is none that the request can have. */
	ck_assert(
	    !soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, IBV_WC_GENERAL_ERR, &rule));
	ck_assert(
	    soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, IBV_WC_FATAL_ERR, &rule));
	ck_assert_int_eq(rule.error, IBV_WC_GENERAL_ERR);
	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert(soft_command_take_incident(SOFT_INCIDENT_COMPLETION_UD_SEND, 0, &rule));
	ck_assert_int_eq(rule.error, IBV_WC_FATAL_ERR);
	ck_assert(command("completion.send,ibv_poll_cq", ""));
	soft_commands_reset();
	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);
}

static atomic_int begun, ended;

static bool
count(enum soft_incident incident, const struct soft_rule *rule, bool begins)
{
	(void)rule;
	if (incident == SOFT_INCIDENT_QP_FATAL)
		return false; /* there is none */
	++*(begins ? &begun : &ended);
	return true;
}

/* Of several those before the one that could happen to nothing hold. */
/* origin: out33.AA4 */
TEST(command__that_happens_at_once__lasts_or_is_refused_from_there_on)
{
	struct ibv_context *context;
	char *text;

	soft_commands = true; /* what lasts needs the thread of the device */
	context = story_open();
	soft_faults_set_actor(count);
	ck_assert(!command("event.qp_fatal", "there is nothing that it could happen to"));
	ck_assert_uint_eq(soft_record_fired(soft_record), 0);
	ck_assert(!command("ibv_poll_cq,event.port_err,event.qp_fatal,ibv_reg_mr",
	    "there is nothing that rule 3 of 4 could happen to; those before it hold, those after "
	    "it do not"));
	ck_assert_int_eq(begun, 1);
	ck_assert_int_ne(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert(!command("ibv_reg_mr,frob", "frob: frob is no call that can fail; --faults=list "
					      "prints them"));
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert_int_eq(ended, 0);
	ck_assert(command("event.port_err:for=0.02", ""));
	ck_assert_int_eq(begun, 2);
	ck_assert_int_eq(ended, 0);
	for (int i = 0; i < 2000 && !ended; i++)
		sleep_ms(1);
	ck_assert_int_eq(ended, 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), 2);
	ck_assert_uint_eq(soft_record->happened, 2);
	text = soft_record_rules(soft_record);
	ck_assert(!strncmp(text, "event.port_err:at=0.", 20));
	ck_assert_ptr_nonnull(strstr(text, ":process=1,event.port_err:at=0."));
	ck_assert_ptr_null(strstr(text, ",,"));
	free(text);
	ck_assert(!strncmp(soft_record->faults[1].head, "event.port_err:at=0.", 20));
	ck_assert_str_eq(soft_record->faults[1].tail, ":for=0.020000000");
	ck_assert_int_eq(ibv_close_device(context), 0);
}

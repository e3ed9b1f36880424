/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- how the faults that have fired are recorded, and the processes of a run; rules that last
 * no time
 */
#include "story.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "softverbs/fault/announce.h"
#include "softverbs/fault/errors.h"
#include "softverbs/fault/fault.h"
#include "softverbs/fault/fired.h"
#include "softverbs/fault/process.h"
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

/* ---- the processes of a run ---- */

static void
nothing(void)
{
}

/* A record that forked processes have in common. */
static void
share_a_record(void)
{
	soft_record = mmap(
	    NULL, sizeof *soft_record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(soft_record, MAP_FAILED);
}

/* In a child, after as many forks of the program as there are numbers: those of its ancestors. */
static void
begin_as(const char *command, const unsigned int *forks)
{
	static char name[64];
	int status;
	pid_t pid = fork();

	if (pid) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		return;
	}
	strcpy(name, command);
	program_invocation_short_name = name;
	for (; *forks; forks++) {
		for (unsigned int i = 0; i < *forks % 100; i++)
			soft_fault_process_fork();
		if (*forks >= 100) /* the parent begins before the fork */
			(void)soft_fault_process();
		soft_fault_process_reset();
	}
	(void)soft_fault_process();
	_exit(0);
}

/* "NAME-xxxxxx", of the arguments of this program; FNV-1a. */
static const char *
with_digest(const char *name, const char *suffix)
{
	static char text[128];
	uint32_t digest = 2166136261u;
	char line[4096];
	const int fd = open("/proc/self/cmdline", O_RDONLY);
	const ssize_t size = read(fd, line, sizeof line);

	close(fd);
	for (ssize_t i = 0; i < size; i++)
		digest = (digest ^ (unsigned char)line[i]) * 16777619;
	sprintf(text, "%s-%06x%s", name, (digest ^ digest >> 24) & 0xffffff, suffix);
	return text;
}

/* origin: out33.AA3 */
TEST(process__is_named_by_its_command_its_twins_and_its_forks)
{
	static const struct {
		const char *command;
		unsigned int forks[12];
		const char *name, *suffix;
	} lines[] = {
		{ "rping", { 0 }, "rping", "" },
		{ "rping", { 0 }, "rping", ".2" },
		{ "rpin", { 0 }, "rpin", "" },
		{ "rping", { 0 }, "rping", ".3" },
		{ "rping", { 1 }, "rping", "+1" },
		{ "rping", { 3, 2 }, "rping", "+3+2" },
		{ "rping", { 3, 2 }, "rping", "+3+2.2" },
		{ "rping", { 101 }, "rping", ".4" },
		{ NULL, { 0 }, "rping", ".4+1" },
		{ "ib_send-bw.1", { 0 }, "ib_send_bw_1", "" },
		{ "1st", { 0 }, "_st", "" },
		{ "", { 0 }, "_", "" },
		{ "a23456789012345678901234567890", { 0 }, "a2345678901234567890123456789", "" },
		{ "rping", { 11, 12, 13, 14, 15, 16, 17, 18, 19 }, "rping", "~" },
		{ "rping", { 11, 12, 13, 14, 15, 16, 17, 18, 20 }, "rping", "~" },
	};
	const size_t count = sizeof lines / sizeof *lines;

	share_a_record();
	soft_fault_set_beginning(nothing);
	for (size_t i = 0; i < count; i++)
		if (lines[i].command)
			begin_as(lines[i].command, lines[i].forks);
	ck_assert_uint_eq(soft_record->processes, count);
	for (size_t i = 0; i < count; i++) {
		const char *want = with_digest(lines[i].name, lines[i].suffix),
			   *name = soft_record->process[i].name;

		ck_assert(soft_record->process[i].named);
		if (*lines[i].suffix == '~')
			ck_assert_msg(
			    !strncmp(name, want, strlen(want)) && strlen(name) == strlen(want) + 8,
			    "%s", name);
		else
			ck_assert_str_eq(name, want);
	}
	ck_assert_str_ne(
	    soft_record->process[count - 1].name, soft_record->process[count - 2].name);
}

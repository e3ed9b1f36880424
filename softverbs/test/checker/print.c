/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report looks like: each field has a number of its own. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/print.h"
#include "softverbs/check/settings.h"
#include "softverbs/check/symbol.h"

static struct soft_check_queue *queue;
static struct soft_check_state state;

static void
set_out(void) UNCHECKED
{
	fake_reset();
	(void)fake_queue(0);
	queue = fake_queue(0);
	fake_now = 100ull * SOFT_SECOND;
	queue->context = (void *)(uintptr_t)0x1234;
	queue->cq->ibv.cqe = 33;
	queue->events_read = 34;
	queue->events_acknowledged = 35;
	queue->found = 36;
	queue->wanted = 37;
	queue->polled.thread = 41;
	queue->polled.when = fake_now - 1 * SOFT_SECOND;
	queue->armed.thread = 42;
	queue->armed.when = fake_now - 2ull * SOFT_SECOND;
	queue->event.thread = 43;
	queue->event.when = fake_now - 3ull * SOFT_SECOND;
	queue->destroying.thread = 44;
	queue->destroying.when = fake_now - 4ull * SOFT_SECOND;
	state = (struct soft_check_state){ .visible = 51,
		.held = 52,
		.due = 53,
		.unread = 54,
		.armed = SOFT_ARMED_ANY,
		.moves = 1u << SOFT_CHOOSE_MERGE | 1u << SOFT_CHOOSE_PAUSE };
	soft_check_settings = (struct soft_check_settings){ .seed = 18446744073709551613u,
		.timeout = SOFT_SECOND,
		.replay = "REPLAY",
		.program = " PROGRAM" };
}

/*
 * The address after a call in a function of the C library, which is not the checker's; and of this
 * test.
 */
static void *
frame_of(void *function, unsigned int call)
{
	return (char *)function + call + 1;
}

static char text[8192];

static const char *
printed(bool json, enum soft_kind kind)
{
	FILE *stream = fmemopen(text, sizeof text, "w");

	(json ? soft_print_json : soft_print_text)(stream, kind, queue, &state, "What happened.");
	fclose(stream);
	return text;
}

#define assert_has(part) ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text)

CASE("checker_print:print");

TEST(json__each_field__its_own_value)
{
	char process[64];

	set_out();
	printed(true, SOFT_EVENT_UNREAD);
	snprintf(process, sizeof process, "\"process\":%d,", (int)getpid());
	assert_has(
	    "{\"kind\":\"event-unread\",\"queue\":2,\"cqn\":2,\"seed\":18446744073709551613,");
	assert_has(process);
	assert_has(
	    "\"what\":\"What happened.\",\"to_poll\":51,\"armed\":true,\"events_to_read\":54,"
	    "\"moves\":[\"merge\",\"pause\"],\"events_read\":34,\"events_acknowledged\":35,"
	    "\"last_found\":36,\"threads\":{"
	    "\"poll\":{\"thread\":41,\"ago\":1.000000,\"backtrace\":[]},"
	    "\"arm\":{\"thread\":42,\"ago\":2.000000,\"backtrace\":[]},"
	    "\"event\":{\"thread\":43,\"ago\":3.000000,\"backtrace\":[]},"
	    "\"destroy\":{\"thread\":44,\"ago\":4.000000,\"backtrace\":[]}},\"rule\":\"The event "
	    "of");
	assert_has("\"mend\":\"Wait for the channels");
	state.armed = SOFT_ARMED_SOLICITED;
	printed(true, SOFT_EVENT_UNREAD);
	assert_has("\"armed\":true,");
	state.armed = SOFT_UNARMED;
	queue->armed.thread = 0;
	printed(true, SOFT_EVENT_UNREAD);
	assert_has("\"armed\":false,");
	assert_has("\"arm\":null,\"event\":{");
}

/*
 * Names of programs and files have any bytes; what is no character of UTF-8 is replaced, byte by
 * byte.
 */
TEST(json__strings__are_utf_8)
{
#define NO "\xef\xbf\xbd"
	static const struct {
		const char *bytes, *printed;
	} rows[] = {
		{ "a\"b\\c", "a\\\"b\\\\c" },
		{ "\x01\x1f\x7f ~", "\\u0001\\u001f\\u007f ~" },
		{ "\x80\xbf\xbf", NO NO NO },
		{ "\xc1\xbf\xc2\x80\xdf\xbf", NO NO "\xc2\x80\xdf\xbf" },
		{ "\xe0\x9f\xbf\xe0\xa0\x80", NO NO NO "\xe0\xa0\x80" },
		{ "\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xee\x80\x80",
		    "\xed\x9f\xbf" NO NO NO NO NO NO "\xee\x80\x80" },
		{ "\xf0\x8f\xbf\xbf\xf0\x90\x80\x80", NO NO NO NO "\xf0\x90\x80\x80" },
		{ "\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", "\xf4\x8f\xbf\xbf" NO NO NO NO },
		{ "\xf8\x90\x80\x80\x80", NO NO NO NO NO },
		{ "\xe2\x82", NO NO },
	};
#undef NO
	char *const name = program_invocation_short_name;
	char bytes[32], part[128];

	set_out();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(bytes, sizeof bytes, "%s", rows[i].bytes);
		program_invocation_short_name = bytes;
		printed(true, SOFT_EVENT_UNREAD);
		program_invocation_short_name = name;
		snprintf(part, sizeof part, "\"program\":\"%s\",", rows[i].printed);
		assert_has(part);
	}
}

TEST(text__each_field__its_own_value)
{
	static const char *const armed[] = { "not armed", "armed for solicited completions",
		"armed" };
	char part[256];

	set_out();
	printed(false, SOFT_STRANDED);
	snprintf(part, sizeof part,
	    "softverbs-run --check: stranded: completion queue 2 of process %d (", (int)getpid());
	assert_has(part);
	assert_has("  what:   What happened.\n");
	assert_has("\n  rule:   ");
	assert_has("\n  mend:   ");
	assert_has("  last poll:  by thread 41, 1.000 s ago: found 36 of 37\n"
		   "  last arm:   by thread 42, 2.000 s ago\n"
		   "  last event: by thread 43, 3.000 s ago\n"
		   "  destroyed:  by thread 44, 4.000 s ago\n");
	queue->arm_failed = true;
	queue->event.thread = 0;
	queue->destroying.thread = 0;
	printed(false, SOFT_STRANDED);
	assert_has("  last arm:   by thread 42, 2.000 s ago: failed\n  last event: none\n  rule:");
	ck_assert_ptr_null(strstr(text, "destroyed:"));
	for (int i = 0; i < 3; i++) {
		state.armed = (enum soft_armed)i;
		printed(false, SOFT_STRANDED);
		snprintf(part, sizeof part,
		    "cqn 2, %p, context 0x1234, 33 entries; 51 to poll, %s, 54 events to read, 34 "
		    "read, 35 acknowledged\n",
		    (void *)queue->cq, armed[i]);
		assert_has(part);
	}
}

/* Lines that are wrapped have as many columns as fit, and lose no word. */
TEST(text__long_lines__are_wrapped)
{
	size_t length, longest = 0;

	set_out();
	for (int kind = 0; kind < SOFT_KINDS; kind++) {
		printed(false, (enum soft_kind)kind);
		for (char *line = strstr(text, "  rule:");
		     line && strncmp(line, "  replay", 8) != 0; line = strchr(line, '\n') + 1) {
			length = strcspn(line, "\n");
			longest = length > longest ? length : longest;
			ck_assert_msg(length <= 101, "%.*s", (int)length, line);
			ck_assert(!strncmp(line, "  rule:   ", 10) ||
				  !strncmp(line, "  mend:   ", 10) ||
				  !strncmp(line, "          ", 10));
			ck_assert(line[10] != ' ');
		}
	}
	ck_assert_uint_ge(longest, 98);
}

TEST(replay__options_of_each_kind)
{
	static const struct {
		enum soft_kind kind;
		bool bounded;
		const char *line;
	} rows[] = {
		{ SOFT_STRANDED, false,
		    "REPLAY --schedule=hold,delay,split,late,merge,reorder,pause,after,"
		    "2:merge=always,2:pause=always PROGRAM" },
		{ SOFT_EVENT_UNREAD, false,
		    "REPLAY --schedule=hold,delay,split,late,merge,reorder,pause,after,"
		    "late=always,merge=always,pause=always PROGRAM" },
		{ SOFT_SLEEPS_UNARMED, false,
		    "REPLAY --schedule=2:hold=always,2:merge=always,2:pause=always,2:after=always "
		    "PROGRAM" },
		{ SOFT_NOT_LOOKED_AT_AGAIN, false,
		    "REPLAY --schedule=2:hold=always,2:pause=always PROGRAM" },
		{ SOFT_NOT_LOOKED_AT_AGAIN, true,
		    "REPLAY --schedule=2:late=always,2:merge=always,2:pause=always PROGRAM" },
		{ SOFT_OVERRUN, false, "REPLAY PROGRAM" },
	};
	char line[256];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_out();
		if (rows[i].bounded)
			queue->found = queue->wanted;
		printed(false, rows[i].kind);
		snprintf(line, sizeof line, "  replay: %s\n", rows[i].line);
		assert_has(line);
		printed(true, rows[i].kind);
		snprintf(line, sizeof line, ",\"replay\":\"%s\"}\n", rows[i].line);
		assert_has(line);
	}
	soft_check_settings.replay = NULL;
	printed(false, SOFT_OVERRUN);
	ck_assert_ptr_null(strstr(text, "replay"));
	printed(true, SOFT_OVERRUN);
	ck_assert_ptr_null(strstr(text, "replay"));
}

TEST(object__each_field__its_own_value)
{
	struct soft_site site = { .thread = 45 };
	char path[PATH_MAX], line[PATH_MAX + 128];
	uint64_t offset;
	FILE *stream;

	set_out();
	site.when = fake_now - 5ull * SOFT_SECOND;
	for (int json = 0; json < 2; json++) {
		stream = fmemopen(text, sizeof text, "w");
		soft_print_object(
		    stream, json, SOFT_NEVER_ACKNOWLEDGED, "thing 9", &site, "It waits.");
		fclose(stream);
		if (json) {
			assert_has("{\"kind\":\"never-acknowledged\",\"object\":\"thing 9\","
				   "\"seed\":18446744073709551613,\"process\":");
			assert_has("\"what\":\"It waits.\",\"threads\":{\"destroy\":{\"thread\":45,"
				   "\"ago\":5.000000,\"backtrace\":[]}},\"rule\":\"A call that");
			assert_has("\"mend\":\"Acknowledge each");
			assert_has(",\"replay\":\"REPLAY PROGRAM\"}\n");
		} else {
			assert_has(
			    "softverbs-run --check: never-acknowledged: thing 9 of process ");
			assert_has(
			    "  what:   It waits.\n  destroyed:  by thread 45, 5.000 s ago\n");
			assert_has("  rule:   A call that");
			assert_has("  mend:   Acknowledge each");
			assert_has("  replay: REPLAY PROGRAM\n");
		}
	}
	if (!soft_symbol_line_source((void *)(uintptr_t)set_out, path, sizeof path, &offset))
		return; /* built without -g */
	site.depth = 2;
	site.frames[0] = frame_of((void *)(uintptr_t)abort, 0);
	site.frames[1] = frame_of((void *)(uintptr_t)set_out, 0);
	stream = fmemopen(text, sizeof text, "w");
	soft_print_object(stream, false, SOFT_NEVER_ACKNOWLEDGED, "thing 9", &site, "It waits.");
	fclose(stream);
	snprintf(line, sizeof line, "  lines:  addr2line -pfie %s 0x%llx\n  rule:", path,
	    (unsigned long long)offset);
	assert_has(line);
}

/* ---- frames */

/*
 * The checker is linked into this program: its frames and those of the tests are own ones, which
 * count after another alone.
 */
TEST(frames__the_first_that_are_own__are_left_out)
{
	set_out();
	queue->polled.depth = 4;
	queue->polled.frames[0] = frame_of((void *)(uintptr_t)soft_print_text, 1);
	queue->polled.frames[1] = frame_of((void *)(uintptr_t)set_out, 1);
	queue->polled.frames[2] = frame_of((void *)(uintptr_t)abort, 0);
	queue->polled.frames[3] = frame_of((void *)(uintptr_t)set_out, 2);
	queue->armed.depth = 1;
	queue->armed.frames[0] = frame_of((void *)(uintptr_t)soft_print_text, 1);
	printed(false, SOFT_STRANDED);
	assert_has(
	    "found 36 of 37\n                abort+0x0 (libc.so.6)\n                set_out+0x2 (");
	assert_has(")\n  last arm:   by thread 42, 2.000 s ago\n  last event:");
	printed(true, SOFT_STRANDED);
	assert_has("\"ago\":1.000000,\"backtrace\":[{\"function\":\"abort+0x0 (libc.so.6)\"},"
		   "{\"function\":\"set_out+0x2 (");
	assert_has(")\"}]},\"arm\":{\"thread\":42,\"ago\":2.000000,\"backtrace\":[]}");
}

/* Each address once, of one file, and not too many. */
TEST(frames__their_lines__by_one_command)
{
	struct soft_site *sites[3];
	char path[PATH_MAX], line[PATH_MAX + 512];
	unsigned int found = 0;
	uint64_t offset;
	int length;

	set_out();
	if (!soft_symbol_line_source((void *)(uintptr_t)set_out, path, sizeof path, &offset))
		return; /* built without -g */
	sites[0] = &queue->polled;
	sites[1] = &queue->armed;
	sites[2] = &queue->event;
	length = snprintf(line, sizeof line, "  lines:  addr2line -pfie %s", path);
	for (int s = 0; s < 3; s++) {
		sites[s]->depth = 8;
		sites[s]->frames[0] = frame_of((void *)(uintptr_t)abort, 0);
		for (unsigned int f = 1; f < 8; f++) {
			/* Each one twice, but the last. */
			const unsigned int call = ((unsigned int)s * 7 + f - 1) / 2;

			sites[s]->frames[f] = frame_of((void *)(uintptr_t)set_out, call);
			if (call < found)
				continue;
			found++;
			length += snprintf(line + length, sizeof line - (size_t)length, " 0x%llx",
			    (unsigned long long)(offset + call));
		}
	}
	snprintf(line + length, sizeof line - (size_t)length, "\n  rule:");
	printed(false, SOFT_STRANDED);
	assert_has(line);
	/* With more of them 16 are printed. */
	queue->destroying.depth = 9;
	queue->destroying.frames[0] = frame_of((void *)(uintptr_t)abort, 0);
	for (unsigned int f = 1; f < 9; f++) {
		queue->destroying.frames[f] = frame_of((void *)(uintptr_t)set_out, 100 + f);
		if (found++ < 16)
			length += snprintf(line + length, sizeof line - (size_t)length, " 0x%llx",
			    (unsigned long long)(offset + 100 + f));
	}
	snprintf(line + length, sizeof line - (size_t)length, "\n  rule:");
	printed(false, SOFT_STRANDED);
	assert_has(line);
}

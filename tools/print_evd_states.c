/* SPDX-License-Identifier: BSD-3-Clause */
/* print-evd-states -- writes the tables that the dispatcher obeys, as doc/evd-states.md */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "evd/attention.h"
#include "evd/job.h"

struct name {
	const char *name, *meaning;
};

static const struct name job_states[EVD_JOB_STATES] = {
	[EVD_JOB_IDLE] = { "IDLE", "no loop has the EVD" },
	[EVD_JOB_READY] = { "READY",
	    "it is on a loop's ready list, or a thread has taken it from there and is about to begin" },
	[EVD_JOB_DEFERRED] = { "DEFERRED",
	    "the same, but the thread of that loop is inside a call-out and only pumps" },
	[EVD_JOB_BACKOFF] = { "BACKOFF", "the device failed; the loop tries again after a delay" },
	[EVD_JOB_RUNNING] = { "RUNNING", "a thread of a loop serves the EVD" },
	[EVD_JOB_CALLING] = { "CALLING",
	    "that thread is in the upcall, and goes on with the EVD when it returns" },
};

static const struct name job_events[EVD_JOB_EVENTS] = {
	[EVD_JOB_WAKE_ONE] = { "wake, one at a time",
	    "there is work, and the policy is SINGLE_INSTANCE or NOTIFY" },
	[EVD_JOB_WAKE_MANY] = { "wake, many", "there is work, and the policy is MANY" },
	[EVD_JOB_WAKE_CNO] = { "wake, CNO", "there is work, and a CNO is to be notified" },
	[EVD_JOB_MOVE] = { "move",
	    "there is work, and the job waits on a loop that does not serve the EVD any more" },
	[EVD_JOB_BEGIN] = { "begin", "the thread that took the job holds the trigger lock" },
	[EVD_JOB_CALL_ONE] = { "call, one at a time",
	    "an event was claimed for an upcall of SINGLE_INSTANCE or NOTIFY" },
	[EVD_JOB_CALL_MANY] = { "call, many", "an event was claimed for an upcall of MANY" },
	[EVD_JOB_RETURN] = { "return", "an upcall of the first kind returned" },
	[EVD_JOB_YIELD] = { "yield",
	    "the budget is spent, or another loop serves the EVD by now" },
	[EVD_JOB_DEFER] = { "defer", "the next step is a call-out, and the thread only pumps" },
	[EVD_JOB_FAIL] = { "fail", "the device could not be polled or armed" },
	[EVD_JOB_REST] = { "rest",
	    "nothing is wanted, or the EVD has no taker on a loop, or it was freed" },
	[EVD_JOB_CANCEL] = { "cancel", "the EVD is freed" },
};

static const char *const job_actions[] = {
	[EVD_JOB_IMPOSSIBLE] = NULL,
	[EVD_JOB_NOTHING] = "",
	[EVD_JOB_QUEUE] = "queue",
	[EVD_JOB_REQUEUE] = "queue again",
	[EVD_JOB_HASTEN] = "hasten",
	[EVD_JOB_QUEUE_DEFERRED] = "put off",
	[EVD_JOB_DELAY] = "delay",
	[EVD_JOB_UNQUEUE] = "take off",
};

static const struct name attentions[EVD_ATTENTIONS] = {
	[EVD_SEEN] = { "SEEN", "nothing entered that the taker was not notified of" },
	[EVD_SEEN_NOTIFIED] = { "SEEN, NOTIFIED",
	    "the same; a notification of the device was read, and it was not polled since" },
	[EVD_SEEN_FULL] = { "SEEN, FULL",
	    "the same; the device may hold completions that there was no room for" },
	[EVD_UNSEEN] = { "UNSEEN", "something entered since the taker was notified" },
	[EVD_UNSEEN_NOTIFIED] = { "UNSEEN, NOTIFIED", "both" },
	[EVD_UNSEEN_FULL] = { "UNSEEN, FULL", "both" },
};

static const struct name attention_events[EVD_ATTENTION_EVENTS] = {
	[EVD_IS_NOTIFIED] = { "notified", "a notification of the device was read" },
	[EVD_IS_POLLED] = { "polled", "a run or a waiter polls, or wants what is queued already" },
	[EVD_IS_FULL] = { "full", "a poll ended because there was no room" },
	[EVD_HAS_ROOM] = { "room", "there is room again" },
	[EVD_HAS_ENTERED] = { "entered", "something worth waking for entered the queue" },
	[EVD_HAS_REPORTED] = { "reported", "the CNO, or the upcall of NOTIFY, is notified" },
	[EVD_CHANGES_QUEUED] = { "taker, queued",
	    "another taker takes over, and something worth waking for is queued" },
	[EVD_CHANGES_EMPTY] = { "taker, empty", "another taker takes over, and nothing is" },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void
print_names(const char *title, const struct name *names, size_t n)
{
	printf("\n| %s | meaning |\n|---|---|\n", title);
	for (size_t i = 0; i < n; i++)
		printf("| %s | %s |\n", names[i].name, names[i].meaning);
}

static void
print_head(const char *corner, const struct name *columns, size_t n)
{
	printf("\n| %s |", corner);
	for (size_t i = 0; i < n; i++)
		printf(" %s |", columns[i].name);
	printf("\n|---|");
	for (size_t i = 0; i < n; i++)
		printf("---|");
	puts("");
}

static void
print_job_rule(const struct evd_job_rule *rule, int state)
{
	const char *action = job_actions[rule->action];
	const bool stays = rule->next == state;

	if (!action)
		printf(" - |");
	else if (rule->action == EVD_JOB_NOTHING)
		printf(" %s |", stays ? "stays" : job_states[rule->next].name);
	else if (stays)
		printf(" stays; %s |", action);
	else
		printf(" %s; %s |", job_states[rule->next].name, action);
}

static void
print_jobs(void)
{
	puts("\n## Which loop has the EVD\n"
	     "\n"
	     "An EVD whose events a loop hands out has one job. Every change of it is one of these\n"
	     "events; `-`: the event cannot come in this state, and the library ends the process\n"
	     "rather than go on.");
	print_names("state", job_states, COUNT(job_states));
	print_names("event", job_events, COUNT(job_events));
	print_head("event", job_states, COUNT(job_states));
	for (int event = 0; event < EVD_JOB_EVENTS; event++) {
		printf("| %s |", job_events[event].name);
		for (int state = 0; state < EVD_JOB_STATES; state++)
			print_job_rule(&evd_job_rules[state][event], state);
		puts("");
	}
	puts("\n"
	     "*queue*: on the ready list of the loop that serves the EVD now. *queue again*: the\n"
	     "same, off the list it is on; nothing where a thread has taken it already. *hasten*:\n"
	     "to the ready list, if it still waits. *put off*: on the ready list, but it keeps no\n"
	     "thread awake that only pumps. *delay*: on the list of what waits for a time. *take\n"
	     "off*: off its list; where a thread has taken it already the state stays, and the\n"
	     "run that begins finds the EVD freed.");
}

static void
print_attention(void)
{
	puts("\n## What the EVD owes its taker\n"
	     "\n"
	     "A CNO and an upcall of policy NOTIFY are notified when something is UNSEEN. FULL\n"
	     "causes a further poll as soon as there is room.");
	print_names("state", attentions, COUNT(attentions));
	print_names("event", attention_events, COUNT(attention_events));
	print_head("state", attention_events, COUNT(attention_events));
	for (int state = 0; state < EVD_ATTENTIONS; state++) {
		printf("| %s |", attentions[state].name);
		for (int event = 0; event < EVD_ATTENTION_EVENTS; event++) {
			const enum evd_attention next = evd_attention_next(
			    (enum evd_attention)state, (enum evd_attention_event)event);

			printf(" %s |", (int)next == state ? "stays" : attentions[next].name);
		}
		puts("");
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		bool help = strcmp(argv[1], "--help") == 0;

		fputs("usage: print-evd-states   prints doc/evd-states.md\n", help ? stdout : stderr);
		return help ? 0 : 2;
	}
	puts("# The states of an event dispatcher\n"
	     "\n"
	     "This page is printed by `tools/print-evd-states` from the tables that the dispatcher\n"
	     "obeys (`evd/job.c`, `evd/attention.c`); `make check` fails when they differ.\n"
	     "`make -C doc update-doc` writes it anew. `architecture.md` explains the words.");
	print_jobs();
	print_attention();
	return 0;
}

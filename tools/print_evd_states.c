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
	[EVD_JOB_IDLE] = { "IDLE", "the job is on no loop" },
	[EVD_JOB_READY] = { "READY",
	    "on the ready list of a loop, or taken from it by a thread that is about to run it" },
	[EVD_JOB_DEFERRED] = { "DEFERRED",
	    "the same, but the thread of that loop is inside a callback and only pumps" },
	[EVD_JOB_BACKOFF] = { "BACKOFF", "the device failed; the loop tries again after a delay" },
	[EVD_JOB_RUNNING] = { "RUNNING", "a thread of a loop runs the job" },
	[EVD_JOB_CALLING] = { "CALLING",
	    "that thread is in the upcall, and continues with the EVD after it" },
};

static const struct name job_events[EVD_JOB_EVENTS] = {
	[EVD_JOB_WAKE_ONE] = { "wake, one at a time",
	    "there is work, and the policy is SINGLE_INSTANCE or NOTIFY" },
	[EVD_JOB_WAKE_MANY] = { "wake, many", "there is work, and the policy is MANY" },
	[EVD_JOB_WAKE_CNO] = { "wake, CNO", "there is work, and a CNO gets a report" },
	[EVD_JOB_MOVE] = { "move",
	    "there is work, and the job is on a loop that does not serve the EVD any more" },
	[EVD_JOB_TAKE] = { "take",
	    "a thread that leads read a notification, and reports to the CNO itself" },
	[EVD_JOB_BEGIN] = { "begin", "the thread that took the job holds the trigger lock" },
	[EVD_JOB_CALL_ONE] = { "call, one at a time",
	    "an event was claimed for an upcall of SINGLE_INSTANCE or NOTIFY" },
	[EVD_JOB_CALL_MANY] = { "call, many", "an event was claimed for an upcall of MANY" },
	[EVD_JOB_RETURN] = { "return", "an upcall of SINGLE_INSTANCE or NOTIFY returned" },
	[EVD_JOB_YIELD] = { "yield", "the budget is used up, or another loop serves the EVD now" },
	[EVD_JOB_DEFER] = { "defer", "the next step is an upcall, and the thread only pumps" },
	[EVD_JOB_FAIL] = { "fail", "the device could not be polled or armed" },
	[EVD_JOB_REST] = { "rest",
	    "nothing is wanted, or the sink of the EVD is not on a loop, or it was freed" },
	[EVD_JOB_CANCEL] = { "cancel", "the EVD is freed" },
};

static const char *const job_actions[] = {
	[EVD_JOB_IMPOSSIBLE] = NULL,
	[EVD_JOB_NOTHING] = "",
	[EVD_JOB_QUEUE] = "queue",
	[EVD_JOB_REQUEUE] = "queue again",
	[EVD_JOB_HASTEN] = "hasten",
	[EVD_JOB_QUEUE_DEFERRED] = "defer",
	[EVD_JOB_DELAY] = "delay",
	[EVD_JOB_UNQUEUE] = "remove",
};

static const struct name attentions[EVD_ATTENTIONS] = {
	[EVD_SEEN] = { "SEEN", "every event that entered was reported to the sink" },
	[EVD_SEEN_NOTIFIED] = { "SEEN, NOTIFIED",
	    "the same; a notification was read, and the device was not polled since" },
	[EVD_SEEN_FULL] = { "SEEN, FULL",
	    "the same; the device may hold completions for which there was no room" },
	[EVD_UNSEEN] = { "UNSEEN", "an event entered since the last report to the sink" },
	[EVD_UNSEEN_NOTIFIED] = { "UNSEEN, NOTIFIED", "both" },
	[EVD_UNSEEN_FULL] = { "UNSEEN, FULL", "both" },
};

static const struct name attention_events[EVD_ATTENTION_EVENTS] = {
	[EVD_IS_NOTIFIED] = { "notified", "a notification was read" },
	[EVD_IS_POLLED] = { "polled",
	    "a run or a waiter polled, or takes events that are queued already" },
	[EVD_IS_FULL] = { "full", "a poll ended because there was no room" },
	[EVD_HAS_ROOM] = { "room", "there is room for more completions" },
	[EVD_HAS_ENTERED] = { "entered", "an event that wakes a sink entered the queue" },
	[EVD_HAS_REPORTED] = { "reported",
	    "the report to the CNO, or the upcall of NOTIFY, was made" },
	[EVD_CHANGES_QUEUED] = { "sink, queued",
	    "the sink changed, and events that wake a sink are queued" },
	[EVD_CHANGES_EMPTY] = { "sink, empty", "the sink changed, and no such event is queued" },
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
	puts("\n## The job: which loop runs the EVD\n"
	     "\n"
	     "A loop delivers events to an upcall or a CNO by running the job of the EVD. Each "
	     "change\n"
	     "of the job is one of these events. `-`: the event cannot happen in this state; the\n"
	     "library calls abort().");
	print_names("state", job_states, COUNT(job_states));
	print_names("event", job_events, COUNT(job_events));
	print_head("event", job_states, COUNT(job_states));
	for (int event = 0; event < EVD_JOB_EVENTS; event++) {
		printf("| %s |", job_events[event].name);
		for (int state = 0; state < EVD_JOB_STATES; state++)
			print_job_rule(&evd_job_rules[state][event], state);
		puts("");
	}
	puts(
	    "\n"
	    "*queue*: put it on the ready list of the loop that serves the EVD now. *queue "
	    "again*:\n"
	    "the same, after removal from its list; nothing if a thread has taken it. *hasten*: "
	    "put\n"
	    "it on the ready list if it is delayed or deferred. *defer*: put it on the ready list "
	    "for\n"
	    "the next turn of the thread. *delay*: put it on the list of delayed jobs. *remove*:\n"
	    "remove it from its list; if a thread has taken it the state stays, and the run finds\n"
	    "that the EVD was freed.");
}

static void
print_attention(void)
{
	puts("\n## The attention: what was not reported to the sink\n"
	     "\n"
	     "A CNO and a policy NOTIFY get a report when the state is UNSEEN. FULL causes another "
	     "poll\n"
	     "when there is room.");
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

		fputs(
		    "usage: print-evd-states   prints doc/evd-states.md\n", help ? stdout : stderr);
		return help ? 0 : 2;
	}
	puts(
	    "# The states of an event dispatcher\n"
	    "\n"
	    "This page is printed by `tools/print-evd-states` from the tables that the dispatcher\n"
	    "obeys (`evd/job.c`, `evd/attention.c`); `make check` fails when they differ.\n"
	    "`make` writes it anew. `glossary.md` explains the words.");
	print_jobs();
	print_attention();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* print-ep-states -- writes the tables that an endpoint obeys, as doc/ep-states.md */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dat2/dat_event_str.h>

#include "dapl/trace/name.h"

/* In the order in which an endpoint goes through them; how each is entered. */
static const struct {
	DAT_EP_STATE state;
	const char *entered;
} states[] = {
	{ DAT_EP_STATE_UNCONNECTED, "`dat_ep_create`, `dat_ep_reset`" },
	{ DAT_EP_STATE_RESERVED, "`dat_rsp_create`" },
	{ DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, "the request of its reserved service point" },
	{ DAT_EP_STATE_UNCONFIGURED_TENTATIVE,
	    "a request of a public service point with `DAT_PSP_PROVIDER_FLAG`" },
	{ DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
	    "`dat_ep_modify`, which gave the protection zone" },
	{ DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
	    "`dat_ep_connect`, `dat_ep_dup_connect`, `dat_ep_common_connect`" },
	{ DAT_EP_STATE_COMPLETION_PENDING, "`dat_cr_accept`" },
	{ DAT_EP_STATE_CONNECTED, "`DAT_CONNECTION_EVENT_ESTABLISHED`" },
	{ DAT_EP_STATE_DISCONNECT_PENDING,
	    "`dat_ep_disconnect`, graceful, while requests are outstanding" },
	{ DAT_EP_STATE_DISCONNECTED, "any end of a connection or of an attempt" },
};

static const struct {
	enum dapl_ep_call call;
	const char *name;
} calls[] = {
	{ DAPL_EP_CONNECT, "`dat_ep_connect`, `dat_ep_dup_connect`, `dat_ep_common_connect`" },
	{ DAPL_EP_MODEL, "`dat_ep_dup_connect`, as the second endpoint" },
	{ DAPL_EP_RESERVE, "`dat_rsp_create`" },
	{ DAPL_EP_RELEASE, "`dat_rsp_free` of its service point" },
	{ DAPL_EP_ACCEPT, "`dat_cr_accept`" },
	{ DAPL_EP_ACCEPT_OWN, "`dat_cr_accept` of the request that it is for" },
	{ DAPL_EP_REFUSE_OWN, "`dat_cr_reject` of the request that it is for" },
	{ DAPL_EP_DISCONNECT_ABRUPT, "`dat_ep_disconnect`, abrupt" },
	{ DAPL_EP_DISCONNECT_GRACEFUL, "`dat_ep_disconnect`, graceful" },
	{ DAPL_EP_REQUEST, "`dat_ep_post_send`, `_rdma_read`, `_rdma_write`" },
	{ DAPL_EP_RECV, "`dat_ep_post_recv`" },
	{ DAPL_EP_RESET, "`dat_ep_reset`" },
	{ DAPL_EP_MODIFY, "`dat_ep_modify`: attributes, EVDs" },
	{ DAPL_EP_MODIFY_PZ, "`dat_ep_modify`: protection zone" },
	{ DAPL_EP_QUERY, "`dat_ep_query`, `dat_ep_get_status`" },
	{ DAPL_EP_FREE, "`dat_ep_free`" },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void
print_introduction(void)
{
	puts("# The states of an endpoint\n"
	     "\n"
	     "`tools/print-ep-states` prints this page from the tables of the provider\n"
	     "(`dapl/state/ep_state.c`, `dapl/state/cm_event.c`). `make check` fails if they "
	     "differ;\n"
	     "`make` writes the page again.\n"
	     "\n"
	     "Each change of a connection posts one event on the connection EVD of the endpoint. "
	     "The\n"
	     "event of a connection request is posted on the EVD of its service point. States are\n"
	     "written without `DAT_EP_STATE_`.\n"
	     "\n"
	     "## States\n"
	     "\n"
	     "| state | entered by | named by `DAT_INVALID_STATE` as |\n"
	     "|---|---|---|");
}

static void
print_states(void)
{
	for (size_t i = 0; i < COUNT(states); i++) {
		const DAT_RETURN_SUBTYPE subtype = dapl_ep_state_subtype(states[i].state);

		printf("| %s | %s | `%s` |\n", dapl_name_ep_state(states[i].state),
		    states[i].entered,
		    dapl_name_return_subtype(DAT_ERROR(DAT_INVALID_STATE, subtype)));
	}
	puts("\n"
	     "In UNCONFIGURED_TENTATIVE an endpoint has no protection zone, and so no queue pair. "
	     "In\n"
	     "the other states it may lack an EVD; calls that need the EVD then fail. The other\n"
	     "UNCONFIGURED states are not used. CONNECTED_SINGLE_PATH and CONNECTED_MULTI_PATH are "
	     "for\n"
	     "adapters with several paths.");
}

static void
print_answer(const struct dapl_ep_answer *answer, DAT_EP_STATE state)
{
	switch (answer->verdict) {
	case DAPL_EP_REFUSED:
		printf(" refused |");
		break;
	case DAPL_EP_ALLOWED:
		if (answer->next == state)
			printf(" yes |");
		else
			printf(" → %s |", dapl_name_ep_state(answer->next));
		break;
	case DAPL_EP_GONE:
		printf(" freed |");
		break;
	case DAPL_EP_NOTHING:
		printf(" nothing |");
		break;
	case DAPL_EP_BAD_FLAG:
		printf(" bad flag |");
		break;
	}
}

static void
print_calls(void)
{
	puts(
	    "\n## Calls\n"
	    "\n"
	    "*yes*: the call succeeds, the state stays. *→*: the call succeeds, and the state\n"
	    "changes. *freed*: the call succeeds, and the handle becomes invalid. *nothing*:\n"
	    "`DAT_SUCCESS` without effect or event. *refused*: `DAT_INVALID_STATE` with the name "
	    "of\n"
	    "the state; if a service point or request is freed, such an endpoint does not change.\n"
	    "*bad flag*: `DAT_INVALID_PARAMETER/ARG2`. Invalid handles and arguments are reported\n"
	    "first; a post reports the state before its other arguments.");
	for (size_t s = 0; s < COUNT(states); s++) {
		printf("\n### %s\n\n| call | answer |\n|---|---|\n",
		    dapl_name_ep_state(states[s].state));
		for (size_t c = 0; c < COUNT(calls); c++) {
			printf("| %s |", calls[c].name);
			print_answer(
			    dapl_ep_answer(states[s].state, calls[c].call), states[s].state);
			puts("");
		}
	}
}

static void
print_happenings(void)
{
	puts("\n## Changes of a connection\n"
	     "\n"
	     "The event that is posted, and the next state. Other combinations have no effect.\n"
	     "\n"
	     "| state | the connection ... | event | next state |\n"
	     "|---|---|---|---|");
	for (size_t s = 0; s < COUNT(states); s++)
		for (int what = 0; what < DAPL_EP_HAPPENINGS; what++) {
			const struct dapl_ep_rule *rule =
			    dapl_ep_rule(states[s].state, (enum dapl_ep_happening)what);

			if (rule->event)
				printf("| %s | %s | `%s` | %s |\n",
				    dapl_name_ep_state(states[s].state),
				    dapl_name_ep_happening((enum dapl_ep_happening)what),
				    dat_event_name(rule->event), dapl_name_ep_state(rule->next));
		}
	puts(
	    "\n"
	    "A connection breaks when a request fails with another error than flushed, when its\n"
	    "queue pair fails, or when the device is removed. The event is posted once, after the\n"
	    "failed completion. Later events of the connection manager post no further event.");
}

static void
print_meaning(const struct dapl_cm_meaning *meaning)
{
	switch (meaning->sense) {
	case DAPL_CM_MEANS_NOTHING:
		printf("nothing");
		break;
	case DAPL_CM_HAS_ADDRESS:
		printf("resolves the route");
		break;
	case DAPL_CM_HAS_ROUTE:
		printf("sends the request");
		break;
	case DAPL_CM_HAS_NEITHER:
		printf("timed out: is tried again; any other error: the target is unreachable");
		break;
	case DAPL_CM_REJECTED:
		printf(
		    "is rejected; the first four bytes of the data show whether a consumer did it");
		break;
	case DAPL_CM_HAPPENS:
		printf("%s", dapl_name_ep_happening(meaning->what));
		break;
	}
}

static void
print_cm_events(void)
{
	puts("\n## Events of the connection manager\n"
	     "\n"
	     "| `RDMA_CM_EVENT_` | the connection ... |\n"
	     "|---|---|");
	for (int type = 0; type < DAPL_CM_EVENTS; type++) {
		printf("| %s | ", dapl_name_cm_event((enum rdma_cm_event_type)type));
		print_meaning(dapl_cm_meaning((enum rdma_cm_event_type)type));
		puts(" |");
	}
}

static void
print_real_devices(void)
{
	puts("\n## With the system's librdmacm\n"
	     "\n"
	     "Addresses and routes are resolved by librdmacm and the kernel, 4 seconds an attempt\n"
	     "and 15 attempts: `DAT_CONNECTION_EVENT_UNREACHABLE` may take 60 seconds to come. A\n"
	     "shorter timeout of the call ends it earlier, with\n"
	     "`DAT_CONNECTION_EVENT_TIMED_OUT`. librdmacm opens two descriptors of its own at the\n"
	     "first `dat_ia_open` and keeps them until the process ends; no adapter leaks them.");
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		bool help = strcmp(argv[1], "--help") == 0;

		fputs("usage: print-ep-states   prints doc/ep-states.md\n", help ? stdout : stderr);
		return help ? 0 : 2;
	}
	print_introduction();
	print_states();
	print_calls();
	print_happenings();
	print_cm_events();
	print_real_devices();
	return 0;
}

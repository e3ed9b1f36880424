/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * try -- runs the examples of the manual pages on an adapter: two endpoints, connected to each
 * other
 */
#include "ia.c"
#include "evd.c"
#include "cno.c"
#include "memory.c"
#include "ep.c"
#include "sp.c"
#include "srq.c"
#include "upcall.c"
#include "registry.c"
#include "event_str.c"
#include "version.c"
#include "log.c"
#include "kdat.c"
#include "ib_extensions.c"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 4096, EVENTS = 64 };

struct side {
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;
	struct buffer buffer;
};

static int passed, handled;

static void
check(const char *what, int true_)
{
	if (!true_)
		errx(1, "%s: no", what);
	passed++;
}

static void
call(const char *what, DAT_RETURN ret)
{
	must(what, ret);
	passed++;
}

static void
count(const DAT_EVENT *event)
{
	print_event(event);
	handled++;
}

/* The next event, which has that number. */
static DAT_EVENT
await(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;
	DAT_COUNT more;

	must("dat_evd_wait",
	    dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more));
	print_event(&event);
	check(
	    "the event is the expected one", event.event_number == number);
	return event;
}

static void
open_side(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, struct side *side)
{
	must("dat_evd_create",
	    dat_evd_create(ia, EVENTS, DAT_HANDLE_NULL,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &side->evd));
	call("create_endpoint",
	    create_endpoint(ia, pz, side->evd, &side->ep));
	call("register_buffer", register_buffer(ia, pz, calloc(1, LENGTH),
				    LENGTH, &side->buffer));
}

static void
close_side(struct side *side)
{
	must("dat_ep_free", dat_ep_free(side->ep));
	must("dat_evd_free", dat_evd_free(side->evd));
	call("unregister_buffer", unregister_buffer(&side->buffer));
	free((void *)(uintptr_t)side->buffer.local.virtual_address);
}

/* Written there, and read back. */
static void
try_remote(struct side *client, struct side *server)
{
	char *here =
	    (char *)(uintptr_t)client->buffer.local.virtual_address;
	char *there =
	    (char *)(uintptr_t)server->buffer.local.virtual_address;

	strcpy(here, "written");
	call(
	    "write_remote", write_remote(client->ep, &client->buffer.local,
				&server->buffer.remote));
	await(client->evd, DAT_DTO_COMPLETION_EVENT);
	check("it was written", strcmp(there, "written") == 0);
	strcpy(there, "changed");
	call("read_remote", read_remote(client->ep, &client->buffer.local,
				&server->buffer.remote));
	await(client->evd, DAT_DTO_COMPLETION_EVENT);
	check("it was read", strcmp(here, "changed") == 0);
}

static void
try_connection(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 4 };
	DAT_PROVIDER_ATTR provider = { 0 };
	struct side client, server;
	DAT_EVD_HANDLE requests;
	DAT_IA_ATTR adapter;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL port;
	DAT_EVENT event;

	must("dat_ia_query",
	    dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &adapter,
		DAT_PROVIDER_FIELD_ALL, &provider));
	open_side(ia, pz, &client);
	open_side(ia, pz, &server);
	must("dat_evd_create", dat_evd_create(ia, EVENTS, DAT_HANDLE_NULL,
				   DAT_EVD_CR_FLAG, &requests));
	call(
	    "start_to_listen", start_to_listen(ia, requests, &port, &psp));
	call("start_to_connect",
	    start_to_connect(client.ep, adapter.ia_address_ptr, port,
		&client.buffer.local));
	event = await(requests, DAT_CONNECTION_REQUEST_EVENT);
	must("dat_ep_post_recv",
	    dat_ep_post_recv(server.ep, 1, &server.buffer.local, cookie,
		DAT_COMPLETION_DEFAULT_FLAG));
	call("answer", answer(&event, server.ep));
	await(client.evd, DAT_CONNECTION_EVENT_ESTABLISHED);
	await(server.evd, DAT_CONNECTION_EVENT_ESTABLISHED);
	call(
	    "send_message", send_message(client.ep, &client.buffer.local));
	await(client.evd, DAT_DTO_COMPLETION_EVENT);
	await(server.evd, DAT_DTO_COMPLETION_EVENT);
	check("one send was posted", posted_sends(client.ep) == 1);
	try_remote(&client, &server);
	/*
	 * The region of register_buffer() does not allow atomics: the request is taken and fails.
	 */
	if (has_atomics(&provider)) {
		client.buffer.local.segment_length =
		    server.buffer.remote.segment_length = 8;
		call("add_one", add_one(client.ep, &client.buffer.local,
				    &server.buffer.remote));
	} else {
		must("dat_ep_disconnect",
		    dat_ep_disconnect(client.ep, DAT_CLOSE_ABRUPT_FLAG));
	}
	do { /* the rest of the connection, and its end */
		DAT_COUNT more;

		must("dat_evd_wait",
		    dat_evd_wait(client.evd, DAT_TIMEOUT_INFINITE, 1,
			&event, &more));
		print_event(&event);
	} while (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED &&
		 event.event_number != DAT_CONNECTION_EVENT_BROKEN);
	check("the end is the last event",
	    DAT_GET_TYPE(dat_evd_dequeue(client.evd, &event)) ==
		DAT_QUEUE_EMPTY);
	must("dat_psp_free", dat_psp_free(psp));
	must("dat_evd_free", dat_evd_free(requests));
	close_side(&client);
	close_side(&server);
}

static void
try_events(DAT_IA_HANDLE ia)
{
	struct pollfd entry;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	char message[] = "message";

	call("create_queue", create_queue(ia, &evd));
	call("send_to_waiter", send_to_waiter(evd, message));
	call("serve", serve(evd, count));
	check("one event was handled", handled == 1);

	call("create_descriptor", create_descriptor(ia, &entry, &cno));
	must("dat_evd_modify_cno", dat_evd_modify_cno(evd, cno));
	call("send_to_waiter", send_to_waiter(evd, message));
	check("the descriptor is readable", poll(&entry, 1, -1) == 1);
	serve_descriptor(cno, count);
	check("two events were handled", handled == 2);
	call("send_to_waiter", send_to_waiter(evd, message));
	while (handled < 3)
		call("serve_one_or_sleep",
		    serve_one_or_sleep(cno, &entry, count));
	must("dat_evd_modify_cno",
	    dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	must("dat_cno_free", dat_cno_free(cno));

	must("dat_cno_create",
	    dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	must("dat_evd_modify_cno", dat_evd_modify_cno(evd, cno));
	call("send_to_waiter", send_to_waiter(evd, message));
	while (handled < 4)
		serve_wait(cno, count);
	must("dat_evd_free", dat_evd_free(evd));
	must("dat_cno_free", dat_cno_free(cno));
}

static void
try_upcalls(DAT_IA_HANDLE ia)
{
	struct dat_rearm_evd_counters counters = { 0 };
	char name[] = "upcall", message[] = "message";
	DAT_EVD_HANDLE evd;

	call("create_with_upcall", create_with_upcall(ia, name, &evd));
	call("pause_upcalls", pause_upcalls(evd));
	call("send_to_waiter", send_to_waiter(evd, message));
	call("resume_upcalls", resume_upcalls(evd));
	while (counters.upcalls == 0)
		must("dat_evd_query_upcall_counters",
		    dat_evd_query_upcall_counters(evd, &counters));
	print_counters(evd);
	call("pause_upcalls", pause_upcalls(evd));
	must("dat_evd_free", dat_evd_free(evd));
}

static void
try_memory(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz)
{
	struct buffer buffer;
	void *memory = calloc(2, LENGTH);
	DAT_LMR_HANDLE lmr;
	DAT_SRQ_HANDLE srq;
	DAT_RETURN ret;

	call("register_buffer",
	    register_buffer(ia, pz, memory, LENGTH, &buffer));
	ret = create_shared_buffers(ia, pz, &buffer.local, 1, &srq);
	if (DAT_GET_TYPE(ret) != DAT_MODEL_NOT_SUPPORTED) {
		call("create_shared_buffers", ret);
		must("dat_srq_free", dat_srq_free(srq));
	}
	call("unregister_buffer", unregister_buffer(&buffer));
	call("register_page", register_page(ia, pz, memory, LENGTH, &lmr));
	must("dat_lmr_free", dat_lmr_free(lmr));
	free(memory);
}

int
main(int argc, char **argv)
{
	const DAT_PROVIDER_INFO info = { "manual-page", 2, 0, DAT_TRUE };
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	if (argc != 2)
		errx(2, "usage: %s ADAPTER", argv[0]);
	print_version();
	call("open_log", open_log(argv[0]));
	ia = open_adapter(argv[1]);
	must("dat_pz_create", dat_pz_create(ia, &pz));
	try_connection(ia, pz);
	try_events(ia);
	try_upcalls(ia);
	try_memory(ia, pz);
	must("dat_pz_free", dat_pz_free(pz));
	close_adapter(ia);
	call("begin_provider", begin_provider(&info));
	call("end_provider", end_provider(&info));
	call("close_log", close_log());
	printf("%d passed, 0 failed\n", passed);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures-waits -- how long an end of dat_perf waits for the other one
 *
 * Nothing but run.c is real: the other end answers at once.  `waits` has each wait for it, with its
 * limit: of messages of the control connection ("receive") and requests for connections ("wire") in
 * milliseconds, of the traffic ("await") in seconds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>

#include "tools/perf/control.h"
#include "tools/perf/flow.h"
#include "tools/perf/run.h"
#include "tools/perf/work.h"

#include "test/tools/figures.h"

static char waits[256];
static struct load peer_load;
static bool first_answer;

static void __attribute__((format(printf, 1, 2))) waited(const char *format, ...)
{
	const size_t used = strlen(waits);
	va_list list;

	va_start(list, format);
	vsnprintf(waits + used, sizeof waits - used, format, list);
	va_end(list);
}

void
control_open(struct control *control, const struct engine *engine, void *adapter)
{
	*control = (struct control){ .engine = engine, .adapter = adapter };
}

void
control_send(struct control *control, json_t *object)
{
	(void)control;
	json_decref(object);
}

json_t *
control_receive(struct control *control, int ms)
{
	static const struct result none;

	(void)control;
	waited("receive %d, ", ms);
	if (!first_answer)
		return json_pack("{s:[i, i], s:[i, i], s:o}", "sent", 0, 0, "arrived", 0, 0,
		    "result", result_pack(&none));
	first_answer = false;
	return json_pack("{s:i, s:o, s:s, s:i, s:i}", "protocol", 1, "load", load_pack(&peer_load),
	    "host", "", "address", 0, "key", 0);
}

void
control_await_close(struct control *control)
{
	(void)control;
	waited("close, ");
}

void
control_fini(struct control *control)
{
	(void)control;
}

void
end_open(struct end *end)
{
	end->endpoints = calloc(end->load->endpoints, sizeof *end->endpoints);
	if (!end->endpoints)
		abort();
}

void
end_close(struct end *end)
{
	free(end->endpoints);
}

struct wiring
end_wiring(const struct end *end)
{
	(void)end;
	return (struct wiring){ .receives = 1 };
}

void
end_post_receives(struct endpoint *endpoint)
{
	(void)endpoint;
}

void
flow_prepare(struct end *end)
{
	(void)end;
}

void
work_start(struct work *work, struct end *end)
{
	work->end = end;
}

void
work_await(struct work *work, unsigned int timeout)
{
	(void)work;
	waited("await %u, ", timeout);
}

static void *
fake_open(const struct options *options, bool server)
{
	(void)options, (void)server;
	return waits;
}

static unsigned int
fake_port(void *adapter)
{
	(void)adapter;
	return 1;
}

static void
fake_done(void *object)
{
	(void)object;
}

static void *
fake_wire(void *adapter, const struct wiring *wiring, struct greeting *greeting, int ms)
{
	(void)wiring, (void)greeting;
	waited("wire %d, ", ms);
	return adapter;
}

static void
listening(void *arg, unsigned int port)
{
	(void)arg, (void)port;
}

/* Each wait of both ends has the limit, but for the one in which a server has nothing to do. */
/* origin: out35.P34 */
void
perf_waits(void)
{
	static const struct engine engine = { .consumers = ~0u,
		.open = fake_open,
		.port = fake_port,
		.close = fake_done,
		.wire = fake_wire,
		.join = fake_done };
	static const char *const
	    server = "receive 7000, wire 7000, wire 7000, await 7, receive 7000, close, ",
	    *const server_of_reads = "receive 7000, wire 7000, wire 7000, receive -1, close, ",
	    *const client = "receive 7000, wire 7000, wire 7000, await 7, receive 7000, ";
	struct options options = { .engine = &engine, .timeout = 7 };
	struct outcome outcome;

	for (int i = 0; i < 6; i++) {
		peer_load = (struct load){ .traffic = i % 2,
			.operation = i / 2,
			.size = 16,
			.depth = 1,
			.endpoints = 2,
			.batch = 1,
			.messages = 2 };
		first_answer = true;
		waits[0] = '\0';
		run_server(&options, listening, NULL);
		check_text(load_operations[i / 2], waits,
		    peer_load.operation == OPERATION_READ ? server_of_reads : server);
		first_answer = true;
		waits[0] = '\0';
		options.load = peer_load;
		run_client(&options, &outcome);
		check_text(load_operations[i / 2], waits, client);
	}
}

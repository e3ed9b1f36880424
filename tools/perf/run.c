/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "control.h"
#include "fail.h"
#include "flow.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL 1 /* of the control connection and of the messages */

/* The ends have the same clock if the host is the same, and was not booted in between. */
static const char *
run_host(void)
{
	static _Thread_local char id[64];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(id, sizeof id, file))
		id[0] = '\0';
	if (file)
		fclose(file);
	id[strcspn(id, "\n")] = '\0';
	return id;
}

static json_t *
run_pack(const struct end *end)
{
	return json_pack("{s:i, s:o, s:s, s:I, s:I}", "protocol", PROTOCOL, "load",
	    load_pack(end->load), "host", run_host(), "address",
	    (json_int_t)(uintptr_t)end->region.memory, "key", (json_int_t)end->region.remote_key);
}

/* What run_pack() of the other end has; the load goes to `load` unless that is NULL. */
static void
run_unpack(json_t *object, struct end *end, struct load *load)
{
	json_int_t address, key;
	json_t *packed;
	const char *host;
	int protocol;

	if (json_unpack(object, "{s:i, s:o, s:s, s:I, s:I}", "protocol", &protocol, "load", &packed,
		"host", &host, "address", &address, "key", &key) ||
	    protocol != PROTOCOL || (load && load_unpack(packed, load)))
		fail("the other end is a dat_perf of another version");
	end->same_clock = *host && !strcmp(host, run_host());
	end->peer = (struct remote){ (uint64_t)address, (uint32_t)key };
}

/* Creates the endpoints, and connects them. */
static void
run_connect(struct end *end, const struct options *options, const struct control *control)
{
	const struct wiring wiring = end_wiring(end);
	struct greeting greeting = control->greeting;

	for (uint32_t i = 0; i < end->load->endpoints; i++) {
		struct endpoint *endpoint = &end->endpoints[i];

		greeting.index++;
		endpoint->wire = end->engine->wire(
		    end->adapter, &wiring, &greeting, (int)options->timeout * 1000);
		endpoint->peer =
		    end->peer.address + (uint64_t)(endpoint->memory - end->region.memory);
		end_post_receives(endpoint);
		end->engine->join(endpoint->wire);
	}
}

static void
run_close(struct end *end, struct control *control)
{
	end->engine->close(end->adapter);
	control_fini(control);
	end_close(end);
}

/* How many messages of each endpoint have been sent, or have arrived. */
static json_t *
run_counts(const struct end *end)
{
	json_t *counts = json_array();

	for (uint32_t i = 0; i < end->load->endpoints; i++)
		json_array_append_new(
		    counts, json_integer((json_int_t)(end->server ? end->endpoints[i].arrived :
								    end->endpoints[i].sent)));
	return counts;
}

static void
run_compare(const struct end *end, const json_t *theirs)
{
	for (uint32_t i = 0; i < end->load->endpoints; i++) {
		const uint64_t own =
		    end->server ? end->endpoints[i].arrived : end->endpoints[i].sent;
		const uint64_t other = (uint64_t)json_integer_value(json_array_get(theirs, i));

		if (own != other)
			fail("endpoint %u: the client has sent %llu messages, and %llu have "
			     "arrived",
			    i, (unsigned long long)(end->server ? other : own),
			    (unsigned long long)(end->server ? own : other));
	}
}

/* The load of the client, unless this server cannot do it. */
static void
run_check(const struct end *end, struct control *control)
{
	if (engine_has(end->engine, end->load->consumer))
		return;
	control_send(control, json_pack("{s:s}", "error", "the server has another --engine"));
	control_await_close(control);
	fail("the client has another --engine");
}

void
run_server(const struct options *options, void (*listening)(void *, unsigned int), void *arg)
{
	struct end end = { .engine = options->engine, .server = true };
	struct control control;
	struct result result;
	struct work work;
	struct load load;
	json_t *object;

	end.adapter = end.engine->open(options, true);
	listening(arg, end.engine->port(end.adapter));
	control_open(&control, end.engine, end.adapter);
	object = control_receive(&control, (int)options->timeout * 1000);
	run_unpack(object, &end, &load);
	json_decref(object);
	end.load = &load;
	run_check(&end, &control);
	end_open(&end);
	flow_prepare(&end);
	control_send(&control, run_pack(&end));
	run_connect(&end, options, &control);
	if (load.operation != OPERATION_READ) {
		work_start(&work, &end);
		work_await(&work, options->timeout);
	}
	/* While a client reads, there is nothing to do but to wait for it. */
	object = control_receive(
	    &control, load.operation == OPERATION_READ ? -1 : (int)options->timeout * 1000);
	if (load.operation != OPERATION_READ)
		run_compare(&end, json_object_get(object, "sent"));
	json_decref(object);
	result_read(&result, &end);
	control_send(&control,
	    json_pack("{s:o, s:o}", "arrived", run_counts(&end), "result", result_pack(&result)));
	control_await_close(&control);
	run_close(&end, &control);
}

void
run_client(const struct options *options, struct outcome *outcome)
{
	struct end end = { .engine = options->engine, .load = &options->load };
	const int ms = (int)options->timeout * 1000;
	struct control control;
	struct work work;
	json_t *object;

	end.adapter = end.engine->open(options, false);
	control_open(&control, end.engine, end.adapter);
	end_open(&end);
	control_send(&control, run_pack(&end));
	object = control_receive(&control, ms);
	run_unpack(object, &end, NULL);
	json_decref(object);
	run_connect(&end, options, &control);
	work_start(&work, &end);
	work_await(&work, options->timeout);
	control_send(&control, json_pack("{s:o}", "sent", run_counts(&end)));
	object = control_receive(&control, ms);
	if (end.load->operation != OPERATION_READ)
		run_compare(&end, json_object_get(object, "arrived"));
	if (result_unpack(json_object_get(object, "result"), &outcome->server))
		fail("the other end is a dat_perf of another version");
	json_decref(object);
	result_read(&outcome->client, &end);
	outcome->same_clock = end.same_clock;
	run_close(&end, &control);
}

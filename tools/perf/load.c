/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <string.h>

const char *const load_traffics[] = { "ping", "stream", NULL };
const char *const load_operations[] = { "send", "write", "read", NULL };
const char *const load_consumers[] = { "dequeue", "dequeue_n", "wait", "upcall-single",
	"upcall-many", "upcall-notify", "upcall-array", "cno", "poll", "epoll", NULL };

int
load_find(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

json_t *
load_pack(const struct load *load)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:b}", "traffic",
	    load_traffics[load->traffic], "operation", load_operations[load->operation], "events",
	    load_consumers[load->consumer], "size", (json_int_t)load->size, "depth",
	    (json_int_t)load->depth, "endpoints", (json_int_t)load->endpoints, "batch",
	    (json_int_t)load->batch, "messages", (json_int_t)load->messages, "duration_ns",
	    (json_int_t)load->duration, "warm_up", (json_int_t)load->warm_up, "rate", load->rate,
	    "pin", (int)load->pin);
}

/* What comes over a connection may be wrong, also in its range. */
static bool
load_is_valid(const struct load *load)
{
	return load->size >= LOAD_SIZE_MIN && load->size <= LOAD_SIZE_MAX && load->depth >= 1 &&
	       load->depth <= LOAD_DEPTH_MAX && load->endpoints >= 1 &&
	       load->endpoints <= LOAD_ENDPOINTS_MAX && load->batch >= 1 &&
	       load->batch <= LOAD_BATCH_MAX && load->rate >= 0;
}

static bool
load_fits(json_int_t value)
{
	return value >= 0 && value <= UINT32_MAX;
}

int
load_unpack(json_t *object, struct load *load)
{
	const char *traffic, *operation, *consumer;
	json_int_t size, depth, endpoints, batch, messages, duration, warm_up;
	int t, o, c, pin;
	double rate;

	if (json_unpack(object, "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:F, s:b}",
		"traffic", &traffic, "operation", &operation, "events", &consumer, "size", &size,
		"depth", &depth, "endpoints", &endpoints, "batch", &batch, "messages", &messages,
		"duration_ns", &duration, "warm_up", &warm_up, "rate", &rate, "pin", &pin))
		return -1;
	t = load_find(load_traffics, traffic);
	o = load_find(load_operations, operation);
	c = load_find(load_consumers, consumer);
	if (t < 0 || o < 0 || c < 0 || messages < 0 || duration < 0 || warm_up < 0 ||
	    !load_fits(size) || !load_fits(depth) || !load_fits(endpoints) || !load_fits(batch))
		return -1;
	*load = (struct load){
		.traffic = (enum traffic)t,
		.operation = (enum operation)o,
		.consumer = (enum consumer)c,
		.size = (uint32_t)size,
		.depth = (uint32_t)depth,
		.endpoints = (uint32_t)endpoints,
		.batch = (uint32_t)batch,
		.messages = (uint64_t)messages,
		.duration = (uint64_t)duration,
		.warm_up = (uint64_t)warm_up,
		.rate = rate,
		.pin = pin,
	};
	return load_is_valid(load) ? 0 : -1;
}

uint64_t
load_share(const struct load *load, uint64_t messages, uint32_t endpoint)
{
	return messages / load->endpoints + (endpoint < messages % load->endpoints);
}

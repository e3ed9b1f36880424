/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control -- the first connection: both ends agree on what is measured, and exchange results, as
 * JSON
 *
 * One message is on its way at a time.  The queues are polled, with sleeps: nothing is measured
 * meanwhile.
 */
#ifndef PERF_CONTROL_H
#define PERF_CONTROL_H

#include "engine.h"

#include <jansson.h>

struct control {
	const struct engine *engine;
	void *adapter, *wire;
	struct region region;
	struct greeting greeting; /* of this connection; others of the run differ in the index */
};

/* Connects to the server, or, of a server, waits for a client. */
void control_open(struct control *control, const struct engine *engine, void *adapter);

/* Sends the object, and puts it. */
void control_send(struct control *control, json_t *object);

/*
 * Waits for an object, so many milliseconds; -1: without limit.  Fails if it has the member
 * "error".
 */
json_t *control_receive(struct control *control, int ms);

/* Waits until the other end has closed, or for some seconds. */
void control_await_close(struct control *control);

/* After the adapter was closed. */
void control_fini(struct control *control);

#endif

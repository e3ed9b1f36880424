/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include "clock.h"
#include "fail.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define MESSAGE_MAX (256u << 10) /* a histogram */
#define CLOSE_MS 5000
#define NAP_US 200
#define LONG_NAP_US 2000 /* after some short ones */
#define SHORT_NAPS 100

static void
control_post(struct control *control)
{
	control->engine->receive(control->wire,
	    &(struct piece){ control->region.memory, MESSAGE_MAX, control->region.key }, 0);
}

void
control_open(struct control *control, const struct engine *engine, void *adapter)
{
	const struct wiring wiring = { .receives = 1, .sends = 8, .size = MESSAGE_MAX };

	*control = (struct control){
		.engine = engine, .adapter = adapter, .greeting = { .magic = "datperf" }
	};
	/* The name of a run; a server takes that of its client. */
	if (getrandom(&control->greeting.run, sizeof control->greeting.run, 0) < 0)
		fail_errno("getrandom");
	control->region.length = 2 * MESSAGE_MAX;
	control->region.memory = mmap(NULL, control->region.length, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (control->region.memory == MAP_FAILED)
		fail_errno("no memory");
	engine->enrol(adapter, &control->region);
	control->wire = engine->wire(adapter, &wiring, &control->greeting, -1);
	control_post(control);
	engine->join(control->wire);
}

void
control_send(struct control *control, json_t *object)
{
	char *bytes = control->region.memory + MESSAGE_MAX;
	const size_t length = object ? json_dumpb(object, bytes, MESSAGE_MAX, JSON_COMPACT) : 0;

	json_decref(object);
	if (length == 0 || length > MESSAGE_MAX)
		fail("no room for a message of %zu bytes", length);
	control->engine->send(control->wire,
	    &(struct piece){ bytes, (uint32_t)length, control->region.key }, 1, false);
}

/* Whether something has completed in this time. */
static bool
control_await(struct control *control, int ms, struct completion *completion)
{
	const uint64_t until = clock_now() + (uint64_t)ms * 1000000;

	for (unsigned int naps = 0; !control->engine->arrived(control->wire, completion); naps++) {
		if (ms >= 0 && clock_now() > until)
			return false;
		engine_watch(control->engine, control->adapter);
		usleep(naps < SHORT_NAPS ? NAP_US : LONG_NAP_US);
	}
	return true;
}

json_t *
control_receive(struct control *control, int ms)
{
	struct completion completion;
	json_error_t error;
	const char *text;
	json_t *object;

	if (!control_await(control, ms, &completion))
		fail("the other end does not answer; --timeout changes how long this waits");
	if (completion.error)
		fail("the connection to the other end is lost: %s", completion.error);
	object = json_loadb(control->region.memory, completion.length, 0, &error);
	if (!object)
		fail("the other end has sent what is no JSON: %s", error.text);
	if (!json_unpack(object, "{s:s}", "error", &text))
		fail("the other end: %s", text);
	control_post(control);
	return object;
}

void
control_await_close(struct control *control)
{
	struct completion completion;

	control_await(control, CLOSE_MS, &completion);
}

void
control_fini(struct control *control)
{
	munmap(control->region.memory, control->region.length);
}

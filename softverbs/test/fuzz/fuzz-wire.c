/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of an input, and what must hold when they are over. */
#include "fuzz.h"

#define STEPS 250

/* Of 256 values of a step's first byte, up to which each means what. */
static const struct {
	uint8_t below; /* 0: 256 */
	bool peer;
	uint8_t what;
} steps[] = {
	{ 80, true, PEER_REQUEST },
	{ 96, true, PEER_PART },
	{ 132, true, PEER_REPLY },
	{ 152, true, PEER_CM },
	{ 155, true, PEER_RAW },
	{ 160, true, PEER_DIAL },
	{ 163, true, PEER_HANG_UP },
	{ 182, false, DEVICE_RECEIVE },
	{ 208, false, DEVICE_SEND },
	{ 216, false, DEVICE_MODIFY },
	{ 219, false, DEVICE_NEW_QP },
	{ 220, false, DEVICE_REGISTER },
	{ 230, false, DEVICE_EVENTS },
	{ 238, false, DEVICE_ID },
	{ 242, false, DEVICE_REVIVE },
	{ 247, false, DEVICE_POLL },
};
#define STEP_KINDS (sizeof steps / sizeof steps[0])

static void
step(void)
{
	static const uint64_t times[] = { 1000, 100000, 2000000, 100000000, 20000000000 };
	const uint8_t dice = input8();
	size_t i = 0;

	while (i < STEP_KINDS && dice >= steps[i].below)
		i++;
	if (i == STEP_KINDS)
		seam_clock_advance(times[input_below(5)]);
	else if (steps[i].peer)
		peer_step(steps[i].what);
	else
		device_step(steps[i].what);
	/* Now and then more piles up before it is read. */
	if (dice & 3)
		seam_pump(8);
}

/* Everything that is due in the next minutes: no timer is as late as one of a stopped process. */
static void
come_to_rest(void)
{
	const uint64_t horizon = seam_clock() + 600000000000;

	do
		seam_pump(64);
	while (seam_clock_to_next(horizon));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static unsigned int watches; /* of an idle device */

	input_set(data, length);
	seam_begin();
	device_begin();
	if (!watches)
		watches = seam_watches();
	peer_begin();
	seam_pump(8);
	for (int i = 0; i < STEPS && input_left(); i++)
		step();
	peer_hear();
	seam_pump(64);
	peer_end();
	come_to_rest();
	device_end();
	come_to_rest();
	if (seam_watches() != watches)
		fuzz_found("%u descriptors are watched, %u were before", seam_watches(), watches);
	device_rest();
	return 0;
}

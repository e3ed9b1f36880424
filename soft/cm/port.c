/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"
#include "cm.h"
#include "soft/device/names.h"
#include "soft/device/slot.h"

#define RANGE_FIRST 49152
#define RANGE_COUNT 16384

/* Ids have one of two port spaces; a request may name any. */
static uint32_t
entry_of(uint16_t port_space, uint16_t port)
{
	return SOFT_NAME_PORT(port_space == RDMA_PS_IB, port);
}

int
soft_port_take(uint16_t port_space, uint16_t port)
{
	const uint32_t entry = entry_of(port_space, port);
	int r;

	r = soft_name_take(entry);
	if (r)
		return r;
	r = soft_name_write(entry, (uint16_t)soft_slot_number());
	if (r)
		soft_name_give_back(entry);
	return r;
}

/* One after the other from a random one on: locks beside each other are one to the kernel. */
int
soft_port_any(uint16_t port_space, uint16_t *port)
{
	static bool begun;
	static uint32_t next;
	int r = -EADDRINUSE;

	if (!begun)
		next = soft_random32();
	begun = true;
	for (uint32_t i = 0; i < RANGE_COUNT && r == -EADDRINUSE; i++) {
		*port = (uint16_t)(RANGE_FIRST + next++ % RANGE_COUNT);
		/* A lock does not keep out its owner. */
		if (!soft_service_here(port_space, *port))
			r = soft_port_take(port_space, *port);
	}
	return r;
}

void
soft_port_return(uint16_t port_space, uint16_t port)
{
	const uint32_t entry = entry_of(port_space, port);

	(void)soft_name_write(entry, 0);
	soft_name_give_back(entry);
}

unsigned int
soft_port_owner(uint16_t port_space, uint16_t port)
{
	unsigned int slot = soft_name_read(entry_of(port_space, port));

	return slot >= SOFT_SLOT_MIN && slot <= SOFT_SLOT_MAX ? slot : 0;
}

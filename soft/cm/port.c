/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"
#include "cm.h"
#include "soft/device/names.h"
#include "soft/device/slot.h"

/* Ids have one of two port spaces; a request may name any. */
static uint32_t
port_entry(uint16_t port_space, uint16_t port)
{
	return SOFT_NAME_PORT(port_space == RDMA_PS_IB, port);
}

int
soft_port_open(uint16_t port_space, uint16_t port)
{
	const uint32_t entry = port_entry(port_space, port);
	int r;

	r = soft_name_lock(entry);
	if (r)
		return r;
	r = soft_name_write(entry, (uint16_t)soft_slot_number());
	if (r)
		soft_name_unlock(entry);
	return r;
}

void
soft_port_close(uint16_t port_space, uint16_t port)
{
	const uint32_t entry = port_entry(port_space, port);

	(void)soft_name_write(entry, 0);
	soft_name_unlock(entry);
}

unsigned int
soft_port_owner(uint16_t port_space, uint16_t port)
{
	unsigned int slot = soft_name_read(port_entry(port_space, port));

	return slot >= SOFT_SLOT_MIN && slot <= SOFT_SLOT_MAX ? slot : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"
#include "cm.h"
#include "softverbs/device/names.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PRIVILEGED 1024 /* the first port that is not */

/* In the entry of a port: the process of this slot destroyed its listener and released the port. */
#define PORT_ABANDONED 0x8000u

/* The ports of which this process has destroyed a listener, a bit each. */
static uint8_t abandoned[SOFT_PORT_SPACES][(1 << 16) / 8];

static uint32_t
port_entry(uint16_t port_space, uint16_t port)
{
	return SOFT_NAME_PORT(soft_port_space(port_space), port);
}

/* Ids have one of three port spaces; a request may name any. */
unsigned int
soft_port_space(uint16_t port_space)
{
	switch (port_space) {
	case RDMA_PS_IB:
		return 1;
	case RDMA_PS_UDP:
		return 2;
	default:
		return 0;
	}
}

bool
soft_port_is_permitted(uint16_t port)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return port >= PRIVILEGED || syscall(SYS_capget, &header, data) ||
	       data[0].effective >> CAP_NET_BIND_SERVICE & 1;
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
	uint16_t value = 0;

	if (soft_port_is_abandoned(port_space, port))
		value = (uint16_t)(soft_slot_number() | PORT_ABANDONED);
	(void)soft_name_write(entry, value);
	soft_name_unlock(entry);
}

unsigned int
soft_port_owner(uint16_t port_space, uint16_t port)
{
	unsigned int slot = soft_name_read(port_entry(port_space, port)) & ~PORT_ABANDONED;

	return slot >= SOFT_SLOT_MIN && slot <= SOFT_SLOT_MAX ? slot : 0;
}

void
soft_port_abandon(uint16_t port_space, uint16_t port)
{
	if (soft_settings_listeners_return())
		return;
	abandoned[soft_port_space(port_space)][port / 8] |= (uint8_t)(1u << port % 8);
}

bool
soft_port_is_abandoned(uint16_t port_space, uint16_t port)
{
	return abandoned[soft_port_space(port_space)][port / 8] >> port % 8 & 1;
}

void
soft_ports_reset(void)
{
	memset(abandoned, 0, sizeof abandoned);
}

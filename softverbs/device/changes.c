/* SPDX-License-Identifier: BSD-3-Clause */
#include "changes.h"
#include "slot.h"

#include <endian.h>
#include <string.h>

#define TROUBLES 7
#define PREFIX_OTHER 0xfec0000000000000ull
/* Of full members; 0 is none, and the last one is that of every port at first. */
#define PKEY_FULL 0x8000
#define PKEYS 0x7ffeu

#define SLOTS (SOFT_SLOT_MAX + 1)

atomic_uint soft_troubles_now;
atomic_uint soft_device_lives[SOFT_DEVICES_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int reasons[TROUBLES] GUARDED_BY(soft_locks.changes);

/* OUT and IN of one process. */
static atomic_uchar cuts[SLOTS];
static atomic_uint all_cut; /* of all others */

static _Atomic soft_ports down;
static _Atomic uint64_t delay, rate;
/* When what was sent at the rate has arrived. */
static _Atomic uint64_t busy_until;
/* Of each port: how often it changed, and its LID once that did. */
static atomic_uint lid_moves[SOFT_PORT_NUMBERS], gid_moves[SOFT_PORT_NUMBERS];
static atomic_uint sm_moves[SOFT_PORT_NUMBERS], pkey_moves[SOFT_PORT_NUMBERS];
static _Atomic uint16_t lids[SOFT_PORT_NUMBERS];

static void
changes_lock(void) ACQUIRE(soft_locks.changes) SOFT_NO_LEAF_LOCK UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
changes_unlock(void) RELEASE(soft_locks.changes) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

/* What was counted, and what is not: ports that are down, and processes that are cut off. */
static void
changes_publish(void) REQUIRES(soft_locks.changes)
{
	unsigned int now = down ? SOFT_TROUBLE_DOWN : 0;

	for (unsigned int i = 0; i < TROUBLES; i++)
		if (reasons[i])
			now |= 1u << i;
	all_cut = now & SOFT_TROUBLE_CUT;
	for (unsigned int i = 0; i < SLOTS; i++)
		now |= cuts[i];
	soft_troubles_now = now;
}

static void
changes_count(unsigned int trouble, bool more) SOFT_NO_LEAF_LOCK
{
	changes_lock();
	for (unsigned int i = 0; i < TROUBLES; i++) {
		if (trouble & 1u << i && more)
			reasons[i]++;
		else if (trouble & 1u << i && reasons[i])
			reasons[i]--;
	}
	changes_publish();
	changes_unlock();
}

void
soft_trouble_begin(unsigned int trouble)
{
	changes_count(trouble, true);
}

void
soft_trouble_end(unsigned int trouble)
{
	changes_count(trouble, false);
}

/* ---- links ---- */

static void
changes_cut(unsigned int ways, unsigned int slot, bool more) SOFT_NO_LEAF_LOCK
{
	if (!slot) {
		changes_count(ways, more);
		return;
	}
	changes_lock();
	cuts[slot] = (unsigned char)(more ? cuts[slot] | ways : cuts[slot] & ~ways);
	changes_publish();
	changes_unlock();
}

void
soft_cut_begin(unsigned int ways, unsigned int slot)
{
	changes_cut(ways, slot, true);
}

void
soft_cut_end(unsigned int ways, unsigned int slot)
{
	changes_cut(ways, slot, false);
}

void
soft_links_heal(void)
{
	changes_lock();
	for (unsigned int i = 0; i < TROUBLES; i++)
		if ((SOFT_TROUBLE_CUT | SOFT_TROUBLE_SLOW | SOFT_TROUBLE_RNR) & 1u << i)
			reasons[i] = 0;
	for (unsigned int i = 0; i < SLOTS; i++)
		cuts[i] = 0;
	changes_publish();
	changes_unlock();
}

bool
soft_cut_has(unsigned int way, unsigned int slot)
{
	return slot != soft_slot_number() && slot < SLOTS && (all_cut | cuts[slot]) & way;
}

void
soft_delay_set(uint64_t time)
{
	delay = time;
}

void
soft_rate_set(uint64_t bytes)
{
	rate = bytes;
}

/* Messages pass one after the other at the rate. */
static uint64_t
changes_pass(uint64_t now, uint64_t length, uint64_t bytes)
{
	uint64_t before = busy_until, until;

	do
		until = (before > now ? before : now) + length * SOFT_SECOND / bytes;
	while (!atomic_compare_exchange_weak(&busy_until, &before, until));
	return until;
}

uint64_t
soft_slow_due(uint64_t length)
{
	const uint64_t bytes = soft_troubles(SOFT_TROUBLE_RATE) ? rate : 0;
	uint64_t due = soft_now();

	if (bytes)
		due = changes_pass(due, length, bytes);
	return due + (soft_troubles(SOFT_TROUBLE_DELAY) ? delay : 0);
}

/* ---- ports ---- */

soft_ports
soft_ports_of(const char *device, unsigned int port)
{
	const struct soft_topology *topology = soft_topology();
	soft_ports ports = 0;

	for (unsigned int i = 0; i < topology->count; i++) {
		const struct soft_device *own = &topology->devices[i];

		if (*device && strcmp(own->name, device) != 0)
			continue;
		for (unsigned int j = 0; j < own->attr.phys_port_cnt; j++)
			if (!port || own->ports[j].port == port)
				ports |= 1ull << (own->ports[j].number - 1);
	}
	return ports;
}

soft_ports
soft_ports_there(soft_ports ports)
{
	const struct soft_topology *topology = soft_topology();

	for (unsigned int i = 0; i < topology->count; i++)
		if (soft_device_is_away(i))
			ports &= ~soft_ports_of(topology->devices[i].name, 0);
	return ports;
}

void
soft_ports_set_down(soft_ports ports, bool are)
{
	changes_lock();
	down = are ? down | ports : down & ~ports;
	changes_publish();
	changes_unlock();
}

bool
soft_port_is_down(const struct soft_device_port *port)
{
	return soft_ports_have(down, port);
}

soft_ports
soft_ports_managed(soft_ports ports)
{
	soft_ports managed = 0;

	for (unsigned int number = 1; number <= SOFT_PORT_NUMBERS; number++) {
		const struct soft_device_port *port = soft_topology_port(number);

		if (port && soft_ports_have(ports, port) && !soft_device_port_is_ethernet(port))
			managed |= 1ull << (number - 1);
	}
	return managed;
}

uint16_t
soft_lid_moved(const struct soft_device_port *port)
{
	const uint16_t lid = lids[port->number - 1];

	return lid ? lid : port->attr.lid;
}

union ibv_gid
soft_device_port_gid(const struct soft_device_port *port, unsigned int index)
{
	const unsigned int moves = gid_moves[port->number - 1];
	union ibv_gid now = port->gids[index].gid;

	if (moves && index == 0)
		now.global.subnet_prefix = htobe64(PREFIX_OTHER + moves);
	return now;
}

uint16_t
soft_pkey_now(const struct soft_device_port *port)
{
	const unsigned int moves = pkey_moves[port->number - 1];

	return moves ? (uint16_t)(PKEY_FULL | ((moves - 1) % PKEYS + 1)) : SOFT_PKEY;
}

struct ibv_port_attr
soft_port_now(const struct soft_device_port *port)
{
	struct ibv_port_attr attr = port->attr;

	if (soft_port_is_down(port)) {
		attr.state = IBV_PORT_DOWN;
		attr.phys_state = 2; /* polling */
	}
	attr.lid = soft_lid_now(port);
	if (attr.sm_lid)
		attr.sm_lid =
		    (uint16_t)((attr.sm_lid - 1 + sm_moves[port->number - 1]) % SOFT_LID_MAX + 1);
	return attr;
}

static void
changes_move(soft_ports ports, atomic_uint moves[SOFT_PORT_NUMBERS])
{
	for (unsigned int i = 0; i < SOFT_PORT_NUMBERS; i++)
		if (ports >> i & 1)
			moves[i]++;
}

static bool
changes_has_lid(uint16_t lid)
{
	for (unsigned int number = 1; number <= SOFT_PORT_NUMBERS; number++) {
		const struct soft_device_port *port = soft_topology_port(number);

		if (port && soft_lid_moved(port) == lid)
			return true;
	}
	return false;
}

void
soft_ports_change_lid(soft_ports ports)
{
	ports = soft_ports_managed(ports);
	changes_lock();
	for (unsigned int i = 0; i < SOFT_PORT_NUMBERS; i++) {
		if (!(ports >> i & 1))
			continue;
		uint16_t lid = soft_lid_moved(soft_topology_port(i + 1));

		do
			lid = (uint16_t)(lid % SOFT_LID_MAX + 1);
		while (changes_has_lid(lid));
		lids[i] = lid;
	}
	changes_move(ports, lid_moves);
	changes_unlock();
}

void
soft_ports_change_sm(soft_ports ports)
{
	changes_move(ports, sm_moves);
}

void
soft_ports_change_pkey(soft_ports ports)
{
	changes_move(ports, pkey_moves);
}

void
soft_ports_change_gid(soft_ports ports)
{
	changes_move(ports, gid_moves);
}

uint32_t
soft_ports_moved(const struct soft_device_port *from, unsigned int to, bool global)
{
	const unsigned int numbers[] = { from ? from->number : 0, to };
	uint32_t moved = 0;

	for (unsigned int i = 0; i < 2; i++)
		if (numbers[i] && numbers[i] <= SOFT_PORT_NUMBERS)
			moved +=
			    lid_moves[numbers[i] - 1] + (global ? gid_moves[numbers[i] - 1] : 0);
	return moved;
}

/* ---- devices ---- */

static soft_ports
changes_turn(soft_ports ports, bool away)
{
	const struct soft_topology *topology = soft_topology();
	soft_ports turned = 0;

	for (unsigned int i = 0; i < topology->count; i++) {
		const soft_ports own = soft_ports_of(topology->devices[i].name, 0);

		if (!(own & ports) || soft_device_is_away(i) == away)
			continue;
		soft_device_lives[i]++;
		turned |= own;
	}
	return turned;
}

soft_ports
soft_devices_remove(soft_ports ports)
{
	return changes_turn(ports, true);
}

soft_ports
soft_devices_add(soft_ports ports)
{
	return changes_turn(ports, false);
}

void
soft_changes_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned int i = 0; i < TROUBLES; i++)
		reasons[i] = 0;
	for (unsigned int i = 0; i < SLOTS; i++)
		cuts[i] = 0;
	for (unsigned int i = 0; i < SOFT_DEVICES_MAX; i++)
		soft_device_lives[i] = 0;
	all_cut = soft_troubles_now = 0;
	for (unsigned int i = 0; i < SOFT_PORT_NUMBERS; i++) {
		lid_moves[i] = gid_moves[i] = sm_moves[i] = pkey_moves[i] = 0;
		lids[i] = 0;
	}
	delay = rate = busy_until = 0;
	down = 0;
}

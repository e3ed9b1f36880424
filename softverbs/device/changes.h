/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * changes -- what has changed of the devices and their ports since the process began
 *
 * Nothing does but by the faults of a rule: a port is active and has its addresses for ever.
 */
#ifndef SOFT_CHANGES_H
#define SOFT_CHANGES_H

#include "topology.h"

/* What messages meet; several of them at a time. */
#define SOFT_TROUBLE_DOWN 1u   /* a port is down: it neither sends nor receives */
#define SOFT_TROUBLE_OUT 2u    /* nothing goes to another process, or to all others */
#define SOFT_TROUBLE_IN 4u     /* nothing comes from one */
#define SOFT_TROUBLE_RNR 8u    /* receives are not used */
#define SOFT_TROUBLE_DELAY 16u /* messages take longer */
#define SOFT_TROUBLE_RATE 32u  /* each takes the time of its bytes */
#define SOFT_TROUBLE_MOVED 64u /* connections to former addresses do not work */

#define SOFT_TROUBLE_CUT (SOFT_TROUBLE_OUT | SOFT_TROUBLE_IN)
#define SOFT_TROUBLE_SLOW (SOFT_TROUBLE_DELAY | SOFT_TROUBLE_RATE)

extern atomic_uint soft_troubles_now SOFT_HIDDEN;

/* Which of these there are now. */
static inline unsigned int
soft_troubles(unsigned int of)
{
	return atomic_load_explicit(&soft_troubles_now, memory_order_relaxed) & of;
}

/* One more, or one less, reason for a trouble but DOWN, OUT and IN; several are counted. */
void soft_trouble_begin(unsigned int trouble) SOFT_NO_LEAF_LOCK;
void soft_trouble_end(unsigned int trouble) SOFT_NO_LEAF_LOCK;

/* ---- ports ---- */

/* A set of ports: bit N is the port of number N + 1. */
typedef uint64_t soft_ports;

/* Those of the device, or of all if it is "": one of them, or all if `port` is 0. */
soft_ports soft_ports_of(const char *device, unsigned int port);
/* Without those of devices that are away. */
soft_ports soft_ports_there(soft_ports ports);

static inline bool
soft_ports_have(soft_ports ports, const struct soft_device_port *port)
{
	return ports >> (port->number - 1) & 1;
}

void soft_ports_set_down(soft_ports ports, bool down) SOFT_NO_LEAF_LOCK;
bool soft_port_is_down(const struct soft_device_port *port);

/* Those of InfiniBand: a subnet manager gives them LIDs and P_Keys. */
soft_ports soft_ports_managed(soft_ports ports);

uint16_t soft_lid_moved(const struct soft_device_port *port);

/* What became of the LID of a port, of its P_Key, and of what else it has. */
static inline uint16_t
soft_lid_now(const struct soft_device_port *port)
{
	return __builtin_expect(soft_troubles(SOFT_TROUBLE_MOVED), 0) ? soft_lid_moved(port) :
									port->attr.lid;
}

uint16_t soft_pkey_now(const struct soft_device_port *port);
struct ibv_port_attr soft_port_now(const struct soft_device_port *port);

/* Each call is another value; a LID is one that no other port has. */
void soft_ports_change_lid(soft_ports ports) SOFT_NO_LEAF_LOCK;
void soft_ports_change_sm(soft_ports ports);
void soft_ports_change_pkey(soft_ports ports);
void soft_ports_change_gid(soft_ports ports);

/*
 * How often the LIDs of a port and of the one with the number `to` have changed, or the LIDs or the
 * GIDs: a connection knows when it was made.
 */
uint32_t soft_ports_moved(const struct soft_device_port *from, unsigned int to, bool global);

/* ---- links ---- */

/*
 * OUT, IN or both are cut, or are not any more: to the process at the slot, or to all others if it
 * is 0.  A cut of one slot is not counted.
 */
void soft_cut_begin(unsigned int ways, unsigned int slot) SOFT_NO_LEAF_LOCK;
void soft_cut_end(unsigned int ways, unsigned int slot) SOFT_NO_LEAF_LOCK;

/* All cuts end, and every other trouble of links. */
void soft_links_heal(void) SOFT_NO_LEAF_LOCK;

bool soft_cut_has(unsigned int way, unsigned int slot);

/* Whether nothing passes that way, OUT or IN, between this process and the one at the slot. */
static inline bool
soft_is_cut(unsigned int way, unsigned int slot)
{
	return __builtin_expect(soft_troubles(way), 0) && soft_cut_has(way, slot);
}

/* How much longer each message takes, in nanoseconds; how many bytes pass in a second. */
void soft_delay_set(uint64_t time);
void soft_rate_set(uint64_t rate);

/* When a message of that length, which is sent now, has arrived. */
uint64_t soft_slow_due(uint64_t length);

/* ---- devices ---- */

/*
 * Each time that a device is removed or arrives this number grows: it is odd while the device is
 * away, and one that was opened before is gone for ever.
 */
extern atomic_uint soft_device_lives[SOFT_DEVICES_MAX] SOFT_HIDDEN;

static inline unsigned int
soft_device_life(unsigned int device)
{
	return atomic_load_explicit(&soft_device_lives[device], memory_order_relaxed);
}

static inline bool
soft_device_is_away(unsigned int device)
{
	return soft_device_life(device) & 1;
}

/* Those that have one of the ports are removed, or arrive; which of them that does. */
soft_ports soft_devices_remove(soft_ports ports);
soft_ports soft_devices_add(soft_ports ports);

/* In a forked child: the device is as it was when the process began. */
void soft_changes_reset(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * changes -- what has changed of the device and its port since the process began
 *
 * Nothing does but by the faults of a rule: the port is active and has its addresses for ever.
 */
#ifndef SOFT_CHANGES_H
#define SOFT_CHANGES_H

#include "soft.h"

/* What messages meet; several of them at a time. */
#define SOFT_TROUBLE_DOWN 1u   /* the port is down: nothing is sent or received */
#define SOFT_TROUBLE_CUT 2u    /* nothing comes from other processes, nothing goes to them */
#define SOFT_TROUBLE_OUT 4u    /* nothing goes to them */
#define SOFT_TROUBLE_RNR 8u    /* receives are not used */
#define SOFT_TROUBLE_DELAY 16u /* messages take longer */
#define SOFT_TROUBLE_MOVED 32u /* connections to former addresses do not work */

/* Of messages to other processes, and from them. */
#define SOFT_TROUBLE_NO_OUTPUT (SOFT_TROUBLE_DOWN | SOFT_TROUBLE_CUT | SOFT_TROUBLE_OUT)
#define SOFT_TROUBLE_NO_INPUT (SOFT_TROUBLE_DOWN | SOFT_TROUBLE_CUT)

extern atomic_uint soft_troubles_now SOFT_HIDDEN;

/* Which of these there are now. */
static inline unsigned int
soft_troubles(unsigned int of)
{
	return atomic_load_explicit(&soft_troubles_now, memory_order_relaxed) & of;
}

/* One more, or one less, reason for a trouble; several are counted. */
void soft_trouble_begin(unsigned int trouble) SOFT_NO_LEAF_LOCK;
void soft_trouble_end(unsigned int trouble) SOFT_NO_LEAF_LOCK;

/* How much longer each message takes, in nanoseconds. */
uint64_t soft_delay(void);
void soft_delay_set(uint64_t time);

extern atomic_uint soft_port_lid_moves SOFT_HIDDEN;

/*
 * What became of a LID, of a GID with that index, of the P_Key, and of what else a port has.  All
 * ports change together.
 */
static inline uint16_t
soft_lid_now(uint16_t lid)
{
	const unsigned int moves = atomic_load_explicit(&soft_port_lid_moves, memory_order_relaxed);

	return lid ? (uint16_t)(lid + (moves & 0x3fff)) : 0; /* Ethernet has none */
}

union ibv_gid soft_gid_now(const union ibv_gid *gid, uint32_t index);
uint16_t soft_pkey_now(void);
void soft_port_change(struct ibv_port_attr *attr);

/* What else is at its port; each call is another value. */
void soft_port_change_lid(void);
void soft_port_change_sm(void);
void soft_port_change_pkey(void);
void soft_port_change_gid(void);

/* How often the LID has changed, or the LID or the GID: a connection knows when it was made. */
uint32_t soft_port_moves(bool global);

/* The device was removed, or does not work any more. */
extern atomic_bool soft_device_gone SOFT_HIDDEN;

static inline bool
soft_device_is_gone(void)
{
	return atomic_load_explicit(&soft_device_gone, memory_order_relaxed);
}

void soft_device_remove(void);

/* In a forked child: the device is as it was when the process began. */
void soft_changes_reset(void);

#endif

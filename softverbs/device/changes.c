/* SPDX-License-Identifier: BSD-3-Clause */
#include "changes.h"

#include <endian.h>

#define TROUBLES 6
#define PREFIX_OTHER 0xfec0000000000000ull

atomic_uint soft_troubles_now;
atomic_bool soft_device_gone;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int reasons[TROUBLES] GUARDED_BY(soft_locks.changes);

static atomic_ullong delay;
atomic_uint soft_port_lid_moves;
static atomic_uint gid_moves, sm_moves, pkey_moves;

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

static void
changes_count(unsigned int trouble, bool more) SOFT_NO_LEAF_LOCK
{
	unsigned int now = 0;

	changes_lock();
	for (unsigned int i = 0; i < TROUBLES; i++) {
		if (trouble & 1u << i && more)
			reasons[i]++;
		else if (trouble & 1u << i && reasons[i])
			reasons[i]--;
		if (reasons[i])
			now |= 1u << i;
	}
	soft_troubles_now = now;
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

uint64_t
soft_delay(void)
{
	return delay;
}

void
soft_delay_set(uint64_t time)
{
	delay = time;
}

union ibv_gid
soft_gid_now(const union ibv_gid *gid, uint32_t index)
{
	union ibv_gid now = *gid;

	if (gid_moves && index == 0)
		now.global.subnet_prefix = htobe64(PREFIX_OTHER + gid_moves);
	return now;
}

uint16_t
soft_pkey_now(void)
{
	return pkey_moves ? (uint16_t)(0x8000 | (pkey_moves & 0x3fff)) : SOFT_PKEY;
}

void
soft_port_change(struct ibv_port_attr *attr)
{
	if (soft_troubles(SOFT_TROUBLE_DOWN)) {
		attr->state = IBV_PORT_DOWN;
		attr->phys_state = 2; /* polling */
	}
	attr->lid = soft_lid_now(attr->lid);
	if (attr->sm_lid)
		attr->sm_lid = (uint16_t)(attr->sm_lid + (sm_moves & 0x3fff));
}

void
soft_port_change_lid(void)
{
	soft_port_lid_moves++;
}

void
soft_port_change_sm(void)
{
	sm_moves++;
}

void
soft_port_change_pkey(void)
{
	pkey_moves++;
}

void
soft_port_change_gid(void)
{
	gid_moves++;
}

uint32_t
soft_port_moves(bool global)
{
	return soft_port_lid_moves + (global ? gid_moves : 0);
}

void
soft_device_remove(void)
{
	soft_device_gone = true;
}

void
soft_changes_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned int i = 0; i < TROUBLES; i++)
		reasons[i] = 0;
	soft_troubles_now = 0;
	soft_device_gone = false;
	soft_port_lid_moves = gid_moves = sm_moves = pkey_moves = 0;
	delay = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setting -- the value of a setting that several threads change, and whether it is known
 *
 * Calls that overlap may take effect in either order.  After them the value is not known until a
 * call that no other call overlapped.  The owner's lock guards it.
 */
#ifndef REARM_HOSTILE_SETTING_H
#define REARM_HOSTILE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

struct setting {
	uint64_t value;
	bool sure;
	unsigned int begun;
	unsigned int in_flight;
	uint64_t since; /* the stamp since which the value is known */
};

struct setting_change {
	unsigned int number;
	bool alone;
	bool was_sure;
};

static inline void
setting_init(struct setting *setting, uint64_t value)
{
	*setting = (struct setting){ .value = value, .sure = true };
}

static inline struct setting_change
setting_begin(struct setting *setting)
{
	struct setting_change change = {
		.number = ++setting->begun,
		.alone = setting->in_flight++ == 0,
		.was_sure = setting->sure,
	};

	setting->sure = false;
	return change;
}

/* True if no other change overlapped this one. */
static inline bool
setting_end(struct setting *setting, const struct setting_change *change, bool applied,
    uint64_t value, uint64_t stamp)
{
	const bool alone = change->alone && setting->begun == change->number;

	setting->in_flight--;
	if (!alone)
		return false;
	if (applied) {
		setting->value = value;
		setting->sure = true;
		setting->since = stamp;
	} else {
		setting->sure = change->was_sure;
	}
	return true;
}

#endif

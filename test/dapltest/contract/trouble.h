/* SPDX-License-Identifier: BSD-3-Clause */
/* trouble -- faults that a test can inject with the library "trouble"; see soft/device/trouble.h */
#ifndef REARM_TEST_CONTRACT_TROUBLE_H
#define REARM_TEST_CONTRACT_TROUBLE_H

#include <stdbool.h>

/* The numbers of verbs' event types. */
enum trouble_event {
	DEVICE_FATAL = 8,
	PORT_ACTIVE = 9,
	PORT_ERR = 10,
	LID_CHANGE = 11,
	PKEY_CHANGE = 12,
	SM_CHANGE = 13,
	CLIENT_REREGISTER = 17,
	GID_CHANGE = 18,
};

/* NULL until trouble_find(), which is called after an adapter of that library was opened. */
extern void (*trouble_no_resize)(bool on);
extern void (*trouble_overrun)(int n);
extern void (*trouble_refuse_arms)(int n);
extern void (*trouble_raise)(int event_type);

void trouble_find(void);

#endif

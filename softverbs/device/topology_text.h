/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology_text -- what the files share that read the text of a topology
 *
 * A function that returns a bool prints why into the error of the reading when it returns false.
 */
#ifndef SOFT_TOPOLOGY_TEXT_H
#define SOFT_TOPOLOGY_TEXT_H

#include "topology.h"

#define SOFT_SHOWN 60 /* what a message shows of a word */

/* The bit 0x02 of the first byte marks a locally administered number; the OUI is its first part. */
#define SOFT_GUID_FIRST 0x0253465453465430ull
#define SOFT_GUID_STEP 0x100
#define SOFT_VENDOR_ID (SOFT_GUID_FIRST >> 40)

struct soft_reading {
	struct soft_topology *topology;
	const char *where; /* the device or port of the statement, or NULL */
	char *error;
	size_t size;
};

struct soft_choice {
	const char *name;
	unsigned int value;
};

/* What a device, and a port, has if nothing is set: all that softverbs can do. */
extern const struct ibv_device_attr soft_device_most;
extern const struct ibv_port_attr soft_device_port_most;

/* Returns false. */
bool soft_topology_refuse(const struct soft_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool soft_topology_number(const struct soft_reading *reading, const char *key, const char *text,
    uint64_t least, uint64_t most, uint64_t *number);

/* The choices end with one without a name. */
bool soft_topology_choice(const struct soft_reading *reading, const char *key, const char *text,
    const struct soft_choice *choices, unsigned int *value);

/* Sets one key.  The value of a port may be cut. */
bool soft_topology_device_value(const struct soft_reading *reading, struct soft_device *device,
    const char *key, const char *value);
bool soft_topology_port_value(const struct soft_reading *reading, struct soft_device_port *port,
    const char *key, char *value);

/* Fills in what no statement has set, and checks that no two ports have the same address. */
bool soft_topology_finish(struct soft_reading *reading);

#endif

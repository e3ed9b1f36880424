/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- the devices as programs see them, and their attributes
 */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include "topology.h"

/* By its index in the topology. */
struct ibv_device *soft_device_at(unsigned int index);

/* NULL if it is none of softverbs. */
const struct soft_device *soft_device_find(const struct ibv_device *device);

/* Of a context, which has one. */
static inline const struct soft_device *
soft_device_of(const struct ibv_context *context)
{
	return soft_device_find(context->device);
}

/* What the device of a context allows. */
static inline const struct ibv_device_attr *
soft_limits(const struct ibv_context *context)
{
	return &soft_device_of(context)->attr;
}

/* NULL if the device has no such port. */
const struct soft_device_port *soft_device_port(const struct ibv_context *context, uint32_t port);

void soft_device_query_ex(const struct ibv_context *context, struct ibv_device_attr_ex *attr);
int soft_port_query(
    const struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t length);

/* Functions of libibverbs that no public header declares. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#endif

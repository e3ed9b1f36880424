/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- the one device, and its attributes
 */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include "soft.h"

/* The one device. */
struct ibv_device *soft_device(void);

void soft_device_query(struct ibv_device_attr *attr);
void soft_device_query_ex(struct ibv_device_attr_ex *attr);
int soft_port_query(uint8_t port, struct ibv_port_attr *attr, size_t length);

/* Functions of libibverbs that no public header declares. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#endif

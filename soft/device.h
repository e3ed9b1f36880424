/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include "soft.h"

/* The one device. */
struct ibv_device *soft_device(void);

/* EUI-64 of the device and of its port, in network order. */
__be64 soft_device_guid(void);

void soft_device_query(struct ibv_device_attr *attr);
int soft_port_query(uint8_t port, struct ibv_port_attr *attr, size_t length);
int soft_gid_query(uint32_t port, uint32_t index, union ibv_gid *gid);

#endif

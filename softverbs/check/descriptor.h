/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor -- whether a descriptor becomes readable with a channel, or with a clock
 */
#ifndef SOFT_CHECK_DESCRIPTOR_H
#define SOFT_CHECK_DESCRIPTOR_H

#include "softverbs/device/soft.h"

/*
 * True if `fd` is that of the channel, a duplicate of it, or an epoll descriptor that has one of
 * these; also one that has such an epoll descriptor.
 */
bool soft_descriptor_leads_to(int fd, int channel);

/* True if `fd` is a timerfd that is set, or an epoll descriptor that has one, as above. */
bool soft_descriptor_ticks(int fd);

#endif

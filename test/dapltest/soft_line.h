/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_line -- a line to a device, for tests that speak its language themselves
 */
#ifndef SOFT_LINE_H
#define SOFT_LINE_H

/* Connects to the process that has the slot, which uses the device; a descriptor. */
int line_open(unsigned int slot);

#endif

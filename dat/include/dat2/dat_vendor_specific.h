/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_vendor_specific.h -- kept because sources include it: no adapter vendor adds
 * anything to dat.h here
 */
#ifndef _DAT_VENDOR_SPECIFIC_H_
#define _DAT_VENDOR_SPECIFIC_H_

#endif

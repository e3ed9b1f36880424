/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udat_vendor_specific.h -- kept because sources include it: no adapter vendor adds
 * anything to udat.h here
 */
#ifndef _UDAT_VENDOR_SPECIFIC_H_
#define _UDAT_VENDOR_SPECIFIC_H_

#include <dat2/dat_vendor_specific.h>

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udat_config.h -- what a program may choose before it includes udat.h
 *
 * DAT_THREADSAFE  DAT_TRUE asks dat_ia_open() for a provider whose calls may be made from
 *		   several threads at once.  Default DAT_FALSE.
 * DAT_EXTENSIONS  compiles in dat_extension_op() and the extension ranges of the
 *		   enumerations.  Always 1 here: slot 80 of the provider table depends on it.
 */
#ifndef _UDAT_CONFIG_H_
#define _UDAT_CONFIG_H_

/* The version of DAT that these headers describe; dat_ia_open() asks for it. */
#define DAT_VERSION_MAJOR 2
#define DAT_VERSION_MINOR 0

#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#ifndef DAT_EXTENSIONS
#define DAT_EXTENSIONS 1
#endif

#endif

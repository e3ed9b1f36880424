/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol -- the function that an address belongs to
 */
#ifndef SOFT_CHECK_SYMBOL_H
#define SOFT_CHECK_SYMBOL_H

#include "soft/device/soft.h"

/*
 * "function+0x12 (program)".  Static functions are found in the symbol table of the file, unless it was stripped; then
 * it is "program+0x1234".
 */
void soft_symbol_name(const void *address, char *name, size_t size);

/* True if the address is in this library. */
bool soft_symbol_is_own(const void *address);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol -- the function that an address belongs to
 */
#ifndef SOFT_CHECK_SYMBOL_H
#define SOFT_CHECK_SYMBOL_H

#include "softverbs/device/soft.h"

/*
 * "function+0x12 (program)".  Static functions are found in the symbol table of the file, unless it
 * was stripped; then it is "program+0x1234".
 */
void soft_symbol_name(const void *address, char *name, size_t size);

/* True if the address is in this library. */
bool soft_symbol_is_own(const void *address);

/*
 * The file that an address belongs to, and the address in it as addr2line(1) takes it.  False if
 * the file has no table of lines, as a program that was built without -g.
 */
bool soft_symbol_line_source(const void *address, char *path, size_t size, uint64_t *offset);

#endif

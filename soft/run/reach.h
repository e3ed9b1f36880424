/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach -- programs that the library path does not reach
 */
#ifndef SOFT_RUN_REACH_H
#define SOFT_RUN_REACH_H

/* Prints one line if execvp() of this name starts a program that is static, set-user-ID or set-group-ID. */
void soft_reach_warn(const char *program);

#endif

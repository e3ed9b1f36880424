/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feature -- what a test needs of the system, and an emulator or a policy of the host may not have
 *
 * Each function tries it.
 */
#ifndef REARM_TEST_FEATURE_H
#define REARM_TEST_FEATURE_H

#include <stdbool.h>

#define FEATURE_NO_TRACE "no process may trace another here (ptrace)"
#define FEATURE_NO_READ "no process may read the memory of another here (process_vm_readv)"
#define FEATURE_NO_FILTER "system calls cannot be filtered here (seccomp)"
#define FEATURE_NO_CHILD "the child of a process with threads cannot make a thread here"
#define FEATURE_NO_LIMIT "no limit of memory can be reached here (a sanitizer, an emulator)"
#define FEATURE_NO_TWICE "shared memory cannot be mapped a second time by its address here (mremap)"
#define FEATURE_NO_ROOT "only root can become another user, and get past what keeps users apart"

#define FEATURE_NO_SHM "no file can be made in /dev/shm here"

bool feature_trace(void);
bool feature_read(void);
bool feature_filter(void);
bool feature_child(void);
bool feature_limit(void);
bool feature_twice(void);
bool feature_root(void);
bool feature_shm(void);

#endif

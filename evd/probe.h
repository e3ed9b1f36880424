/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe -- static probes for tracers: bpftrace, SystemTap, perf, gdb
 *
 * Where a probe stands the program has a nop, and a note in the library says where it is and where
 * its arguments are: in registers or in memory.  A tracer that attaches replaces the nop.  Only the
 * providers that are installed have probes (REARM_PROBES, see configure.ac); in other builds
 * nothing is left of them.  doc/debugging.md describes each probe.
 *
 *     REARM_PROBE(notify, evd->cfg.handle)
 *     REARM_PROBE_INT(poll, evd->cfg.handle, n)
 *
 * are rearm:notify, and rearm:poll with a second argument.  A pointer is an argument in memory,
 * which the tracer reads, so that the program need not load it.  An int is in a register in any
 * case.
 */
#ifndef REARM_EVD_PROBE_H
#define REARM_EVD_PROBE_H

#ifdef REARM_PROBES

#include <sys/sdt.h>

/* clang-format off */
/* The size of an argument stands before its place; it is negative if the argument has a sign. */
#if __SIZEOF_POINTER__ == 8
#define REARM_PROBE_P 8@%[p]
#define REARM_PROBE_Q 8@%[q]
#else
#define REARM_PROBE_P 4@%[p]
#define REARM_PROBE_Q 4@%[q]
#endif
#define REARM_PROBE_I -4@%[i]
#define REARM_PROBE_J -4@%[j]

/*
 * `inline`: else the compiler takes the lines of the text for code when it chooses what to inline.
 */
#define REARM_PROBE(name, pointer) \
	__asm__ __volatile__ __inline__(STAP_PROBE_ASM(rearm, name, REARM_PROBE_P) \
	    : : [p] "m"(pointer))
#define REARM_PROBE_PAIR(name, pointer, other) \
	__asm__ __volatile__ __inline__(STAP_PROBE_ASM(rearm, name, REARM_PROBE_P REARM_PROBE_Q) \
	    : : [p] "m"(pointer), [q] "m"(other))
#define REARM_PROBE_INT(name, pointer, value) \
	__asm__ __volatile__ __inline__(STAP_PROBE_ASM(rearm, name, REARM_PROBE_P REARM_PROBE_I) \
	    : : [p] "m"(pointer), [i] "nr"((int)(value)))
#define REARM_PROBE_INTS(name, pointer, value, other) \
	__asm__ __volatile__ __inline__( \
	    STAP_PROBE_ASM(rearm, name, REARM_PROBE_P REARM_PROBE_I REARM_PROBE_J) \
	    : : [p] "m"(pointer), [i] "nr"((int)(value)), [j] "nr"((int)(other)))
/* clang-format on */

#else

/* The arguments are named, so that no variable is unused, but not evaluated. */
#define REARM_PROBE(name, pointer) ((void)sizeof(pointer))
#define REARM_PROBE_PAIR(name, pointer, other) ((void)sizeof(pointer), (void)sizeof(other))
#define REARM_PROBE_INT(name, pointer, value) ((void)sizeof(pointer), (void)sizeof(value))
#define REARM_PROBE_INTS(name, pointer, value, other) \
	((void)sizeof(pointer), (void)sizeof(value), (void)sizeof(other))

#endif

#endif

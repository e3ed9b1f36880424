/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting -- the folder in which the processes of a test program meet on the software device
 *
 * Each program has one of its own.  In that of the user a port that a test has found free is taken,
 * sooner or later, by another program that runs at the same time.
 */
#ifndef REARM_TEST_LIB_MEETING_H
#define REARM_TEST_LIB_MEETING_H

/*
 * Makes the folder, and names it to the processes that are started from now on.  Without one they
 * meet where they would.
 */
void meeting_begin(void);

/* Removes it. */
void meeting_end(void);

#endif

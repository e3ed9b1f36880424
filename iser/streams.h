/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams -- descriptors 0, 1 and 2 are those of the standard streams
 *
 * A program may be started with some of them closed.  The file of a LUN would get their numbers
 * then, and what is printed would go into it.  Their readers may end before the program does, and a
 * file may be at its limit: that is an error of the call, and no signal.
 */
#ifndef ISER_STREAMS_H
#define ISER_STREAMS_H

/*
 * Before anything is opened: /dev/null stands for those that are closed, or the program ends.
 * Ignores SIGPIPE and SIGXFSZ.
 */
void streams_open(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iprobe -- the questions about the LUN: whether it is ready, how large it is, what its limits are
 */
#ifndef ISER_ISCSI_IPROBE_H
#define ISER_ISCSI_IPROBE_H

struct iconn;
struct response;

/* The question that is due. */
void iprobe_ask(struct iconn *conn);
/* The answer to it.  After the last one the session is ICONN_IDLE. */
void iprobe_take(struct iconn *conn, const struct response *response);

#endif

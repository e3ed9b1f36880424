/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ilogin -- the login of a session of the initiator: its keys, and CHAP
 */
#ifndef ISER_ISCSI_ILOGIN_H
#define ISER_ISCSI_ILOGIN_H

#include <stddef.h>

struct iconn;

void ilogin_begin(struct iconn *conn);
/* An answer to a login.  After the last one the questions about the LUN begin. */
void ilogin_take(struct iconn *conn, unsigned char *pdu, size_t length);

#endif

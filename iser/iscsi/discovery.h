/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * discovery -- text requests: SendTargets
 */
#ifndef ISER_ISCSI_DISCOVERY_H
#define ISER_ISCSI_DISCOVERY_H

struct session;

void discovery_text(struct session *session, const unsigned char *pdu);

#endif

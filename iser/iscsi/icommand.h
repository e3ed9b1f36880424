/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icommand -- the commands of the initiator: sent, answered, and sent again if the target is busy
 */
#ifndef ISER_ISCSI_ICOMMAND_H
#define ISER_ISCSI_ICOMMAND_H

#include <stdint.h>

struct iconn;
struct response;

/* In slot `number`, to move so many bytes of its memory. */
void icommand_send(struct iconn *conn, unsigned int number, const unsigned char cdb[16],
    uint32_t reads, uint32_t writes);
/* What was written is to be on the medium. */
void icommand_flush(struct iconn *conn);
/* An answer of the target to one of them. */
void icommand_take(struct iconn *conn, const unsigned char *pdu);
/* The target does not take the command of the slot now: it is sent again, some times. */
void icommand_busy(struct iconn *conn, unsigned int number, const struct response *response);
void icommand_failed(struct iconn *conn, const struct response *response);
/* The target is asked for a unit attention, if it has answered nothing since the last time. */
void icommand_look(struct iconn *conn);
/* What waits to be sent again has waited long enough. */
void icommand_send_waiting(struct iconn *conn);

#endif

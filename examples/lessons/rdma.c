/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma -- writes to the memory of the other side, and reads it, by RDMA
 *
 * The lesson: the other side takes no part in an RDMA write or read.  It posts no receive and gets
 * no event.  So two messages go with them: one says beforehand where the memory is, with the
 * context that permits the access, and one says afterwards that the data is there.  A message that
 * is sent after a write arrives after its data.
 *
 * Here one process is both sides: the server has memory for the client, who writes a line to it and
 * reads it back.
 *
 *	rdma ADAPTER
 */
#include "common.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 256, LINE_AT = 0, BACK_AT = LENGTH, TIMEOUT = 10 * 1000000 };

static struct adapter adapter;

struct side {
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;
	struct buffer buffer; /* for messages, and the client's line */
};

static void
side_create(struct side *side)
{
	side->evd = evd_create(&adapter, DAT_HANDLE_NULL);
	side->ep = ep_create(&adapter, side->evd);
	buffer_create(&side->buffer, &adapter, 2 * LENGTH);
	post_recv(side->ep, &side->buffer, 0, LENGTH, 0);
}

static void
side_free(struct side *side)
{
	must("dat_ep_free", dat_ep_free(side->ep));
	must("dat_evd_free", dat_evd_free(side->evd));
	buffer_free(&side->buffer);
}

/* Waits for the next completion, which has to be of that kind. */
static void
complete(const struct side *side, DAT_DTOS operation)
{
	DAT_EVENT event;
	DAT_COUNT more;

	must("dat_evd_wait", dat_evd_wait(side->evd, TIMEOUT, 1, &event, &more));
	if (completion(&event)->operation != operation)
		errx(1, "the completion of another request");
}

/* Memory that the other side may use: `remote` is what it has to know of it. */
static DAT_LMR_HANDLE
shelf_create(char *bytes, DAT_RMR_TRIPLET *remote)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = bytes };
	DAT_LMR_CONTEXT unused;
	DAT_LMR_HANDLE lmr;

	must("dat_lmr_create",
	    dat_lmr_create(adapter.ia, DAT_MEM_TYPE_VIRTUAL, region, LENGTH, adapter.pz,
		DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG |
		    DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
		DAT_VA_TYPE_VA, &lmr, &unused, &remote->rmr_context, NULL, NULL));
	remote->virtual_address = (DAT_VADDR)(uintptr_t)bytes;
	remote->segment_length = LENGTH;
	return lmr;
}

/* A part of the buffer of a side. */
static DAT_LMR_TRIPLET
part(const struct side *side, size_t offset)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)(side->buffer.bytes + offset),
		.segment_length = LENGTH,
		.lmr_context = side->buffer.lmr_context,
	};
}

static void
client_work(struct side *client)
{
	DAT_LMR_TRIPLET line = part(client, LINE_AT), back = part(client, BACK_AT);
	const DAT_DTO_COOKIE cookie = { .as_64 = 0 };
	DAT_RMR_TRIPLET shelf;

	complete(client, DAT_DTO_RECEIVE);
	memcpy(&shelf, client->buffer.bytes, sizeof shelf);
	strcpy(client->buffer.bytes + LINE_AT, "written by RDMA");
	must("dat_ep_post_rdma_write", dat_ep_post_rdma_write(client->ep, 1, &line, cookie, &shelf,
					   DAT_COMPLETION_DEFAULT_FLAG));
	/* Requests of an endpoint keep their order, so the read finds what was written. */
	must("dat_ep_post_rdma_read", dat_ep_post_rdma_read(client->ep, 1, &back, cookie, &shelf,
					  DAT_COMPLETION_DEFAULT_FLAG));
	complete(client, DAT_DTO_RDMA_WRITE);
	complete(client, DAT_DTO_RDMA_READ);
	printf("the client has read: %s\n", client->buffer.bytes + BACK_AT);
	post_send(client->ep, &client->buffer, LINE_AT, 1, 0);
	complete(client, DAT_DTO_SEND);
}

int
main(int argc, char **argv)
{
	struct side client, server;
	DAT_RMR_TRIPLET shelf;
	DAT_LMR_HANDLE lmr;
	char *bytes;

	take_arguments(argc, argv, 1, 1, "rdma ADAPTER");
	bytes = calloc(1, LENGTH);
	if (!bytes)
		err(1, "no memory");
	adapter_open(&adapter, argv[1]);
	side_create(&client);
	side_create(&server);
	ep_connect(&adapter, client.ep, server.ep);

	/* A program of two hosts also has to agree on the order of bytes of what it sends. */
	lmr = shelf_create(bytes, &shelf);
	memcpy(server.buffer.bytes + LENGTH, &shelf, sizeof shelf);
	post_send(server.ep, &server.buffer, LENGTH, sizeof shelf, 0);
	complete(&server, DAT_DTO_SEND);
	client_work(&client);
	complete(&server, DAT_DTO_RECEIVE);
	printf("the server finds: %s\n", bytes);

	/* After this no one may access the memory: an endpoint that tries loses its connection. */
	must("dat_lmr_free", dat_lmr_free(lmr));
	free(bytes);
	side_free(&client);
	side_free(&server);
	adapter_close(&adapter);
	return 0;
}

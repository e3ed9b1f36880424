/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * happens -- an end of a connection, made by hand, for the programs that see incidents
 */
#ifndef SOFT_TEST_HAPPENS_H
#define SOFT_TEST_HAPPENS_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_reg_mr

#define MUST(what) \
	((what) ? (void)0 : \
		  (fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, strerror(errno)), \
		      exit(1)))

struct address {
	uint32_t qpn, rkey;
	uint64_t bytes;
	uint16_t lid;
	union ibv_gid gid;
};

struct end {
	struct ibv_context *context;
	uint8_t port; /* 0 is port 1 */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_srq *srq;
	struct address address, peer;
	uint32_t key;
	unsigned int succeeded;
	bool bound, remote;
};

double happens_now(void);
void happens_make(struct end *end, enum ibv_qp_type type, void *bytes, bool shared);
void happens_receive(struct end *end);
void happens_connect(struct end *end, const struct address *peer);
int happens_post(struct end *end, const char *request);
const char *happens_status(enum ibv_wc_status status);
unsigned int happens_events(struct end *end, char *text, size_t size);
int happens_state(struct end *end);
void happens_destroy(struct end *end);

#endif

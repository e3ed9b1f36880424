/* SPDX-License-Identifier: BSD-3-Clause */
/* psp -- service points, and the connection requests that come to them */
#ifndef REARM_HOSTILE_PSP_H
#define REARM_HOSTILE_PSP_H

#include "life.h"
#include "take.h"

#define PSP_RECORDS 64
#define CR_RECORDS 512

struct adapter;
struct evd;
struct ep;

struct psp {
	struct life life;
	struct evd *evd; /* held */
	DAT_CONN_QUAL qual;
};

struct cr {
	struct life life;
	bool claimed; /* a thread answers it; locked by life.lock */
};

void psps_begin(void);

/* A service point on an EVD that the caller uses; returns it used, or NULL. */
struct psp *psp_make(struct adapter *adapter, struct evd *evd, bool tame);
DAT_RETURN psp_free_rudely(struct psp *psp);
bool psp_end(struct life *life);
void psp_gone(struct psp *psp);

void psp_judge_request(const struct taking *taking, const DAT_CR_ARRIVAL_EVENT_DATA *data);

/* Accepts a request with an endpoint that the caller uses, or rejects it (NULL). */
void cr_answer(struct life *cr, struct ep *ep);
bool cr_end(struct life *life);

#endif

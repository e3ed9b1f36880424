/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz -- a device of this process, and a peer that sends it what an input says
 *
 * An input is a list of steps: what the program does with its queue pairs and ids, what the peer
 * sends, how time passes.  The device's own thread is not there: the steps are taken in turn, so an
 * input does the same whenever it is played.
 */
#ifndef REARM_FUZZ_H
#define REARM_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softverbs/cm/pack.h"

/* Ends the process with a message: a finding. */
_Noreturn void fuzz_found(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- input.c: the bytes that are left; zeroes behind the last */
void input_set(const uint8_t *data, size_t length);
size_t input_left(void);
uint8_t input8(void);
uint16_t input16(void);
uint32_t input32(void);
uint32_t input_below(uint32_t limit);

/* Changes `bytes` here and there, or mostly not at all. */
void input_mutate(void *bytes, size_t length);

/* --- seam.c: in place of the progress thread, the clock and the names */

/* Does what the progress thread would, until nothing is left or so many rounds are over. */
void seam_pump(unsigned int rounds);
unsigned int seam_watches(void);
void seam_clock_advance(uint64_t nanoseconds);
uint64_t seam_clock(void);
/* Lets time pass until the next timer is due, if that is before the horizon. */
bool seam_clock_to_next(uint64_t horizon);
void seam_begin(void); /* of an input: the clock and the random numbers start anew */

/* A connection: the device's end, or -errno. */
int seam_pair(int *ours);

/* One that the device accepts: the peer's end, or -1. */
int seam_dial(void);

/* --- peer.c */
#define PEER_SLOTS 2
#define PEER_PORT 7777 /* where the peer listens, in RDMA_PS_TCP */

unsigned int peer_slot(unsigned int i);

/* The device opens a link to the slot: its end, or -1. */
int peer_answer_door(unsigned int slot);

void peer_begin(void);
void peer_end(void);
void peer_step(uint8_t what);	   /* one of those below, as the input says */
void peer_hear(void);		   /* takes what the device has sent */
void peer_restart(unsigned int i); /* queue pair `i` is connected anew */
enum { PEER_REQUEST, PEER_PART, PEER_REPLY, PEER_CM, PEER_RAW, PEER_DIAL, PEER_HANG_UP };

/* --- device.c: the program's side */
#define DEVICE_QPS 8
#define DEVICE_REGIONS 6

struct device_region {
	char *bytes;
	size_t length;
	struct ibv_mr *mr;
};
extern struct device_region device_regions[DEVICE_REGIONS];

/* What queue pair `i` is connected to: a number of the peer's, but for the last two. */
struct ibv_qp *device_qp(unsigned int i);
uint32_t device_peer_of(unsigned int i);
uint32_t device_window_key(unsigned int i); /* of its window of type 2, bound or not */
#define DEVICE_PEER_PSN 100		    /* the first of the peer's requests */

uint16_t device_port(void); /* listened at */

void device_begin(void);
void device_end(void);	/* everything posted has to have completed once */
void device_rest(void); /* closes the device now and then */
void device_step(uint8_t what);
enum {
	DEVICE_RECEIVE,
	DEVICE_SEND,
	DEVICE_MODIFY,
	DEVICE_NEW_QP,
	DEVICE_REGISTER,
	DEVICE_EVENTS,
	DEVICE_ID,
	DEVICE_REVIVE,
	DEVICE_POLL
};

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

#endif

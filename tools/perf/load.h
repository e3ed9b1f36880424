/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load -- what is sent, and how the ends get their events
 *
 * Both ends have the same: the client sends it to the server, over the control connection.
 */
#ifndef PERF_LOAD_H
#define PERF_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum traffic {
	TRAFFIC_PING,  /* each message is answered */
	TRAFFIC_STREAM /* messages in one direction, as many as the queues hold */
};

enum operation { OPERATION_SEND, OPERATION_WRITE, OPERATION_READ };

enum consumer {
	CONSUMER_DEQUEUE,
	CONSUMER_DEQUEUE_N,
	CONSUMER_WAIT,
	CONSUMER_UPCALL_SINGLE,
	CONSUMER_UPCALL_MANY,
	CONSUMER_UPCALL_NOTIFY,
	CONSUMER_UPCALL_ARRAY,
	CONSUMER_CNO,
	CONSUMER_POLL,
	CONSUMER_EPOLL,
	CONSUMERS
};

#define LOAD_SIZE_MIN 16 /* a header: message.h */
#define LOAD_SIZE_MAX (1 << 24)
#define LOAD_DEPTH_MAX 4096
#define LOAD_ENDPOINTS_MAX 1024
#define LOAD_BATCH_MAX 32 /* Rearm passes no more with an upcall */

struct load {
	enum traffic traffic;
	enum operation operation;
	enum consumer consumer;
	uint32_t size;	/* bytes of a message */
	uint32_t depth; /* messages of an endpoint that are not answered or confirmed yet */
	uint32_t endpoints;
	uint32_t batch;	   /* events of a dequeue_n or an array upcall, at most */
	uint64_t messages; /* 0: as many as the duration allows */
	uint64_t duration; /* ns */
	uint64_t warm_up;  /* messages before those that are measured */
	double rate;	   /* messages a second of all endpoints; 0: as fast as they can */
	bool pin;
};

/* The names of the values, for options, JSON and reports; NULL behind the last one. */
extern const char *const load_traffics[], *const load_operations[], *const load_consumers[];

/* The number of a name, or -1. */
int load_find(const char *const *names, const char *name);

/* A new object. */
json_t *load_pack(const struct load *load);

/* Returns 0, or -1 if the object is not what load_pack() makes. */
int load_unpack(json_t *object, struct load *load);

/* How many messages an endpoint sends, those of the warm-up included. */
uint64_t load_share(const struct load *load, uint64_t messages, uint32_t endpoint);

#endif

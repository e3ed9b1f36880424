/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi_call -- a target with two nexuses over a temporary file, and commands for it as hexadecimal
 * text
 */
#ifndef REARM_ISER_SCSI_CALL_H
#define REARM_ISER_SCSI_CALL_H

#include "iser/scsi/task.h"

#include <pthread.h>

#define BLOCKS 2048 /* of 512 bytes; block n holds bytes n & 0xff up to BLOCKS / 2, then a hole */
#define PORT_A "iqn.2026-11.test:a,i,0x00023d000001"
#define PORT_B "iqn.2026-11.test:b,i,0x00023d000002"
#define DATA (1 << 20)

struct scsi_world {
	struct scsi_target *target;
	struct scsi_nexus *a, *b;
	char path[64];
	int fd;	       /* of the same file */
	uint8_t *data; /* data-out before a call, data-in after it */
};

/* A command on its way; several may be at the same time. */
struct scsi_call {
	struct scsi_task task;
	struct iovec iov[3]; /* pieces of `data`, which are apart in memory and cut at odd places */
	uint8_t *data;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;	/* called back */
	pthread_t from; /* the thread that called back */
};

/*
 * LUN 0, with the options but for the path, which is the world's; NULL means none.  Attentions are
 * taken.
 */
void scsi_world_open(
    struct scsi_world *world, enum scsi_engine engine, const struct scsi_lun_options *options);
void scsi_world_close(struct scsi_world *world);

/* False, and the test is skipped, if the kernel refuses io_uring. */
bool scsi_engine_is_there(enum scsi_engine engine);

void scsi_nexus_ready(struct scsi_world *world, struct scsi_nexus *nexus);

/* Bytes of hexadecimal digits; blanks do not count.  The number of them. */
size_t scsi_hex(const char *text, uint8_t *bytes, size_t size);

/* Plans it for LUN 0. */
enum scsi_progress scsi_call_plan(
    struct scsi_call *call, struct scsi_nexus *nexus, const char *cdb, uint32_t in, uint32_t out);
/*
 * Starts it with the bytes at `data`, which get what it reads when it has ended or was waited for.
 */
enum scsi_progress scsi_call_start(struct scsi_call *call, uint8_t *data);
void scsi_call_wait(struct scsi_call *call);

/* All of it with world->data; the status. */
unsigned int scsi_run(struct scsi_world *world, struct scsi_call *call, struct scsi_nexus *nexus,
    const char *cdb, uint32_t in, uint32_t out);

/* For LUN 0; returns when the tasks have ended. */
void scsi_abort_and_wait(struct scsi_nexus *nexus, enum scsi_abort what);

/* As enum scsi_sense. */
uint32_t scsi_call_sense(const struct scsi_call *call);

/* scsi_run(), which has to be GOOD, or to fail with the sense data. */
#define GOOD(world, nexus, cdb, in, out) \
	do { \
		struct scsi_call c_; \
		ck_assert_uint_eq(scsi_run(world, &c_, nexus, cdb, in, out), SCSI_GOOD); \
	} while (0)
#define FAILS(world, nexus, cdb, in, out, with) \
	do { \
		struct scsi_call c_; \
		ck_assert_uint_eq( \
		    scsi_run(world, &c_, nexus, cdb, in, out), SCSI_CHECK_CONDITION); \
		ck_assert_uint_eq(scsi_call_sense(&c_), with); \
	} while (0)
#define CONFLICTS(world, nexus, cdb, in, out) \
	do { \
		struct scsi_call c_; \
		ck_assert_uint_eq( \
		    scsi_run(world, &c_, nexus, cdb, in, out), SCSI_RESERVATION_CONFLICT); \
	} while (0)

#endif

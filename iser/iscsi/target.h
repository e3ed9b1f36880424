/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target -- an iSCSI target: where it listens, its sessions, and the device server behind
 *
 * The upcall of the listener answers every connection request.  The main thread frees sessions that
 * have ended, and tells those whose deadline has come.
 */
#ifndef ISER_ISCSI_TARGET_H
#define ISER_ISCSI_TARGET_H

#include "iser/datamover/adapter.h"
#include "iser/datamover/pool.h"
#include "iser/iscsi/chap.h"
#include "iser/iscsi/keys.h"
#include "iser/scsi/lun.h"

#include <pthread.h>

#define TARGET_PORTALS 8
#define TARGET_PORTAL_GROUP 1

struct session;

struct portal {
	char address[64]; /* as SendTargets names it; empty: the one that the initiator has found */
	uint16_t port;
	DAT_PSP_HANDLE psp; /* DAT_HANDLE_NULL: another portal listens there, or none */
};

struct target_options {
	const char *ia, *name;
	struct portal portals[TARGET_PORTALS];
	unsigned int portal_count;
	const struct chap_secrets *secrets; /* NULL: anyone may log in */
	struct keys_limits limits;
	unsigned int window; /* commands outstanding in a session */
	unsigned int max_sessions;
	unsigned int ping;	    /* seconds of silence after which it is asked for; 0: never */
	unsigned int login_timeout; /* seconds */
	uint64_t pool_bytes;
};

struct target_counts {
	atomic_ullong logins, logins_refused, discoveries, replaced, commands, managed, rejects;
	atomic_ullong bytes_in, bytes_out; /* by RDMA */
};

struct target {
	const struct target_options *options;
	struct bell *bell;
	struct adapter adapter;
	struct pool pool;
	struct scsi_target *scsi;
	struct watch listener;
	struct portal portals[TARGET_PORTALS];
	pthread_mutex_t lock;
	struct session *sessions;	/* guarded by lock: all that were not freed yet */
	unsigned int living;		/* guarded by lock */
	unsigned int accepted;		/* guarded by lock */
	uint16_t last_tsih;		/* guarded by lock */
	unsigned int most, ended, lost; /* main thread */
	int failures;			/* main thread: calls that failed and must not */
	uint64_t listener_refused;	/* the listener's upcall */
	struct target_counts counts;
};

/*
 * Opens the adapter and listens.  `scsi` stays the caller's, and is closed after the target.  0, or
 * -1 when that fails: why was said, and itarget_close() is still due.
 */
int itarget_open(struct target *target, const struct target_options *options, struct bell *bell,
    struct scsi_target *scsi);

/*
 * Main thread, after the bell: frees sessions that have ended.  Returns the next deadline,
 * bell_now() time.
 */
uint64_t itarget_reap(struct target *target);

/*
 * Ends the sessions that are left, and frees everything.  Returns the number of calls that failed.
 */
int itarget_close(struct target *target);

/* Upcalls of sessions: a TSIH; those of the same initiator port are ended. */
uint16_t itarget_login(struct target *target, struct session *session);

#endif

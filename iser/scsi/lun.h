/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lun -- a target with its logical units, each a file or a block device
 *
 * All of a target share one engine for input and output, and one lock, which guards task sets,
 * reservations and unit attentions.  It is never held while a file is read or written, nor while
 * a callback runs.  LUNs are added before the first nexus is made; from then on any function of
 * this folder may be called from any thread, also from a callback, unless it says otherwise.
 */
#ifndef ISER_SCSI_LUN_H
#define ISER_SCSI_LUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scsi_lun;
struct scsi_target;

#define SCSI_LUNS 256 /* a target has the numbers 0 ... 255; LUN 0 should be one of them */

enum scsi_engine {
	SCSI_ENGINE_ANY, /* io_uring where the kernel allows it, else threads */
	SCSI_ENGINE_URING,
	SCSI_ENGINE_THREADS,
};

struct scsi_target_options {
	const char *port_name; /* SCSI name of the target port, for VPD 83: "iqn...,t,0x0001" */
	uint8_t port_id;       /* relative target port identifier; 0 means 1 */
	enum scsi_engine engine;
	unsigned int threads; /* workers for what the ring does not do, or for all; 0 means 4 */
};

/*
 * Starts the engine: one thread that waits for the ring, and the workers.  None of them runs while
 * nothing is in flight.  0 or -errno: -EINVAL, -ENOMEM, -EAGAIN; -ENOSYS or -EPERM when
 * SCSI_ENGINE_URING is asked for and the kernel or the build has none.  The strings are copied.
 */
int scsi_target_open(struct scsi_target **target, const struct scsi_target_options *options);

/*
 * Closes its LUNs and stops the engine.  No nexus may be left.  Not from a callback.  NULL is fine.
 */
void scsi_target_close(struct scsi_target *target);

/* "io_uring" or "threads". */
const char *scsi_target_engine(const struct scsi_target *target);

/* Zero and NULL mean the default. */
struct scsi_lun_options {
	const char *path;
	uint64_t
	    /* makes a missing file with so many bytes, all of them a hole; default: none is made */
	    create_bytes;
	bool read_only;
	/* no write cache: every write is on the medium when it ends; WCE is 0 */
	bool write_through;
	bool thick;	      /* UNMAP is refused; default: thin if the file can have holes */
	bool removable;	      /* START STOP UNIT ejects and loads the medium */
	uint32_t block_bytes; /* 512, which is the default, or 4096 */
	uint32_t max_transfer_bytes; /* of one command; default 1 MiB; a multiple of block_bytes */
	const char *vendor;	     /* up to 8 characters; default "REARM" */
	const char *product;	     /* up to 16 characters; default "ISER-DISK" */
	const char *revision;	     /* up to 4 characters; default the version of this package */
	/* up to 32 characters; default made of the path, so that it stays the same */
	const char *serial;
};

/*
 * Opens the file and makes it a LUN.  A rest of the file that is no whole block is not used.
 * 0 or -errno: of open(), -EINVAL for options or a file of no block, -EEXIST for a number that is
 * taken, -EISDIR.
 */
int scsi_lun_open(
    struct scsi_target *target, unsigned int number, const struct scsi_lun_options *options);

/* What happened so far; each number only grows. */
struct scsi_lun_counts {
	uint64_t commands, reads, writes, read_bytes, written_bytes;
	uint64_t syncs;	   /* SYNCHRONIZE CACHE, and writes with FUA or without a cache */
	uint64_t failures; /* CHECK CONDITION, apart from unit attentions */
	uint64_t conflicts;
	uint64_t aborts;
};

/* NULL if there is no LUN with that number.  It lives as long as the target. */
struct scsi_lun *scsi_target_lun(struct scsi_target *target, unsigned int number);
void scsi_lun_count(struct scsi_lun *lun, struct scsi_lun_counts *counts);
uint64_t scsi_lun_blocks(const struct scsi_lun *lun);
uint32_t scsi_lun_block_bytes(const struct scsi_lun *lun);
const char *scsi_lun_path(const struct scsi_lun *lun);

/* The largest transfer that a command for any LUN of the target can ask for. */
uint32_t scsi_target_max_transfer(const struct scsi_target *target);

#endif

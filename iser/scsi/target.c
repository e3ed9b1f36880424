/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_TRANSFER (1 << 20)

int
scsi_target_open(struct scsi_target **target, const struct scsi_target_options *options)
{
	struct scsi_target *t;
	int r;

	if (!options->port_name || strlen(options->port_name) >= sizeof t->port_name)
		return -EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return -ENOMEM;
	strcpy(t->port_name, options->port_name);
	t->port_id = options->port_id ? options->port_id : 1;
	r = io_open(&t->io, options->engine, options->threads);
	if (r) {
		free(t);
		return r;
	}
	pthread_mutex_init(&t->lock, NULL);
	*target = t;
	return 0;
}

static void
lun_free(struct scsi_lun *lun)
{
	if (!lun)
		return;
	if (lun->fd >= 0)
		close(lun->fd);
	free(lun->path);
	free(lun);
}

void
scsi_target_close(struct scsi_target *target)
{
	if (!target)
		return;
	io_close(target->io);
	for (unsigned int i = 0; i < SCSI_LUNS; i++)
		lun_free(target->luns[i]);
	pthread_mutex_destroy(&target->lock);
	free(target);
}

const char *
scsi_target_engine(const struct scsi_target *target)
{
	return io_has_ring(target->io) ? "io_uring" : "threads";
}

uint32_t
scsi_target_max_transfer(const struct scsi_target *target)
{
	return target->max_transfer;
}

/* FNV-1a: the same path gives the same serial number and name in each run. */
static uint64_t
hash(uint64_t seed, const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return h;
}

/* A field of INQUIRY: printable ASCII only.  False if `text` is not, or longer. */
static bool
copy_text(char *to, size_t size, const char *text, const char *otherwise)
{
	if (!text)
		text = otherwise;
	if (strlen(text) >= size)
		return false;
	for (const char *c = text; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return false;
	strcpy(to, text);
	return true;
}

static int
lun_name(struct scsi_lun *lun, const struct scsi_lun_options *options)
{
	char path[PATH_MAX], serial[sizeof lun->serial], revision[sizeof lun->revision];
	const char *name = realpath(options->path, path) ? path : options->path;

	snprintf(serial, sizeof serial, "%016" PRIx64, hash(0, name));
	snprintf(revision, sizeof revision, "%.3s", PACKAGE_VERSION);
	lun->path = strdup(options->path);
	if (!lun->path)
		return -ENOMEM;
	if (!copy_text(lun->vendor, sizeof lun->vendor, options->vendor, "REARM") ||
	    !copy_text(lun->product, sizeof lun->product, options->product, "ISER-DISK") ||
	    !copy_text(lun->revision, sizeof lun->revision, options->revision, revision) ||
	    !copy_text(lun->serial, sizeof lun->serial, options->serial, serial))
		return -EINVAL;
	/* The name of a unit whose serial number was given is the same wherever its file is. */
	lun->name = UINT64_C(3) << 60 | hash(hash(0, lun->vendor), lun->serial) >> 4;
	return 0;
}

/* Whether the kernel's block device can discard. */
static bool
device_can_discard(const struct stat *st)
{
	unsigned long long most = 0;
	char path[80];
	FILE *f;

	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/queue/discard_max_bytes",
	    major(st->st_rdev), minor(st->st_rdev));
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%llu", &most) != 1)
		most = 0;
	fclose(f);
	return most > 0;
}

static int
lun_measure(struct scsi_lun *lun, const struct scsi_lun_options *options)
{
	struct stat st;
	off_t end;

	if (fstat(lun->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return -EINVAL;
	end = lseek(lun->fd, 0, SEEK_END); /* also right for a block device */
	if (end < 0)
		return -errno;
	lun->blocks = (uint64_t)end / lun->block_bytes;
	if (lun->blocks == 0)
		return -EINVAL;
	if (options->thick || lun->read_only)
		return 0;
	/* A hole behind the end changes nothing, and shows whether the file system has them. */
	if (S_ISREG(st.st_mode))
		lun->thin =
		    fallocate(lun->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, 4096) == 0;
	else
		lun->thin = device_can_discard(&st);
	return 0;
}

/* Opens the file; a new one has the size that was asked for, or is none. */
static int
lun_open_file(struct scsi_lun *lun, const struct scsi_lun_options *options)
{
	const int mode = (lun->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC;
	int r;

	lun->fd = open(options->path, mode);
	if (lun->fd >= 0)
		return 0;
	if (errno != ENOENT || options->create_bytes == 0 || lun->read_only)
		return -errno;
	if (options->create_bytes > INT64_MAX)
		return -EFBIG;
	lun->fd = open(options->path, mode | O_CREAT | O_EXCL, 0600);
	if (lun->fd < 0)
		return -errno;
	if (ftruncate(lun->fd, (off_t)options->create_bytes)) {
		r = -errno;
		unlink(options->path);
		return r;
	}
	return 0;
}

int
scsi_lun_open(
    struct scsi_target *target, unsigned int number, const struct scsi_lun_options *options)
{
	struct scsi_lun *lun;
	int r;

	if (number >= SCSI_LUNS || !options->path)
		return -EINVAL;
	if (target->luns[number])
		return -EEXIST;
	lun = calloc(1, sizeof *lun);
	if (!lun)
		return -ENOMEM;
	lun->target = target;
	lun->number = number;
	lun->fd = -1;
	lun->last = &lun->tasks;
	lun->read_only = options->read_only;
	lun->write_through = options->write_through;
	lun->removable = options->removable;
	lun->block_bytes = options->block_bytes ? options->block_bytes : 512;
	lun->max_transfer =
	    options->max_transfer_bytes ? options->max_transfer_bytes : MAX_TRANSFER;
	r = -EINVAL;
	if ((lun->block_bytes != 512 && lun->block_bytes != 4096) ||
	    lun->max_transfer % lun->block_bytes || lun->max_transfer > INT32_MAX)
		goto free;
	r = lun_open_file(lun, options);
	if (r == 0)
		r = lun_measure(lun, options);
	if (r == 0)
		r = lun_name(lun, options);
	if (r)
		goto free;
	if (target->max_transfer < lun->max_transfer)
		target->max_transfer = lun->max_transfer;
	target->luns[number] = lun;
	return 0;
free:
	lun_free(lun);
	return r;
}

struct scsi_lun *
scsi_target_lun(struct scsi_target *target, unsigned int number)
{
	return number < SCSI_LUNS ? target->luns[number] : NULL;
}

void
scsi_lun_count(struct scsi_lun *lun, struct scsi_lun_counts *counts)
{
	*counts = (struct scsi_lun_counts){
		.commands = lun->commands,
		.reads = lun->reads,
		.writes = lun->writes,
		.read_bytes = lun->read_bytes,
		.written_bytes = lun->written_bytes,
		.syncs = lun->syncs,
		.failures = lun->failures,
		.conflicts = lun->conflicts,
		.aborts = lun->aborts,
	};
}

uint64_t
scsi_lun_blocks(const struct scsi_lun *lun)
{
	return lun->blocks;
}

uint32_t
scsi_lun_block_bytes(const struct scsi_lun *lun)
{
	return lun->block_bytes;
}

const char *
scsi_lun_path(const struct scsi_lun *lun)
{
	return lun->path;
}

struct scsi_lun *
lun_of_field(struct scsi_target *target, const uint8_t field[8])
{
	const unsigned int number = scsi_get16(field) & 0x3fff;

	/* Peripheral device addressing on bus 0, or flat space addressing; no second level. */
	if (field[0] & 0x80 || scsi_get16(field + 2) || scsi_get32(field + 4) ||
	    number >= SCSI_LUNS)
		return NULL;
	return target->luns[number];
}

int
scsi_nexus_create(struct scsi_nexus **nexus, struct scsi_target *target, const char *port)
{
	struct scsi_nexus *n;

	if (!*port || strlen(port) >= sizeof n->port)
		return -EINVAL;
	n = calloc(1, sizeof *n);
	if (!n)
		return -ENOMEM;
	n->target = target;
	strcpy(n->port, port);
	memset(n->attentions, 1 << ATTENTION_POWER_ON, sizeof n->attentions);
	pthread_mutex_lock(&target->lock);
	n->next = target->nexuses;
	target->nexuses = n;
	pthread_mutex_unlock(&target->lock);
	*nexus = n;
	return 0;
}

void
scsi_nexus_free(struct scsi_nexus *nexus)
{
	struct scsi_target *target;
	struct scsi_nexus **link;

	if (!nexus)
		return;
	target = nexus->target;
	pthread_mutex_lock(&target->lock);
	for (link = &target->nexuses; *link != nexus; link = &(*link)->next)
		;
	*link = nexus->next;
	for (unsigned int i = 0; i < SCSI_LUNS; i++)
		if (target->luns[i])
			reserve_forget(target->luns[i], nexus);
	pthread_mutex_unlock(&target->lock);
	free(nexus);
}

void
lun_attend(struct scsi_lun *lun, const struct scsi_nexus *except, enum attention attention)
{
	for (struct scsi_nexus *n = lun->target->nexuses; n; n = n->next)
		if (n != except)
			n->attentions[lun->number] |= (uint8_t)(1 << attention);
}

bool
nexus_take_attention(struct scsi_nexus *nexus, const struct scsi_lun *lun, enum scsi_sense *sense)
{
	static const enum scsi_sense senses[ATTENTIONS] = {
		[ATTENTION_POWER_ON] = SENSE_POWER_ON,
		[ATTENTION_RESET] = SENSE_RESET,
		[ATTENTION_CLEARED] = SENSE_COMMANDS_CLEARED,
		[ATTENTION_RESERVATIONS_PREEMPTED] = SENSE_RESERVATIONS_PREEMPTED,
		[ATTENTION_RESERVATIONS_RELEASED] = SENSE_RESERVATIONS_RELEASED,
		[ATTENTION_REGISTRATIONS_PREEMPTED] = SENSE_REGISTRATIONS_PREEMPTED,
	};
	uint8_t *attentions = &nexus->attentions[lun->number];

	for (unsigned int i = 0; i < ATTENTIONS; i++)
		if (*attentions & 1 << i) {
			*attentions &= (uint8_t) ~(1 << i);
			*sense = senses[i];
			return true;
		}
	return false;
}

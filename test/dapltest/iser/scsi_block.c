/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi_block -- what commands do to the file, with either engine
 */
#include "scsi_call.h"
#include "lib/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const enum scsi_engine engines[] = { SCSI_ENGINE_THREADS, SCSI_ENGINE_URING };
#define ENGINES 2

static void
fill(struct scsi_world *world, int byte)
{
	memset(world->data, byte, DATA);
}

/* Blocks of the file hold the byte, and their neighbours do not. */
static void
expect(const struct scsi_world *world, unsigned int lba, unsigned int blocks, int byte)
{
	uint8_t *data = malloc((blocks + 2) * 512), *same = malloc(blocks * 512);

	ck_assert_int_eq(
	    pread(world->fd, data, (blocks + 2) * 512, (lba - 1) * 512), (blocks + 2) * 512);
	memset(same, byte, blocks * 512);
	ck_assert_mem_eq(data + 512, same, blocks * 512);
	ck_assert_uint_ne(data[511], byte);
	ck_assert_uint_ne(data[512 * (blocks + 1)], byte);
	free(data);
	free(same);
}

CASE("scsi_block:block");

TEST_LOOP(write__each_form__is_in_the_file, ENGINES)
{
	static const struct {
		const char *cdb;
		unsigned int blocks, syncs;
	} forms[] = {
		{ "0a 00 01 00 03", 3, 0 },
		{ "2a 00 00 00 01 00 00 00 03", 3, 0 },
		{ "2a 08 00 00 01 00 00 00 03", 3, 1 },
		{ "aa 00 00 00 01 00 00 00 00 03", 3, 0 },
		{ "8a 08 00 00 00 00 00 00 01 00 00 00 00 03", 3, 1 },
		{ "2e 02 00 00 01 00 00 00 03", 3, 1 },
		{ "8a 00 00 00 00 00 00 00 01 00 00 00 01 90", 400, 0 },
		{ "8a 08 00 00 00 00 00 00 01 00 00 00 01 90", 400, 1 },
		{ "ae 02 00 00 01 00 00 00 01 90", 400, 1 },
	};
	struct scsi_lun_counts before, after;
	struct scsi_world world;

	if (!scsi_engine_is_there(engines[_i]))
		return;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct scsi_lun *lun;

		scsi_world_open(&world, engines[_i], NULL);
		lun = scsi_target_lun(world.target, 0);
		scsi_lun_count(lun, &before);
		fill(&world, 0xe7);
		GOOD(&world, world.a, forms[i].cdb, 0, forms[i].blocks * 512);
		expect(&world, 256, forms[i].blocks, 0xe7);
		scsi_lun_count(lun, &after);
		ck_assert_uint_eq(after.syncs - before.syncs, forms[i].syncs);
		ck_assert_uint_eq(after.written_bytes, forms[i].blocks * 512);
		ck_assert_uint_eq(after.writes, 1);
		GOOD(&world, world.a, "35", 0, 0);
		scsi_lun_count(lun, &after);
		ck_assert_uint_eq(after.syncs - before.syncs, forms[i].syncs + 1);
		fill(&world, 0);
		GOOD(&world, world.a, "28 08 00 00 01 01 00 00 01", 512, 0);
		ck_assert_uint_eq(world.data[511], 0xe7);
		scsi_world_close(&world);
	}
}

#define DEPTH 256

/*
 * Many at a time, of 4 KiB and larger than what the caller's thread copies: each ends once, from
 * the engine.
 */
TEST_LOOP(transfer__many_at_a_time__all_end_with_their_own_data, ENGINES)
{
	static struct scsi_call calls[DEPTH];
	static const uint32_t sizes[] = { 4096, 512, 128 << 10 };
	struct scsi_world world;
	char cdb[64];

	if (!scsi_engine_is_there(engines[_i]))
		return;
	scsi_world_open(&world, engines[_i], NULL);
	for (unsigned int s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		const uint32_t size = sizes[s], room = DATA / size,
			       depth = room < DEPTH ? room : DEPTH;
		bool write = true;

		do {
			for (unsigned int i = 0; i < depth; i++) {
				memset(world.data + i * size, write ? (int)(i + s) : 0, size);
				snprintf(cdb, sizeof cdb, "%s 00 0000 %04x 00 %04x",
				    write ? "2a" : "28", i * (size / 512), size / 512);
				ck_assert_int_eq(scsi_call_plan(&calls[i], world.a, cdb,
						     write ? 0 : size, write ? size : 0),
				    SCSI_GOES_ON);
				if (scsi_call_start(&calls[i], world.data + i * size) == SCSI_ENDED)
					calls[i].done = true;
			}
			for (unsigned int i = 0; i < depth; i++) {
				scsi_call_wait(&calls[i]);
				ck_assert_uint_eq(calls[i].task.status, SCSI_GOOD);
				ck_assert(!pthread_equal(calls[i].from, pthread_self()));
				ck_assert_uint_eq(world.data[i * size], (uint8_t)(i + s));
				ck_assert_uint_eq(world.data[(i + 1) * size - 1], (uint8_t)(i + s));
			}
			write = !write;
		} while (!write);
	}
	scsi_world_close(&world);
}

/* The file system has no holes, from when a test says it. */
static bool no_holes;

int __real_fallocate(int fd, int mode, off_t at, off_t length);
int __wrap_fallocate(int fd, int mode, off_t at, off_t length);

int
__wrap_fallocate(int fd, int mode, off_t at, off_t length)
{
	if (!no_holes)
		return __real_fallocate(fd, mode, at, length);
	errno = EOPNOTSUPP;
	return -1;
}

TEST_LOOP(same_and_unmap__a_range__reads_as_it_must_and_holes_take_no_room, 2)
{
	struct stat before, after;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	no_holes = _i;
	fill(&world, 0x5a);
	GOOD(&world, world.a, "41 00 00 00 01 00 00 00 10", 0, 512);
	expect(&world, 256, 16, 0x5a);
	GOOD(&world, world.a, "93 00 00 00 00 00 00 00 02 01 00 00 02 58", 0,
	    512); /* over 256 KiB */
	expect(&world, 513, 600, 0x5a);
	fill(&world, 0);
	GOOD(&world, world.a, "41 00 00 00 01 01 00 00 02", 0, 512); /* zeros that are no hole */
	expect(&world, 257, 2, 0);
	fsync(world.fd);
	fstat(world.fd, &before);
	GOOD(&world, world.a, "93 09 00 00 00 00 00 00 00 08 00 00 00 f8", 0, 0);
	expect(&world, 8, 248, 0);
	scsi_hex("00 26 00 20 00000000 00000000 00000141 00000003 00000000 00000000 00000148 "
		 "00000100 00000000",
	    world.data, 64);
	GOOD(&world, world.a, "42 00 00 00 00 00 00 00 28", 0, 40);
	expect(&world, 321, 3, 0); /* not a page: zeros */
	expect(&world, 328, 256, 0);
	fsync(world.fd);
	fstat(world.fd, &after);
	if (no_holes)
		after.st_blocks = 0; /* nothing was freed */
	ck_assert_int_ge(before.st_blocks - after.st_blocks, 248 + 184);
	GOOD(&world, world.a, "9e 12 00 00 00 00 00 00 00 08 00 00 00 18", 24, 0);
	ck_assert_uint_eq(world.data[20], !no_holes);
	scsi_world_close(&world);
}

/* The workers write the first piece alone, and the file system cannot write synchronously. */
static bool short_writes;

ssize_t __real_pwritev(int fd, const struct iovec *iov, int count, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *iov, int count, off_t at);
ssize_t __real_pwritev2(int fd, const struct iovec *iov, int count, off_t at, int flags);
ssize_t __wrap_pwritev2(int fd, const struct iovec *iov, int count, off_t at, int flags);

ssize_t
__wrap_pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	return __real_pwritev(fd, iov, short_writes ? 1 : count, at);
}

ssize_t
__wrap_pwritev2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	if (!short_writes)
		return __real_pwritev2(fd, iov, count, at, flags);
	errno = EOPNOTSUPP;
	return -1;
}

TEST_LOOP(write__of_which_the_kernel_does_a_part__is_done_to_the_end, 2)
{
	static const char *const forms[] = { "2a 00 00 00 01 00 00 00 05",
		"2a 08 00 00 01 00 00 00 05" };
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_THREADS, NULL);
	short_writes = true;
	for (unsigned int i = 0; i < 5 * 512; i++)
		world.data[i] = (uint8_t)(i / 3);
	GOOD(&world, world.a, forms[_i], 0, 5 * 512);
	ck_assert_int_eq(pread(world.fd, world.data + 8192, 5 * 512, 256 * 512), 5 * 512);
	ck_assert_mem_eq(world.data, world.data + 8192, 5 * 512);
	scsi_world_close(&world);
}

TEST(miscompare__any_byte__is_named_and_nothing_is_written)
{
	static const unsigned int places[] = { 0, 6, 7, 511, 512, 1000, 1023 };
	struct scsi_world world;
	struct scsi_call call;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const unsigned int at = places[i];

		memset(world.data, 5, 512);
		memset(world.data + 512, 6, 512);
		memset(world.data + 1024, 0xee, 1024);
		world.data[at] ^= 0x40;
		ck_assert_uint_eq(scsi_run(&world, &call, world.a,
				      "89 00 00 00 00 00 00 00 00 05 00 00 00 02", 0, 2048),
		    SCSI_CHECK_CONDITION);
		ck_assert_uint_eq(scsi_call_sense(&call), SENSE_MISCOMPARE);
		ck_assert_uint_eq(call.task.sense[0], 0xf0);
		ck_assert_uint_eq(scsi_get32(call.task.sense + 3), at);
		scsi_run(&world, &call, world.a, "2f 02 00 00 00 05 00 00 02", 0, 1024);
		ck_assert_uint_eq(scsi_get32(call.task.sense + 3), at);
		expect(&world, 5, 1, 5);
		expect(&world, 6, 1, 6);
		world.data[at] ^= 0x40;
	}
	GOOD(&world, world.a, "89 00 00 00 00 00 00 00 00 05 00 00 00 02", 0, 2048);
	expect(&world, 5, 2, 0xee);
	scsi_world_close(&world);
}

#define ADDERS 4
#define ADDS 100

struct adder {
	pthread_t thread;
	struct scsi_nexus *nexus;
};

/* Adds to the counter in block 9 by COMPARE AND WRITE, until it did so ADDS times. */
static void *
add(void *context)
{
	struct adder *adder = context;
	struct scsi_world mine = { .data = calloc(2, 512) };
	struct scsi_call call;

	for (unsigned int done = 0; done < ADDS;) {
		uint32_t counter;

		ck_assert_uint_eq(
		    scsi_run(&mine, &call, adder->nexus, "28 00 00 00 00 09 00 00 01", 512, 0),
		    SCSI_GOOD);
		memcpy(mine.data + 512, mine.data, 512);
		counter = scsi_get32(mine.data);
		for (unsigned int i = 0; i < 512; i += 4) /* a torn block would differ for ever */
			ck_assert_uint_eq(scsi_get32(mine.data + i), counter);
		for (unsigned int i = 512; i < 1024; i += 4)
			scsi_put32(mine.data + i, counter + 1);
		if (scsi_run(&mine, &call, adder->nexus,
			"89 00 00 00 00 00 00 00 00 09 00 00 00 01", 0, 1024) == SCSI_GOOD)
			done++;
		else
			ck_assert_uint_eq(scsi_call_sense(&call), SENSE_MISCOMPARE);
	}
	free(mine.data);
	return NULL;
}

TEST_LOOP(compare_and_write__from_threads__counts_without_a_loss, ENGINES)
{
	struct adder adders[ADDERS];
	struct scsi_world world;

	if (!scsi_engine_is_there(engines[_i]))
		return;
	scsi_world_open(&world, engines[_i], NULL);
	fill(&world, 0);
	GOOD(&world, world.a, "2a 00 00 00 00 09 00 00 01", 0, 512);
	for (unsigned int i = 0; i < ADDERS; i++) {
		adders[i].nexus = i % 2 ? world.a : world.b;
		ck_assert_int_eq(pthread_create(&adders[i].thread, NULL, add, &adders[i]), 0);
	}
	for (unsigned int i = 0; i < ADDERS; i++)
		pthread_join(adders[i].thread, NULL);
	GOOD(&world, world.a, "28 00 00 00 00 09 00 00 01", 512, 0);
	ck_assert_uint_eq(scsi_get32(world.data), ADDERS * ADDS);
	scsi_world_close(&world);
}

TEST(lun__read_only__refuses_what_changes_it)
{
	static const char *const writes[] = {
		"0a 00 00 01 01",
		"2a 00 00 00 00 01 00 00 01",
		"aa 00 00 00 00 01 00 00 00 01",
		"8a 00 00 00 00 00 00 00 00 01 00 00 00 01",
		"2e 00 00 00 00 01 00 00 01",
		"ae 00 00 00 00 01 00 00 00 01",
		"8e 00 00 00 00 00 00 00 00 01 00 00 00 01",
		"89 00 00 00 00 00 00 00 00 61 00 00 00 01",
		"41 00 00 00 00 01 00 00 08",
		"41 08 00 00 00 01 00 00 08",
		"93 09 00 00 00 00 00 00 00 00 00 00 00 08",
		"42 00 00 00 00 00 00 00 18",
	};
	const struct scsi_lun_options options = { .read_only = true };
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, &options);
	for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
		FAILS(&world, world.a, writes[i], 0, 1024, SENSE_WRITE_PROTECTED);
	GOOD(&world, world.a, "1a 08 08 00 ff", 255, 0);
	ck_assert_uint_eq(world.data[2], 0x90);
	GOOD(&world, world.a, "28 00 00 00 00 03 00 00 01", 512, 0);
	ck_assert_uint_eq(world.data[0], 3);
	GOOD(&world, world.a, "35", 0, 0);
	scsi_world_close(&world);
}

/* Without a write cache, without holes, with blocks of 4096 and a smaller limit. */
TEST(lun__other_options__show_in_its_pages_and_its_limits)
{
	const struct scsi_lun_options options = { .write_through = true,
		.thick = true,
		.block_bytes = 4096,
		.max_transfer_bytes = 65536,
		.serial = "S1",
		.vendor = "V",
		.product = "P",
		.revision = "7" };
	struct scsi_lun_counts counts;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, &options);
	GOOD(&world, world.a, "25", 8, 0);
	ck_assert_uint_eq(scsi_get32(world.data), BLOCKS / 8 - 1);
	ck_assert_uint_eq(scsi_get32(world.data + 4), 4096);
	GOOD(&world, world.a, "9e 10 00 00 00 00 00 00 00 00 00 00 00 20", 32, 0);
	ck_assert_uint_eq(world.data[14], 0);
	GOOD(&world, world.a, "12 01 80 00 ff", 255, 0);
	ck_assert_mem_eq(world.data, "\0\x80\0\x02S1", 6);
	GOOD(&world, world.a, "12 00 00 00 ff", 255, 0);
	ck_assert_mem_eq(world.data + 8, "V       P               7   ", 28);
	GOOD(&world, world.a, "12 01 b0 00 ff", 255, 0);
	ck_assert_uint_eq(world.data[5], 8);
	ck_assert_uint_eq(scsi_get32(world.data + 8), 16);
	ck_assert_uint_eq(scsi_get32(world.data + 20), 0);
	GOOD(&world, world.a, "12 01 b2 00 ff", 255, 0);
	ck_assert_uint_eq(scsi_get32(world.data + 4), 0);
	GOOD(&world, world.a, "1a 08 08 00 ff", 255, 0);
	ck_assert_uint_eq(world.data[6], 0);
	FAILS(&world, world.a, "28 00 00 00 00 00 00 00 11", 69632, 0, SENSE_CDB_FIELD);
	FAILS(&world, world.a, "89 00 00 00 00 00 00 00 00 00 00 00 00 09", 0, 73728,
	    SENSE_CDB_FIELD);
	FAILS(&world, world.a, "41 08 00 00 00 00 00 00 01", 0, 4096, SENSE_CDB_FIELD);
	FAILS(&world, world.a, "42 00 00 00 00 00 00 00 18", 0, 24, SENSE_OPCODE);
	GOOD(&world, world.a, "9e 12 00 00 00 00 00 00 00 a0 00 00 00 18", 24, 0);
	ck_assert_uint_eq(world.data[20], 0);
	fill(&world, 0x77);
	GOOD(&world, world.a, "2a 00 00 00 00 20 00 00 10", 0, 65536);
	expect(&world, 256, 128, 0x77);
	scsi_lun_count(scsi_target_lun(world.target, 0), &counts);
	ck_assert_uint_eq(counts.syncs, 1);
	ck_assert_uint_eq(scsi_target_max_transfer(world.target), 65536);
	scsi_world_close(&world);
}

TEST(lun__removable__is_ejected_unless_a_nexus_prevents_it)
{
	static const char *const needing[] = { "00", "25", "28 00 00 00 00 00 00 00 01",
		"2a 00 00 00 00 00 00 00 01", "35", "9e 10 00 00 00 00 00 00 00 00 00 00 00 20",
		"42 00 00 00 00 00 00 00 18" };
	const struct scsi_lun_options options = { .removable = true };
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, &options);
	GOOD(&world, world.a, "12 00 00 00 24", 36, 0);
	ck_assert_uint_eq(world.data[1], 0x80);
	GOOD(&world, world.a, "1e 00 00 00 01", 0, 0);
	FAILS(&world, world.b, "1b 00 00 00 02", 0, 0, SENSE_REMOVAL_PREVENTED);
	GOOD(&world, world.a, "1e 00 00 00 00", 0, 0);
	/* With a power condition it does not eject. */
	GOOD(&world, world.b, "1b 00 00 00 12", 0, 0);
	GOOD(&world, world.b, "00", 0, 0);
	GOOD(&world, world.b, "1b 01 00 00 02", 0, 0);
	for (size_t i = 0; i < sizeof needing / sizeof needing[0]; i++)
		FAILS(&world, world.a, needing[i], 512, 512, SENSE_MEDIUM_NOT_PRESENT);
	GOOD(&world, world.a, "03 00 00 00 ff", 255, 0);
	ck_assert_uint_eq(world.data[12], 0x3a);
	GOOD(&world, world.a, "1e 00 00 00 01", 0, 0);
	FAILS(&world, world.a, "1b 00 00 00 03", 0, 0, SENSE_REMOVAL_PREVENTED);
	scsi_abort_and_wait(world.b, SCSI_LUN_RESET);
	FAILS(&world, world.a, "00", 0, 0, SENSE_RESET);
	FAILS(&world, world.b, "00", 0, 0, SENSE_RESET);
	GOOD(&world, world.a, "1b 00 00 00 03", 0, 0);
	GOOD(&world, world.a, "1e 00 00 00 01", 0, 0);
	scsi_nexus_free(world.a); /* its prevention ends with it */
	world.a = NULL;
	GOOD(&world, world.b, "1b 00 00 00 02", 0, 0);
	scsi_world_close(&world);
}

TEST_LOOP(file__too_short_or_too_large__is_a_medium_error_or_no_space, ENGINES)
{
	const struct rlimit small = { 600 * 512, 600 * 512 };
	struct scsi_world world;

	if (!scsi_engine_is_there(engines[_i]))
		return;
	scsi_world_open(&world, engines[_i], NULL);
	ck_assert_int_eq(ftruncate(world.fd, 600 * 512), 0);
	FAILS(&world, world.a, "28 00 00 00 02 57 00 00 02", 1024, 0, SENSE_READ_ERROR);
	FAILS(&world, world.a, "28 00 00 00 02 58 00 01 00", 131072, 0, SENSE_READ_ERROR);
	FAILS(&world, world.a, "2f 00 00 00 02 57 00 00 02", 0, 0, SENSE_READ_ERROR);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	fill(&world, 1);
	FAILS(&world, world.a, "2a 00 00 00 02 57 00 00 02", 0, 1024, SENSE_SPACE_EXHAUSTED);
	FAILS(&world, world.a, "2a 08 00 00 03 00 00 00 01", 0, 512, SENSE_SPACE_EXHAUSTED);
	FAILS(&world, world.a, "41 00 00 00 02 50 00 01 00", 0, 512, SENSE_SPACE_EXHAUSTED);
	GOOD(&world, world.a, "2a 00 00 00 02 00 00 00 10", 0, 8192);
	scsi_world_close(&world);
}

TEST(lun_open__what_cannot_be_one__is_refused)
{
	const struct scsi_target_options target_options = { .port_name = "t" };
	char path[64] = "/tmp/scsi-XXXXXX", made[80];
	struct scsi_lun_options o = { .path = path };
	uint8_t data[24];
	struct scsi_world world = { .data = data };
	struct scsi_target *target;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(scsi_target_open(&target, &target_options), 0);
	ck_assert(strcmp(scsi_target_engine(target), "io_uring") == 0 ||
		  strcmp(scsi_target_engine(target), "threads") == 0);
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -EINVAL); /* no block */
	ck_assert_int_eq(ftruncate(fd, 8192), 0);
	ck_assert_int_eq(scsi_lun_open(target, SCSI_LUNS, &o), -EINVAL);
	o.block_bytes = 1024;
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -EINVAL);
	o.block_bytes = 4096;
	o.max_transfer_bytes = 512;
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -EINVAL);
	o.max_transfer_bytes = 0;
	o.vendor = "longer than 8";
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -EINVAL);
	o.vendor = "\n";
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -EINVAL);
	o.vendor = NULL;
	o.path = "/tmp";
	ck_assert_int_ne(scsi_lun_open(target, 0, &o), 0);
	o.path = "/nowhere/at/all";
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), -ENOENT);
	o.path = path;
	ck_assert_int_eq(scsi_lun_open(target, 255, &o), 0);
	ck_assert_int_eq(scsi_lun_open(target, 255, &o), -EEXIST);
	ck_assert_uint_eq(scsi_lun_blocks(scsi_target_lun(target, 255)), 2);
	snprintf(made, sizeof made, "%s-made", path);
	o.path = made;
	o.create_bytes = UINT64_C(1) << 30;
	o.block_bytes = 0;
	ck_assert_int_eq(scsi_lun_open(target, 0, &o), 0);
	ck_assert_int_eq(unlink(made), 0);
	ck_assert_uint_eq(scsi_lun_blocks(scsi_target_lun(target, 0)), 1 << 21);
	ck_assert_int_eq(scsi_nexus_create(&world.a, target, PORT_A), 0);
	ck_assert_int_eq(scsi_nexus_create(&world.b, target, ""), -EINVAL);
	scsi_nexus_ready(&world, world.a);
	scsi_hex("00 16 00 10 00000000 00000000 00000001 00100000 00000000", data, sizeof data);
	GOOD(&world, world.a, "42 00 00 00 00 00 00 00 18", 0, 24);
	data[23 - 4] = 1; /* a block too many */
	FAILS(&world, world.a, "42 00 00 00 00 00 00 00 18", 0, 24, SENSE_LIST_FIELD);
	scsi_nexus_free(world.a);
	ck_assert_ptr_null(scsi_target_lun(target, 2));
	scsi_target_close(target);
	close(fd);
	unlink(path);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi_table -- a command a row: what it gets, and what it gives
 */
#include "scsi_call.h"
#include "lib/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CDB_FIELD SENSE_CDB_FIELD

/*
 * Before each row block n has bytes n & 0xff up to 1023, and the rest is a hole; data-out is `out`
 * bytes 0x61.
 */
static const struct row {
	const char *cdb;
	uint32_t in, out; /* what the initiator expects */
	const char *list; /* the first bytes of data-out; NULL: 0x61 */
	uint32_t sense;	  /* CHECK CONDITION with it; 0: GOOD */
	uint32_t got;	  /* bytes of data-in */
	const char *data; /* its first bytes */
	int64_t residual;
} rows[] = {
	/* clang-format off */
	/* TEST UNIT READY, what is unknown, bits without a meaning, NACA */
	{ "00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "00", 512, 0, NULL, 0, 0, NULL, -512 },
	{ "00 00 00 00 00 04", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	{ "00 00 80", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	{ "04", 0, 0, NULL, SENSE_OPCODE, 0, NULL, 0 },
	{ "15 10 00 00 18", 0, 24, NULL, SENSE_OPCODE, 0, NULL, -24 },
	{ "8b", 0, 0, NULL, SENSE_OPCODE, 0, NULL, 0 },
	{ "ff", 0, 0, NULL, SENSE_OPCODE, 0, NULL, 0 },
	{ "9e 11", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	{ "9e 13", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	/* REQUEST SENSE, fixed and with descriptors, cut */
	{ "03 00 00 00 ff", 255, 0, NULL, 0, 18, "70 00 00 00 00 00 00 0a 00", -237 },
	{ "03 01 00 00 ff", 255, 0, NULL, 0, 8, "72 00 00 00 00 00 00 00", -247 },
	{ "03 00 00 00 04", 4, 0, NULL, 0, 4, "70 00 00 00", 0 },
	/* INQUIRY */
	{ "12 00 00 00 ff", 255, 0, NULL, 0, 96,
	    "00 00 06 12 5b 00 00 02 5245 4152 4d20 2020 4953 4552 2d44 4953 4b20 2020 2020 2020", -159 },
	{ "12 00 00 00 05", 5, 0, NULL, 0, 5, "00 00 06 12 5b", 0 },
	{ "12 00 00 00 60", 8, 0, NULL, 0, 8, "00 00 06 12 5b", 88 },
	{ "12 00 00 02 00", 512, 0, NULL, 0, 96, "00 00 06 12 5b", -416 },
	{ "12 00 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "12 00 01 00 ff", 255, 0, NULL, CDB_FIELD, 0, NULL, -255 },
	{ "12 02 00 00 ff", 255, 0, NULL, CDB_FIELD, 0, NULL, -255 },
	{ "12 01 00 00 ff", 255, 0, NULL, 0, 10, "00 00 00 06 00 80 83 b0 b1 b2", -245 },
	{ "12 01 80 00 ff", 255, 0, NULL, 0, 20, "00 80 00 10", -235 },
	{ "12 01 83 00 08", 8, 0, NULL, 0, 8, "00 83 00 50 01 03 00 08", 0 },
	{ "12 01 b0 00 ff", 255, 0, NULL, 0, 64,
	    "00 b0 00 3c 01 ff 00 08 00 00 08 00 00 00 08 00 00 00 00 00 00 10 00 00 00 00 01 00 00 00 00 08"
	    "80 00 00 00 00 00 00 00 00 00 ff ff 00 00 00 00", -191 },
	{ "12 01 b1 00 ff", 255, 0, NULL, 0, 64, "00 b1 00 3c 00 01 00", -191 },
	{ "12 01 b2 00 ff", 255, 0, NULL, 0, 8, "00 b2 00 04 00 e4 02 00", -247 },
	{ "12 01 86 00 ff", 255, 0, NULL, CDB_FIELD, 0, NULL, -255 },
	/* REPORT LUNS */
	{ "a0 00 00 00 00 00 00 00 00 ff", 255, 0, NULL, 0, 16, "00 00 00 08 00 00 00 00 00 00 00 00", -239 },
	{ "a0 00 01 00 00 00 00 00 00 10", 16, 0, NULL, 0, 8, "00 00 00 00 00 00 00 00", -8 },
	{ "a0 00 00 00 00 00 00 00 00 0f", 15, 0, NULL, CDB_FIELD, 0, NULL, -15 },
	{ "a0 00 03 00 00 00 00 00 00 10", 16, 0, NULL, CDB_FIELD, 0, NULL, -16 },
	/* READ CAPACITY */
	{ "25", 8, 0, NULL, 0, 8, "00 00 07 ff 00 00 02 00", 0 },
	{ "25 00 00 00 00 01", 8, 0, NULL, CDB_FIELD, 0, NULL, -8 },
	{ "9e 10 00 00 00 00 00 00 00 00 00 00 00 20", 32, 0, NULL, 0, 32,
	    "00 00 00 00 00 00 07 ff 00 00 02 00 00 00 c0 00 00 00", 0 },
	{ "9e 10 00 00 00 00 00 00 00 00 00 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "9e 10 00 00 00 00 00 00 00 00 00 00 00 0f", 15, 0, NULL, 0, 15, "00 00 00 00 00 00 07 ff", 0 },
	/* MODE SENSE: caching, control, all; what may be changed; what is saved */
	{ "1a 00 3f 00 ff", 255, 0, NULL, 0, 44, "2b 00 10 08 00 00 08 00 00 00 02 00 08 12 04", -211 },
	{ "1a 08 08 00 ff", 255, 0, NULL, 0, 24, "17 00 10 00 08 12 04 00", -231 },
	{ "1a 08 48 00 ff", 255, 0, NULL, 0, 24, "17 00 10 00 08 12 00 00", -231 },
	{ "1a 08 0a 00 ff", 255, 0, NULL, 0, 16, "0f 00 10 00 0a 0a 00 10 00 00 00 00 ff ff 00 00", -239 },
	{ "1a 00 3f ff 04", 4, 0, NULL, 0, 4, "2b 00 10 08", 0 },
	{ "1a 00 c8 00 ff", 255, 0, NULL, SENSE_SAVING, 0, NULL, -255 },
	{ "1a 00 1c 00 ff", 255, 0, NULL, CDB_FIELD, 0, NULL, -255 },
	{ "1a 00 08 01 ff", 255, 0, NULL, CDB_FIELD, 0, NULL, -255 },
	{ "5a 10 3f 00 00 00 00 00 ff", 255, 0, NULL, 0, 56,
	    "00 36 00 10 01 00 00 10 00 00 00 00 00 00 08 00 00 00 00 00 00 00 02 00 08 12", -199 },
	{ "5a 08 0a 00 00 00 00 00 ff", 255, 0, NULL, 0, 20, "00 12 00 10 00 00 00 00 0a 0a", -235 },
	/* REPORT SUPPORTED OPERATION CODES */
	{ "a3 0c 01 28 00 00 00 00 ff ff", 65535, 0, NULL, 0, 14,
	    "00 03 00 0a 28 18 ff ff ff ff 1f ff ff 00", -65521 },
	{ "a3 0c 81 00 00 00 00 00 ff ff", 65535, 0, NULL, 0, 22, "00 83 00 06 00 00 00 00 00 00 00 0a", -65513 },
	{ "a3 0c 01 29 00 00 00 00 ff ff", 65535, 0, NULL, 0, 4, "00 01 00 00", -65531 },
	{ "a3 0c 01 9e 00 00 00 00 ff ff", 65535, 0, NULL, CDB_FIELD, 0, NULL, -65535 },
	{ "a3 0c 02 9e 00 10 00 00 ff ff", 65535, 0, NULL, 0, 20, "00 03 00 10 9e 10", -65515 },
	{ "a3 0c 02 9e 00 11 00 00 ff ff", 65535, 0, NULL, 0, 4, "00 01 00 00", -65531 },
	{ "a3 0c 02 28 00 00 00 00 ff ff", 65535, 0, NULL, CDB_FIELD, 0, NULL, -65535 },
	{ "a3 0c 03 28 00 00 00 00 ff ff", 65535, 0, NULL, 0, 14, "00 03 00 0a 28", -65521 },
	{ "a3 0c 03 28 00 01 00 00 ff ff", 65535, 0, NULL, 0, 4, "00 01 00 00", -65531 },
	{ "a3 0c 04 28 00 00 00 00 ff ff", 65535, 0, NULL, CDB_FIELD, 0, NULL, -65535 },
	/* READ: 6 (0 is 256 blocks), 10, 12, 16; DPO and FUA; GROUP NUMBER */
	{ "08 00 00 02 01", 512, 0, NULL, 0, 512, "02 02 02", 0 },
	{ "08 00 00 01 00", 131072, 0, NULL, 0, 131072, "01 01 01", 0 },
	{ "08 00 07 ff 02", 1024, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -1024 },
	{ "28 00 00 00 00 07 00 00 02", 1024, 0, NULL, 0, 1024, "07 07 07", 0 },
	{ "28 18 00 00 00 07 1f 00 01", 512, 0, NULL, 0, 512, "07 07 07", 0 },
	{ "28 00 00 00 07 ff 00 00 01", 512, 0, NULL, 0, 512, "00 00 00", 0 },
	{ "28 00 00 00 08 00 00 00 01", 512, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -512 },
	{ "28 00 00 00 07 ff 00 00 02", 1024, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -1024 },
	{ "28 00 00 00 08 00 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "28 00 00 00 08 01 00 00 00", 0, 0, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "28 20 00 00 00 07 00 00 01", 512, 0, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "28 00 00 00 00 00 00 08 01", 1049088, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -1049088 },
	{ "a8 00 00 00 00 09 00 00 00 01", 512, 0, NULL, 0, 512, "09 09", 0 },
	{ "a8 e0 00 00 00 09 00 00 00 01", 512, 0, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "88 00 00 00 00 00 00 00 00 0b 00 00 00 01", 512, 0, NULL, 0, 512, "0b 0b", 0 },
	{ "88 00 ff ff ff ff ff ff ff ff 00 00 00 01", 512, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -512 },
	{ "88 00 80 00 00 00 00 00 00 00 00 00 00 00", 0, 0, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	/* more or fewer bytes than the initiator expects */
	{ "28 00 00 00 00 07 00 00 01", 0, 0, NULL, 0, 0, NULL, 512 },
	{ "28 00 00 00 00 07 00 00 01", 200, 0, NULL, 0, 200, "07", 312 },
	{ "28 00 00 00 00 07 00 00 02", 512, 0, NULL, 0, 512, "07", 512 },
	{ "28 00 00 00 00 07 00 00 01", 10000, 0, NULL, 0, 512, "07", -9488 },
	{ "28 00 00 00 00 07 00 00 01", 0, 512, NULL, 0, 0, NULL, 512 },
	{ "2a 00 00 00 00 07 00 00 01", 0, 0, NULL, 0, 0, NULL, 512 },
	{ "2a 00 00 00 00 07 00 00 01", 0, 200, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 312 },
	{ "2a 00 00 00 00 07 00 00 02", 0, 512, NULL, 0, 0, NULL, 512 },
	{ "2a 00 00 00 00 07 00 00 01", 0, 10000, NULL, 0, 0, NULL, -9488 },
	{ "2e 02 00 00 00 07 00 00 01", 0, 0, NULL, 0, 0, NULL, 512 },
	{ "2e 02 00 00 00 07 00 00 02", 0, 512, NULL, 0, 0, NULL, 512 },
	{ "2e 02 00 00 00 07 00 00 01", 0, 200, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 312 },
	/* WRITE; WRITE AND VERIFY; VERIFY, of bytes, without, of one block for all */
	{ "0a 00 00 01 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2a 18 00 00 00 01 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2a 80 00 00 00 01 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "2a 00 00 00 07 ff 00 00 02", 0, 1024, NULL, SENSE_LBA_RANGE, 0, NULL, -1024 },
	{ "aa 00 00 00 00 01 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "8a 00 00 00 00 00 00 00 00 01 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2e 00 00 00 00 01 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "ae 02 00 00 00 01 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "8e 02 00 00 00 00 00 00 00 01 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2e 06 00 00 00 01 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "2f 02 00 00 00 61 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2f 02 00 00 00 61 00 00 02", 0, 1024, NULL, SENSE_MISCOMPARE, 0, NULL, 0 },
	{ "2f 02 00 00 00 61 00 00 01", 0, 200, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 312 },
	{ "2f 00 00 00 00 62 00 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "2f 06 00 00 00 61 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "2f 06 00 00 00 61 00 00 02", 0, 512, NULL, SENSE_MISCOMPARE, 0, NULL, 0 },
	{ "2f 04 00 00 00 61 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "2f 22 00 00 00 61 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "2f 02 00 00 08 01 00 00 00", 0, 0, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "af 02 00 00 00 61 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "8f 02 00 00 00 00 00 00 00 61 00 00 00 01", 0, 512, NULL, 0, 0, NULL, 0 },
	/* COMPARE AND WRITE */
	{ "89 00 00 00 00 00 00 00 00 61 00 00 00 01", 0, 1024, NULL, 0, 0, NULL, 0 },
	{ "89 00 00 00 00 00 00 00 00 62 00 00 00 01", 0, 1024, NULL, SENSE_MISCOMPARE, 0, NULL, 0 },
	{ "89 00 00 00 00 00 00 00 00 61 00 00 00 01", 0, 512, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 512 },
	{ "89 00 00 00 00 00 00 00 00 61 00 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "89 00 00 00 00 00 00 00 00 61 00 00 00 00", 0, 262144, NULL, CDB_FIELD, 0, NULL, -262144 },
	{ "89 00 00 00 00 00 00 00 08 00 00 00 00 01", 0, 1024, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "89 20 00 00 00 00 00 00 00 61 00 00 00 01", 0, 1024, NULL, CDB_FIELD, 0, NULL, -1024 },
	{ "89 00 00 00 00 00 00 00 00 61 00 00 01 01", 0, 1024, NULL, CDB_FIELD, 0, NULL, -1024 },
	/* SYNCHRONIZE CACHE, PRE-FETCH */
	{ "35", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "35 02 00 00 00 01 00 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "35 00 00 00 08 00 00 00 01", 0, 0, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "91 00 00 00 00 00 00 00 00 01 00 00 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "34 02 00 00 00 01 03 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "34 00 00 00 08 00 00 00 01", 0, 0, NULL, SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "90 00 00 00 00 00 00 00 00 01 00 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	/* WRITE SAME: a block, zeros as holes, no data-out, no block, ANCHOR */
	{ "41 00 00 00 00 01 00 00 08", 0, 512, NULL, 0, 0, NULL, 0 },
	{ "41 08 00 00 00 08 00 00 08", 0, 512, "00", 0, 0, NULL, 0 },
	{ "41 00 00 00 00 00 00 00 00", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "93 00 00 00 00 00 00 00 00 00 00 01 00 00", 0, 512, NULL, SENSE_LBA_RANGE, 0, NULL, -512 },
	{ "41 10 00 00 00 00 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "41 20 00 00 00 00 00 00 01", 0, 512, NULL, CDB_FIELD, 0, NULL, -512 },
	{ "41 00 00 00 00 00 00 00 01", 0, 256, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 256 },
	{ "41 00 00 00 08 01 00 00 00", 0, 512, NULL, SENSE_LBA_RANGE, 0, NULL, -512 },
	{ "93 01 00 00 00 00 00 00 00 00 00 00 00 08", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "93 09 00 00 00 00 00 00 00 00 00 00 00 08", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "93 00 00 00 00 00 00 00 07 ff 00 00 00 02", 0, 512, NULL, SENSE_LBA_RANGE, 0, NULL, -512 },
	/* UNMAP: no list, no descriptor, one of no block, too many blocks, half a list */
	{ "42", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 04", 0, 4, NULL, SENSE_LIST_LENGTH, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 08", 0, 8, "00 06 00 00 00 00 00 00", 0, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 18", 0, 24, "00 16 00 10 00 00 00 00 00000000 00000800 00000000 00000000", 0, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 18", 0, 24, "00 16 00 10 00 00 00 00 00000000 00000010 00000008 00000000", 0, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 18", 0, 24, "00 16 00 10 00 00 00 00 00000000 000007ff 00000002 00000000",
	    SENSE_LBA_RANGE, 0, NULL, 0 },
	{ "42 00 00 00 00 00 00 00 18", 0, 24, "00 26 00 20 00 00 00 00 00000000 00000010 00000008 00000000",
	    SENSE_LIST_FIELD, 0, NULL, 0 },
	{ "42 01 00 00 00 00 00 00 18", 0, 24, NULL, CDB_FIELD, 0, NULL, -24 },
	{ "42 00 00 00 00 00 00 00 18", 0, 8, NULL, SENSE_INFORMATION_UNIT, 0, NULL, 16 },
	{ "42 00 00 00 00 00 00 10 19", 0, 4121, NULL, SENSE_LIST_LENGTH, 0, NULL, 0 },
	/* GET LBA STATUS: data, then a hole */
	{ "9e 12 00 00 00 00 00 00 00 00 00 00 00 18", 24, 0, NULL, 0, 24,
	    "00 00 00 14 00 00 00 00 00000000 00000000 00000400 00 000000", 0 },
	{ "9e 12 00 00 00 00 00 00 00 08 00 00 00 28", 40, 0, NULL, 0, 40,
	    "00 00 00 24 00 00 00 00 00000000 00000008 000003f8 00 000000 00000000 00000400 00000400 01 000000", 0 },
	{ "9e 12 00 00 00 00 00 00 08 00 00 00 00 18", 24, 0, NULL, SENSE_LBA_RANGE, 0, NULL, -24 },
	/* START STOP UNIT, PREVENT ALLOW MEDIUM REMOVAL of what cannot be removed */
	{ "1b 00 00 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "1b 01 00 00 00", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "1b 00 00 00 22", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "1b 00 00 00 02", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	{ "1e 00 00 00 01", 0, 0, NULL, 0, 0, NULL, 0 },
	{ "1e 00 00 00 02", 0, 0, NULL, CDB_FIELD, 0, NULL, 0 },
	/* PERSISTENT RESERVE, as far as no port is registered */
	{ "5e 00 00 00 00 00 00 40 00", 16384, 0, NULL, 0, 8, "00 00 00 00 00 00 00 00", -16376 },
	{ "5e 02 00 00 00 00 00 00 08", 8, 0, NULL, 0, 8, "00 08 04 80 ea 01 00 00", 0 },
	{ "5e 04 00 00 00 00 00 00 08", 8, 0, NULL, CDB_FIELD, 0, NULL, -8 },
	{ "5f 08 00 00 00 00 00 00 18", 0, 24, "00", CDB_FIELD, 0, NULL, -24 },
	{ "5f 00 00 00 00 00 00 00 17", 0, 23, "00", SENSE_LIST_LENGTH, 0, NULL, -23 },
	{ "5f 01 02 00 00 00 00 00 18", 0, 24, "00", CDB_FIELD, 0, NULL, -24 },
	{ "5f 01 11 00 00 00 00 00 18", 0, 24, "00", CDB_FIELD, 0, NULL, -24 },
	/* SPEC_I_PT and APTPL */
	{ "5f 06 00 00 00 00 00 00 18", 0, 24, "0000000000000000 0000000000000001 00000000 08", SENSE_LIST_FIELD, 0,
	    NULL, 0 },
	{ "5f 06 00 00 00 00 00 00 18", 0, 24, "0000000000000000 0000000000000001 00000000 01", SENSE_LIST_FIELD, 0,
	    NULL, 0 },
	/* clang-format on */
};

static void
check(struct scsi_world *world, const struct row *row)
{
	struct scsi_call call;
	uint8_t expected[128];
	size_t n = 0;

	memset(world->data, 0x61, DATA);
	if (row->list && strcmp(row->list, "00") == 0)
		memset(world->data, 0, row->out);
	else if (row->list)
		scsi_hex(row->list, world->data, row->out);
	scsi_run(world, &call, world->a, row->cdb, row->in, row->out);
	ck_assert_msg(call.task.status == (row->sense ? SCSI_CHECK_CONDITION : SCSI_GOOD),
	    "%s: status 0x%02x, sense %06x", row->cdb, call.task.status, scsi_call_sense(&call));
	ck_assert_msg(scsi_call_sense(&call) == row->sense, "%s: sense %06x", row->cdb,
	    scsi_call_sense(&call));
	ck_assert_msg(call.task.data_in_length == row->got, "%s: %u bytes", row->cdb,
	    call.task.data_in_length);
	ck_assert_msg(call.task.residual == row->residual, "%s: residual %lld", row->cdb,
	    (long long)call.task.residual);
	if (row->data)
		n = scsi_hex(row->data, expected, sizeof expected);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(world->data[i] == expected[i], "%s: byte %zu is %02x", row->cdb, i,
		    world->data[i]);
	/* What is beyond the room of the initiator is not touched. */
	if (call.task.data_in_length > 0)
		ck_assert_uint_eq(world->data[row->in < DATA ? row->in : DATA - 1], 0x61);
	ck_assert(!call.task.aborted);
}

CASE("scsi_table:table", .seconds = 60);

TEST(command__each_of_the_table__gives_status_sense_data_and_residual)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scsi_world world;

		scsi_world_open(&world, SCSI_ENGINE_THREADS, NULL);
		check(&world, &rows[i]);
		scsi_world_close(&world);
	}
}

/* The sense data name the byte and the bit, of the CDB or of the list. */
TEST(invalid_field__in_a_cdb_or_a_list__is_pointed_at)
{
	static const struct {
		const char *cdb, *list;
		uint8_t pointer[3];
	} fields[] = {
		{ "28 20", "", { 0xcd, 0, 1 } },
		{ "28 00 00 00 00 00 00 00 00 04", "", { 0xca, 0, 9 } },
		{ "5e 1f", "", { 0xcc, 0, 1 } },
		{ "5f 06 00 00 00 00 00 00 18", "0000000000000000 0000000000000001 00000000 08",
		    { 0x8b, 0, 20 } },
	};
	struct scsi_world world;
	struct scsi_call call;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	memset(world.data, 0, 24);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		scsi_hex(fields[i].list, world.data, 24);
		scsi_run(&world, &call, world.a, fields[i].cdb, 0, 24);
		ck_assert_mem_eq(call.task.sense + 15, fields[i].pointer, 3);
		ck_assert_uint_eq(call.task.sense_length, 18);
	}
	scsi_world_close(&world);
}

/*
 * Any bits in the CDBs of the table, and any data: memory (ASan) and what is beyond the last block
 * stay as they are.
 */
TEST(command__random_bits__change_nothing_outside_of_the_unit)
{
	static const char tail[] = "what is behind the last block";
	struct scsi_call call;
	struct scsi_world world;
	unsigned int seed = 1, good = 0;
	char back[sizeof tail];
	struct stat st;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	ck_assert_int_eq(pwrite(world.fd, tail, sizeof tail, BLOCKS * 512), sizeof tail);
	for (unsigned int i = 0; i < 20000; i++) {
		const struct row *row = &rows[i % (sizeof rows / sizeof rows[0])];
		uint8_t *cdb = call.task.cdb;

		scsi_call_plan(&call, i % 2 ? world.a : world.b, "ff", 0, 0);
		cdb[0] = 0;
		scsi_hex(row->cdb, cdb, sizeof call.task.cdb);
		for (unsigned int n = rand_r(&seed) % 3; n > 0; n--)
			cdb[rand_r(&seed) % 16] ^= (uint8_t)(1 << rand_r(&seed) % 8);
		for (unsigned int n = 0; n < 64; n++)
			world.data[n] = rand_r(&seed) % 4 ? 0 : (uint8_t)rand_r(&seed);
		call.task.expected_in = row->in ? row->in : (uint32_t)rand_r(&seed) % 4096;
		call.task.expected_out = row->out ? row->out : (uint32_t)rand_r(&seed) % 4096;
		if (scsi_task_plan(&call.task) == SCSI_GOES_ON) {
			uint8_t *exact = malloc(call.task.bytes + 1);

			memcpy(exact, world.data, call.task.bytes);
			if (scsi_call_start(&call, exact) == SCSI_GOES_ON)
				scsi_call_wait(&call);
			free(exact);
		}
		good += call.task.status == SCSI_GOOD;
		ck_assert_uint_le(call.task.data_in_length, call.task.bytes);
		if (cdb[0] == 0x5f || cdb[0] == 0x16) { /* or conflicts are all that follows */
			scsi_run(&world, &call, world.a, "17", 0, 0);
			scsi_run(&world, &call, world.b, "17", 0, 0);
		}
	}
	ck_assert_uint_gt(good, 5000);
	ck_assert_int_eq(pread(world.fd, back, sizeof back, BLOCKS * 512), sizeof back);
	ck_assert_mem_eq(back, tail, sizeof tail);
	fstat(world.fd, &st);
	ck_assert_int_eq(st.st_size, BLOCKS * 512 + 100);
	scsi_world_close(&world);
}

/* A LUN that is not there answers three commands. */
TEST(command__for_no_lun__is_refused_but_for_three)
{
	static const struct {
		const char *cdb;
		uint32_t in, sense, got;
		const char *data;
	} any[] = {
		{ "12 00 00 00 ff", 255, 0, 96, "7f 00 06 12" },
		{ "12 01 80 00 ff", 255, CDB_FIELD, 0, NULL },
		{ "03 00 00 00 ff", 255, 0, 18, "70 00 05 00 00 00 00 0a 00 00 00 00 25 00" },
		{ "a0 00 00 00 00 00 00 00 00 ff", 255, 0, 16, "00 00 00 08" },
		{ "00", 0, SENSE_LUN_UNKNOWN, 0, NULL },
		{ "28 00 00 00 00 00 00 00 01", 512, SENSE_LUN_UNKNOWN, 0, NULL },
		{ "ff", 0, SENSE_LUN_UNKNOWN, 0, NULL },
	};
	static const uint8_t fields[][8] = { { 0, 1 }, { 1, 0 }, { 0x40, 1 }, { 0x80, 0 },
		{ 0, 0, 0, 1 } };
	struct scsi_world world;
	struct scsi_call call;
	uint8_t expected[32];

	scsi_world_open(&world, SCSI_ENGINE_THREADS, NULL);
	for (size_t i = 0; i < sizeof any / sizeof any[0]; i++)
		for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
			scsi_call_plan(&call, world.a, "ff", 0, 0);
			memset(call.task.cdb, 0, sizeof call.task.cdb);
			scsi_hex(any[i].cdb, call.task.cdb, sizeof call.task.cdb);
			memcpy(call.task.lun, fields[f], 8);
			call.task.expected_in = any[i].in;
			if (scsi_task_plan(&call.task) == SCSI_GOES_ON)
				ck_assert_int_eq(scsi_call_start(&call, world.data), SCSI_ENDED);
			ck_assert_uint_eq(scsi_call_sense(&call), any[i].sense);
			ck_assert_uint_eq(call.task.data_in_length, any[i].got);
			if (any[i].data)
				ck_assert_mem_eq(world.data, expected,
				    scsi_hex(any[i].data, expected, sizeof expected));
		}
	scsi_world_close(&world);
}

/*
 * Each command that the target reports is one that it knows, with as many bytes of use as its CDB
 * has.
 */
TEST(opcodes__all_that_are_reported__are_reported_alone_too)
{
	struct scsi_world world;
	struct scsi_call call;
	uint8_t all[4096];
	uint32_t length;
	char cdb[64];

	scsi_world_open(&world, SCSI_ENGINE_THREADS, NULL);
	GOOD(&world, world.a, "a3 0c 80 00 00 00 00 00 ff ff", 65535, 0);
	memcpy(all, world.data, sizeof all);
	length = scsi_get32(all);
	ck_assert_uint_eq(length % 20, 0);
	ck_assert_uint_ge(length / 20, 48);
	for (uint32_t i = 4; i < 4 + length; i += 20) {
		const uint8_t *d = all + i;

		snprintf(cdb, sizeof cdb, "a3 0c %02x %02x %02x %02x 00 00 ff ff", d[5] & 1 ? 2 : 1,
		    d[0], d[2], d[3]);
		ck_assert_uint_eq(scsi_run(&world, &call, world.a, cdb, 65535, 0), SCSI_GOOD);
		ck_assert_uint_eq(world.data[1], 3);
		ck_assert_uint_eq(scsi_get16(world.data + 2), scsi_get16(d + 6));
		ck_assert_uint_eq(world.data[4], d[0]);
		ck_assert_uint_eq(call.task.data_in_length, 4u + scsi_get16(d + 6));
		ck_assert(d[5] & 2);
		ck_assert_uint_eq(d[9], 10);
	}
	scsi_world_close(&world);
}

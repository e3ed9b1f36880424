/* SPDX-License-Identifier: BSD-3-Clause */
#include "enemy.h"
#include "lib/runner.h"

#include "iser/datamover/bell.h"
#include "iser/iscsi/pdu.h"

#include <dat2/dat_ib_extensions.h>
#include <stdlib.h>
#include <string.h>

#define PDUS 400 /* of a connection, if it lasts */

static const char login_text[] = "InitiatorName=iqn.2026-11.test:enemy\0TargetName=" ENEMY_TARGET
				 "\0InitialR2T=No\0ImmediateData=Yes\0RDMAExtensions=Yes";

static void
send_login(struct enemy *enemy)
{
	unsigned int slot;
	unsigned char *bhs = mover_send_buffer(&enemy->mover, ENEMY_BYTES, &slot);

	ck_assert_ptr_nonnull(bhs);
	bhs[0] = PDU_LOGIN | PDU_IMMEDIATE;
	bhs[PDU_FLAGS] = PDU_FINAL | 1 << 2 | 3;
	wire_put24(bhs + PDU_DATA, sizeof login_text);
	bhs[13] = (unsigned char)enemy->mover.index; /* of the ISID */
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	memcpy(bhs + ISCSI_BHS_BYTES, login_text, sizeof login_text);
	mover_send(&enemy->mover, slot, sizeof login_text, NULL, NULL);
}

/* No iSER at all; it takes a receive of the target. */
static void
write_immediate(struct enemy *enemy)
{
	static struct mover_work quiet = { .kind = MOVER_QUIET };
	const DAT_DTO_COOKIE cookie = { .as_ptr = &quiet };
	DAT_RMR_TRIPLET nothing = { .segment_length = 0 };

	ck_assert_uint_eq(dat_ib_post_rdma_write_immed(enemy->mover.ep, 0, NULL, cookie, &nothing,
			      7, DAT_COMPLETION_SUPPRESS_FLAG),
	    DAT_SUCCESS);
}

/*
 * A PDU that is nearly right: commands of all kinds, with a bit or a byte changed here and there.
 */
static void
send_something(struct enemy *enemy)
{
	static const unsigned char opcodes[] = { PDU_NOP_OUT, PDU_COMMAND, PDU_COMMAND, PDU_COMMAND,
		PDU_COMMAND, PDU_MANAGE, PDU_TEXT, PDU_DATA_OUT, PDU_DATA_OUT, PDU_SNACK, PDU_LOGIN,
		0x1c };
	static const unsigned char cdbs[] = { 0x00, 0x12, 0x28, 0x2a, 0x88, 0x8a, 0x89, 0x41, 0x42,
		0x5e, 0x5f, 0x9e };
	struct iser_header header = {
		.read_valid = random() % 8,
		.write_valid = random() % 8,
		.read_stag = random() % 16 ? enemy->data.rmr_context : (uint32_t)random(),
		.write_stag = random() % 16 ? enemy->data.rmr_context : (uint32_t)random(),
		.read_address = (uintptr_t)enemy->data.base,
		.write_address = (uintptr_t)enemy->data.base,
	};
	uint32_t bytes = random() % 4 ? 0 : (uint32_t)random() % 2048;
	unsigned int slot;
	unsigned char *bhs = mover_send_buffer(&enemy->mover, ENEMY_BYTES, &slot);

	if (!bhs) {
		mover_fail(&enemy->mover, "enough");
		return;
	}
	bhs[0] = opcodes[random() % (long)sizeof opcodes] | (random() % 4 ? 0 : PDU_IMMEDIATE);
	bhs[PDU_FLAGS] = (unsigned char)(PDU_FINAL | random());
	wire_put24(bhs + PDU_DATA, bytes);
	wire_put32(bhs + PDU_ITT, (uint32_t)random() % 64);
	wire_put32(bhs + PDU_TTT, random() % 4 ? PDU_NO_TAG : (uint32_t)random() % 65536);
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	if ((bhs[0] & PDU_OPCODE) == PDU_COMMAND) {
		wire_put32(bhs + PDU_EXPECTED, (uint32_t)random() % 65536);
		bhs[PDU_CDB] = cdbs[random() % (long)sizeof cdbs];
		bhs[PDU_CDB + 8] = (unsigned char)(random() % 16);
		bhs[PDU_CDB + 13] = (unsigned char)(random() % 16);
	}
	/* Not often what ends the session at once: the lengths, and another opcode. */
	for (long n = random() % 3; n > 0; n--) {
		long at = random() % ISCSI_BHS_BYTES;

		if ((at != 0 && (at < PDU_AHS || at >= PDU_LUN)) || random() % 64 == 0)
			bhs[at] = (unsigned char)random();
	}
	if (!(bhs[0] & PDU_IMMEDIATE) && (bhs[0] & PDU_OPCODE) != PDU_DATA_OUT)
		enemy->cmdsn += random() % 16 ? 1 : 2;
	mover_send(&enemy->mover, slot, bytes, &header, enemy);
}

/* ---- a tame one ---- */

/* Task management, in this order: the function, the byte of the LUN, what is answered. */
static const unsigned char manages[][3] = {
	{ 1, 0, 1 }, /* ABORT TASK of a task that is none */
	{ 2, 0, 0 }, /* ABORT TASK SET */
	{ 4, 0, 0 }, /* CLEAR TASK SET */
	{ 5, 0, 0 }, /* LUN RESET */
	{ 5, 9, 2 }, /* ... of a LUN that is none */
	{ 6, 0, 0 }, /* TARGET WARM RESET */
	{ 7, 0, 5 }, /* TARGET COLD RESET */
	{ 8, 0, 4 }, /* TASK REASSIGN */
	{ 99, 0, 255 },
};

#define MANAGES (sizeof manages / sizeof manages[0])

static unsigned char *
tame_pdu(struct enemy *enemy, unsigned char opcode, uint32_t bytes, unsigned int *slot)
{
	unsigned char *bhs = mover_send_buffer(&enemy->mover, ENEMY_BYTES, slot);

	bhs[0] = opcode;
	bhs[PDU_FLAGS] = PDU_FINAL;
	wire_put24(bhs + PDU_DATA, bytes);
	wire_put32(bhs + PDU_ITT, 7);
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	wire_put32(bhs + PDU_TTT, PDU_NO_TAG);
	return bhs;
}

/* Four blocks: one comes with the command, two in data PDUs, and one is fetched. */
static void
tame_write(struct enemy *enemy)
{
	const struct iser_header header = {
		.write_valid = true,
		.write_stag = enemy->data.rmr_context,
		.write_address = (uintptr_t)enemy->data.base,
	};
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_COMMAND, ENEMY_PIECE, &slot);

	memset(enemy->data.base, 'd', ENEMY_PIECE);
	bhs[PDU_FLAGS] = PDU_WRITE | 1;
	wire_put32(bhs + PDU_EXPECTED, 4 * ENEMY_PIECE);
	bhs[PDU_CDB] = 0x2a;
	bhs[PDU_CDB + 8] = 4;
	memset(bhs + ISCSI_BHS_BYTES, 'a', ENEMY_PIECE);
	enemy->cmdsn++;
	mover_send(&enemy->mover, slot, ENEMY_PIECE, &header, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		bhs = tame_pdu(enemy, PDU_DATA_OUT, ENEMY_PIECE, &slot);
		bhs[PDU_FLAGS] = i ? PDU_FINAL : 0;
		wire_put32(bhs + 36, i);
		wire_put32(bhs + 40, (i + 1) * ENEMY_PIECE);
		memset(bhs + ISCSI_BHS_BYTES, 'b' + (int)i, ENEMY_PIECE);
		mover_send(&enemy->mover, slot, ENEMY_PIECE, NULL, NULL);
	}
}

static void
tame_next(struct enemy *enemy, const unsigned char *pdu)
{
	const unsigned int step = enemy->step++, manage = step - 3;
	unsigned char opcode = pdu[0] & PDU_OPCODE, wanted = PDU_MANAGED, answer = pdu[2];
	unsigned int slot;
	unsigned char *bhs;

	if (step == 0)
		wanted = PDU_LOGIN_ANSWER, answer = pdu[36];
	else if (step < 3)
		wanted = PDU_RESPONSE, answer = step == 2 ? pdu[3] : 0;
	else if (manage < MANAGES)
		answer ^= manages[manage][2];
	else
		wanted = PDU_LOGOUT_ANSWER;
	if ((opcode != wanted || answer != 0) && !enemy->wrong)
		enemy->wrong = (int)step + 1;
	if (step == 0) { /* is answered that the power is on */
		bhs = tame_pdu(enemy, PDU_COMMAND, 0, &slot);
		wire_put32(bhs + PDU_EXPECTED, 0);
		enemy->cmdsn++;
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else if (step == 1) {
		tame_write(enemy);
	} else if (step - 2 < MANAGES) {
		bhs = tame_pdu(enemy, PDU_MANAGE | PDU_IMMEDIATE, 0, &slot);
		bhs[PDU_FLAGS] |= manages[step - 2][0];
		bhs[PDU_LUN + 1] = manages[step - 2][1];
		wire_put32(bhs + 32, enemy->cmdsn - 1);
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else if (step - 2 == MANAGES) {
		bhs = tame_pdu(enemy, PDU_LOGOUT | PDU_IMMEDIATE, 0, &slot);
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else {
		atomic_store(&enemy->answered, enemy->wrong == 0);
	}
}

/* ---- one that reads or writes ---- */

#define READ_BLOCKS 8

#define DEAF_READS 16 /* the window of the target */
#define DEAF_BLOCKS 128

/* As a DEAF or a HALF one does: an answer to a ping that was none keeps it from being silent. */
static void
say_something(struct enemy *enemy)
{
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_NOP_OUT | PDU_IMMEDIATE, 0, &slot);

	wire_put32(bhs + PDU_ITT, PDU_NO_TAG);
	mover_send(&enemy->mover, slot, 0, NULL, NULL);
}

/* With `half`, a write of which all data are to come unasked. */
static void
hoard(struct enemy *enemy, bool half, uint32_t tag)
{
	const struct iser_header header = {
		.read_valid = !half,
		.write_valid = half,
		.read_stag = enemy->data.rmr_context,
		.write_stag = enemy->data.rmr_context,
		.read_address = (uintptr_t)enemy->data.base,
		.write_address = (uintptr_t)enemy->data.base,
	};
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_COMMAND, 0, &slot);

	bhs[PDU_FLAGS] = half ? PDU_WRITE : PDU_FINAL | PDU_READ;
	wire_put32(bhs + PDU_ITT, tag);
	wire_put32(bhs + PDU_EXPECTED, DEAF_BLOCKS * ENEMY_PIECE);
	bhs[PDU_CDB] = half ? 0x2a : 0x28;
	bhs[PDU_CDB + 8] = DEAF_BLOCKS;
	enemy->cmdsn++;
	mover_send(&enemy->mover, slot, 0, &header, NULL);
}

/* Of the blocks READ_BLOCKS * `tag` and the next ones. */
static void
move(struct enemy *enemy, bool writes, uint32_t tag, uint32_t spoilt)
{
	const uint32_t stag = enemy->data.rmr_context ^ spoilt;
	const uint64_t address =
	    (uintptr_t)enemy->data.base + (uintptr_t)tag * READ_BLOCKS * ENEMY_PIECE;
	const struct iser_header header = {
		.read_valid = !writes,
		.write_valid = writes,
		.read_stag = stag,
		.write_stag = stag,
		.read_address = address,
		.write_address = address,
	};
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_COMMAND, 0, &slot);

	bhs[PDU_FLAGS] |= writes ? PDU_WRITE : PDU_READ;
	wire_put32(bhs + PDU_ITT, tag);
	wire_put32(bhs + PDU_EXPECTED, READ_BLOCKS * ENEMY_PIECE);
	bhs[PDU_CDB] = writes ? 0x2a : 0x28;
	bhs[PDU_CDB + 5] = (unsigned char)(tag * READ_BLOCKS);
	bhs[PDU_CDB + 8] = READ_BLOCKS;
	enemy->cmdsn++;
	mover_send(&enemy->mover, slot, 0, &header, NULL);
}

#define HASTY_WRITES 4

static void
hurry(struct enemy *enemy)
{
	static const unsigned char functions[] = { 1, 2, 5 };
	unsigned int slot;
	unsigned char *bhs;

	for (uint32_t i = 0; i < HASTY_WRITES; i++)
		move(enemy, true, i, 0);
	bhs = tame_pdu(enemy, PDU_MANAGE | PDU_IMMEDIATE, 0, &slot);
	bhs[PDU_FLAGS] |= functions[enemy->kind - HASTY_ABORT];
	wire_put32(bhs + PDU_TTT, 0); /* the referenced tag, of the first */
	wire_put32(bhs + 32, enemy->cmdsn - HASTY_WRITES);
	mover_send(&enemy->mover, slot, 0, NULL, NULL);
	bhs = tame_pdu(enemy, PDU_LOGOUT | PDU_IMMEDIATE, 0, &slot);
	mover_send(&enemy->mover, slot, 0, NULL, NULL);
}

/* The function is answered once, and the logout after all that is. */
static void
hasty_next(struct enemy *enemy, const unsigned char *pdu)
{
	const unsigned char opcode = pdu[0] & PDU_OPCODE;

	if (opcode == PDU_RESPONSE && enemy->step++ == 0) { /* that the power is on */
		hurry(enemy);
	} else if (opcode == PDU_RESPONSE) {
		enemy->done++;
	} else if (opcode == PDU_MANAGED) {
		enemy->wrong = enemy->wrong || enemy->step >= 100;
		enemy->step += 100;
		if (enemy->kind != HASTY_ABORT)
			enemy->done = HASTY_WRITES;
		else if (pdu[2] == 0)
			enemy->done++;
	} else {
		enemy->logout = opcode == PDU_LOGOUT_ANSWER ? pdu[2] : -1;
		atomic_store(&enemy->answered, enemy->logout == 0 && enemy->step > 100 &&
						   enemy->done >= HASTY_WRITES &&
						   !atomic_load(&enemy->answered));
	}
}

/* The login is answered. */
static void
begin(struct enemy *enemy)
{
	switch (enemy->kind) {
	case HASTY_ABORT:
	case HASTY_ABORT_SET:
	case HASTY_RESET:
		move(enemy, true, 0, 0);
		break;
	case BAD_READ:
	case BAD_WRITE: /* the first one is answered that the power is on */
		for (uint32_t i = 0; i < 2; i++)
			move(enemy, enemy->kind == BAD_WRITE, i, 0x5a5a5a5a);
		break;
	case DEAF:
	case HALF: /* the first one is answered that the power is on */
		for (uint32_t i = 0; i < (enemy->kind == DEAF ? DEAF_READS : 2); i++)
			hoard(enemy, enemy->kind == HALF, i);
		atomic_store(&enemy->answered, true);
		bell_ring(enemy->mover.adapter->bell);
		break;
	case BUSY:
		for (uint32_t i = 0; i < 4; i++)
			move(enemy, false, i, 0);
		break;
	default:
		for (int i = 0; i < 4; i++) /* so many are on their way at a time */
			send_something(enemy);
		break;
	}
}

static void
on_established(struct mover *mover)
{
	struct enemy *enemy = (struct enemy *)mover;

	if (enemy->kind == IMMEDIATE)
		write_immediate(enemy);
	else if (enemy->kind != NO_LOGIN)
		send_login(enemy);
	else
		send_something(enemy);
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct enemy *enemy = (struct enemy *)mover;
	const bool login = (pdu[0] & PDU_OPCODE) == PDU_LOGIN_ANSWER;

	(void)header, (void)length;
	if (enemy->kind == TAME) {
		tame_next(enemy, pdu);
	} else if (enemy->kind == PATIENT && !login) {
		atomic_fetch_add(&enemy->pings, (pdu[0] & PDU_OPCODE) == PDU_NOP_IN);
	} else if (enemy->kind == PATIENT) {
		atomic_store(&enemy->answered, login && pdu[36] == 0);
		bell_ring(mover->adapter->bell);
	} else if (login && enemy->kind != NO_LOGIN) {
		begin(enemy);
	} else if (enemy->kind >= HASTY_ABORT) {
		hasty_next(enemy, pdu);
	} else if (enemy->kind == BUSY) {
		atomic_store(&enemy->answered, true);
		move(enemy, false, wire_get32(pdu + PDU_ITT), 0);
	}
	if (enemy->kind != DEAF)
		mover_post_recv(mover, slot);
}

static void
on_sent(struct mover *mover, void *owner)
{
	struct enemy *enemy = owner;

	if (++enemy->sent < PDUS)
		send_something(enemy);
	else
		mover_fail(mover, "enough");
}

static void
on_ordered(struct mover *mover, struct mover_order *order)
{
	static const unsigned char login[ISCSI_BHS_BYTES] = { PDU_LOGIN_ANSWER };
	struct enemy *enemy = (struct enemy *)mover;

	if (order->what == ENEMY_ENOUGH) {
		mover_fail(mover, "enough");
		return;
	}
	if (enemy->kind != PATIENT) {
		if (mover_state(mover) == MOVER_UP && mover->free_count > 0)
			say_something(enemy);
		atomic_store(&enemy->answered, true);
		return;
	}
	enemy->kind = TAME;
	tame_next(enemy, login);
}

static void
on_closed(struct mover *mover)
{
	(void)mover;
}

static const struct mover_ops enemy_ops = {
	.established = on_established,
	.control = on_control,
	.sent = on_sent,
	.moved = on_sent,
	.ordered = on_ordered,
	.closed = on_closed,
};

void
enemy_open(struct enemy *enemy, struct adapter *adapter, unsigned int index, enum enemy_kind kind)
{
	const struct mover_shape shape = {
		.recvs = kind == DEAF ? 1 : 64,
		.recv_bytes = ENEMY_BYTES,
		.sends = 24,
		.send_bytes = ENEMY_BYTES,
		.moves = 1,
		.move_bytes = 65536,
	};
	const char *call;

	memset(enemy, 0, sizeof *enemy);
	enemy->kind = kind;
	enemy->logout = -1;
	enemy->cmdsn = (uint32_t)random();
	ck_assert_int_eq(
	    region_create(&enemy->data, adapter->ia, adapter->pz, 65536, DAT_MEM_PRIV_ALL_FLAG),
	    DAT_SUCCESS);
	ck_assert_int_eq(
	    mover_create(&enemy->mover, adapter, NULL, &enemy_ops, index, &shape, &call),
	    DAT_SUCCESS);
	ck_assert_int_eq(
	    mover_connect(&enemy->mover, adapter->attr.ia_address_ptr, ENEMY_PORT, 10000000),
	    DAT_SUCCESS);
}

void
enemy_free(struct enemy *enemy)
{
	watch_stop(&enemy->mover.watch);
	ck_assert_int_eq(mover_free(&enemy->mover), 0);
	ck_assert_int_eq(region_free(&enemy->data), DAT_SUCCESS);
	ck_assert_int_eq(enemy->wrong, 0);
}

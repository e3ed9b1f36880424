/* SPDX-License-Identifier: BSD-3-Clause */
#include "board.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actor.h"
#include "report.h"

#define PLACES 16
#define ADDRESS_WORDS 4 /* of a socket address: enough for the longer family */

/* One thread writes it, any thread reads it.  A copy is valid if the serial number is the same
 * before and after. */
struct place {
	_Atomic(uint64_t) psp; /* 0: free; PLACE_TAKEN: being written */
	_Atomic(uint64_t) address[ADDRESS_WORDS];
	_Atomic(uint64_t) qual;
};

#define PLACE_TAKEN UINT64_MAX

static struct board {
	struct place place[2][PLACES];
	atomic_bool ready, end;
} * board;

static int own, fd = -1;

static void
map(void)
{
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		report_broken("cannot share memory");
}

int
board_make(void)
{
	own = 0;
	fd = memfd_create("hostile", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof *board))
		report_broken("cannot share memory");
	map();
	return fd;
}

void
board_join(int its_fd)
{
	own = 1;
	fd = its_fd;
	map();
}

void
board_close(void)
{
	munmap(board, sizeof *board);
	close(fd);
}

void
board_add(uint64_t psp, const struct sockaddr_storage *address, DAT_CONN_QUAL qual)
{
	uint64_t words[ADDRESS_WORDS];

	memcpy(words, address, sizeof words);
	for (int i = 0; i < PLACES; i++) {
		struct place *place = &board->place[own][i];
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&place->psp, &none, PLACE_TAKEN))
			continue;
		for (int j = 0; j < ADDRESS_WORDS; j++)
			atomic_store(&place->address[j], words[j]);
		atomic_store(&place->qual, qual);
		atomic_store(&place->psp, psp);
		return;
	}
}

void
board_remove(uint64_t psp)
{
	for (int i = 0; i < PLACES; i++) {
		uint64_t found = psp;

		if (atomic_compare_exchange_strong(&board->place[own][i].psp, &found, 0))
			return;
	}
}

bool
board_choose(struct sockaddr_storage *address, DAT_CONN_QUAL *qual)
{
	const unsigned int first = pick(2 * PLACES);
	uint64_t words[ADDRESS_WORDS];

	for (unsigned int i = 0; i < 2 * PLACES; i++) {
		unsigned int at = (first + i) % (2 * PLACES);
		struct place *place = &board->place[at / PLACES][at % PLACES];
		uint64_t psp = atomic_load(&place->psp);

		if (psp == 0 || psp == PLACE_TAKEN)
			continue;
		for (int j = 0; j < ADDRESS_WORDS; j++)
			words[j] = atomic_load(&place->address[j]);
		*qual = atomic_load(&place->qual);
		if (atomic_load(&place->psp) != psp)
			continue;
		memset(address, 0, sizeof *address);
		memcpy(address, words, sizeof words);
		return true;
	}
	return false;
}

void
board_clear_other(void)
{
	for (int i = 0; i < PLACES; i++)
		atomic_store(&board->place[!own][i].psp, 0);
}

void
board_set_ready(bool ready)
{
	atomic_store(&board->ready, ready);
}

bool
board_is_ready(void)
{
	return atomic_load(&board->ready);
}

void
board_set_end(bool end)
{
	atomic_store(&board->end, end);
}

bool
board_is_end(void)
{
	return atomic_load(&board->end);
}

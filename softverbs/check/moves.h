/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moves -- what the adversary can do, and the list of softverbs-run --schedule that chooses from it
 *
 * Also a part of softverbs-run, which checks the list: nothing here needs the device.
 */
#ifndef SOFT_CHECK_MOVES_H
#define SOFT_CHECK_MOVES_H

#include <config.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum soft_choice {
	SOFT_CHOOSE_HOLD, /* the queue is not armed: the completion is held until it is */
	/* the queue is armed: the completion, and so its event, comes later */
	SOFT_CHOOSE_HOLD_ARMED,
	SOFT_CHOOSE_SPLIT, /* completions that were held become visible in several parts */
	SOFT_CHOOSE_LATE,  /* the event comes later than its completion */
	SOFT_CHOOSE_MERGE, /* an event that is held answers a new request for notification, too */
	SOFT_CHOOSE_FIRST, /* the event comes before those of other queues of the channel */
	SOFT_CHOOSE_PAUSE, /* the thread that arms pauses before the request takes effect */
	/* completions come just after the request: their event finds them polled */
	SOFT_CHOOSE_AFTER,
	SOFT_MOVES,		       /* the number of those that a list can name */
	SOFT_CHOOSE_FAIL = SOFT_MOVES, /* the request for notification fails */
	SOFT_CHOICES
};

#define SOFT_MOVES_LIMIT 64

/* A list that was read. */
struct soft_moves {
	bool given; /* else all moves are made as the seed says */
	unsigned int count;
	struct soft_move {
		unsigned int queue; /* its number; 0: all */
		enum soft_choice choice;
		bool always; /* else as the seed says */
	} moves[SOFT_MOVES_LIMIT];
};

/*
 * Reads "none", or [QUEUE:]MOVE[=always] separated by commas.  If the list is wrong, writes why to
 * `error`, and returns false.
 */
bool soft_moves_read(const char *list, struct soft_moves *moves, char *error, size_t size);

/* Prints the names of the moves whose bits are set, as strings of JSON separated by commas. */
void soft_moves_print_names(FILE *stream, unsigned int bits);

/* Prints all moves, each followed by a comma. */
void soft_moves_print_all(FILE *stream);

/*
 * Prints a list with the moves whose bits are set, as moves that are always made: of this queue; 0:
 * of all.
 */
void soft_moves_print(FILE *stream, unsigned int queue, unsigned int bits);

#endif

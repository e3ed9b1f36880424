/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of moves, the choices of the adversary, and which moves a report repeats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/runner.h"
#include "softverbs/check/kind.h"
#include "softverbs/check/schedule.h"
#include "softverbs/check/settings.h"
#include "softverbs/check/word.h"

#define BIT(move) (1u << SOFT_CHOOSE_##move)

/* ---- lists */

static const struct {
	const char *list;
	const char *error; /* a part of it; NULL: the list is right */
	unsigned int count;
	struct soft_move last;
} lists[] = {
	{ "none", NULL, 0, { 0, 0, false } },
	{ "hold", NULL, 1, { 0, SOFT_CHOOSE_HOLD, false } },
	{ "delay", NULL, 1, { 0, SOFT_CHOOSE_HOLD_ARMED, false } },
	{ "split", NULL, 1, { 0, SOFT_CHOOSE_SPLIT, false } },
	{ "late", NULL, 1, { 0, SOFT_CHOOSE_LATE, false } },
	{ "merge", NULL, 1, { 0, SOFT_CHOOSE_MERGE, false } },
	{ "reorder", NULL, 1, { 0, SOFT_CHOOSE_FIRST, false } },
	{ "pause", NULL, 1, { 0, SOFT_CHOOSE_PAUSE, false } },
	{ "after", NULL, 1, { 0, SOFT_CHOOSE_AFTER, false } },
	{ "hold=always", NULL, 1, { 0, SOFT_CHOOSE_HOLD, true } },
	{ "1:hold", NULL, 1, { 1, SOFT_CHOOSE_HOLD, false } },
	{ "999999999:hold", NULL, 1, { 999999999, SOFT_CHOOSE_HOLD, false } },
	{ "012:late=always", NULL, 1, { 12, SOFT_CHOOSE_LATE, true } },
	{ "1:hold,late,3:merge=always", NULL, 3, { 3, SOFT_CHOOSE_MERGE, true } },
	{ "1000000000:hold", "\"1000000000:hold\": the queue is a number from 1", 0, { 0 } },
	{ "0:hold", "the queue is a number from 1", 0, { 0 } },
	{ ":hold", "the queue is a number from 1", 0, { 0 } },
	{ "1/:hold", "the queue is a number from 1", 0, { 0 } },
	{ "1;:hold", "the queue is a number from 1", 0, { 0 } },
	{ "late,x:hold,merge", "\"x:hold\": the queue is a number from 1", 0, { 0 } },
	{ "hold=alway", "\"hold=alway\": only =always is possible", 0, { 0 } },
	{ "hold=alwayss", "only =always is possible", 0, { 0 } },
	{ "hold=never", "only =always is possible", 0, { 0 } },
	{ "1:hold=", "only =always is possible", 0, { 0 } },
	{ "hol", "\"hol\": the moves are hold, delay,", 0, { 0 } },
	{ "holds", "the moves are", 0, { 0 } },
	{ "", "\"\": the moves are", 0, { 0 } },
	{ "hold,", "\"\": the moves are", 0, { 0 } },
	{ "none,hold", "or none alone", 0, { 0 } },
	{ "a=1:hold", "the queue is a number from 1", 0, { 0 } },
};

static void
expect_list(size_t i)
{
	struct soft_moves moves;
	const struct soft_move *last;
	char error[256] = "";
	bool read = soft_moves_read(lists[i].list, &moves, error, sizeof error);

	ck_assert_msg(read == !lists[i].error, "%s: %s", lists[i].list, error);
	ck_assert(moves.given);
	if (lists[i].error) {
		ck_assert_msg(
		    strstr(error, lists[i].error) != NULL, "%s: %s", lists[i].list, error);
		return;
	}
	ck_assert_uint_eq(moves.count, lists[i].count);
	if (!moves.count)
		return;
	last = &moves.moves[moves.count - 1];
	ck_assert_uint_eq(last->queue, lists[i].last.queue);
	ck_assert_int_eq(last->choice, lists[i].last.choice);
	ck_assert_int_eq(last->always, lists[i].last.always);
}

CASE("checker_schedule:schedule");

TEST(read__each_list)
{
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		expect_list(i);
}

TEST(read__as_many_moves_as_fit_and_one_more)
{
	char list[5 * (SOFT_MOVES_LIMIT + 1) + 1] = "", error[256];
	struct soft_moves moves;

	for (int i = 1; i <= SOFT_MOVES_LIMIT + 1; i++) {
		strcat(list, i == 1 ? "hold" : ",late");
		ck_assert_msg(
		    soft_moves_read(list, &moves, error, sizeof error) == (i <= SOFT_MOVES_LIMIT),
		    "%d", i);
	}
	ck_assert_str_eq(error, "more than 64 moves");
}

static const char *
printed(void (*print)(FILE *stream, unsigned int queue, unsigned int bits), unsigned int queue,
    unsigned int bits)
{
	static char text[512];
	FILE *stream = fmemopen(text, sizeof text, "w");

	print(stream, queue, bits);
	fclose(stream);
	return text;
}

static void
print_names(FILE *stream, unsigned int queue, unsigned int bits)
{
	(void)queue;
	soft_moves_print_names(stream, bits);
}

static void
print_all(FILE *stream, unsigned int queue, unsigned int bits)
{
	(void)queue, (void)bits;
	soft_moves_print_all(stream);
}

TEST(print__moves__as_they_are_read)
{
	ck_assert_str_eq(printed(soft_moves_print, 0, BIT(HOLD)), "hold=always");
	ck_assert_str_eq(
	    printed(soft_moves_print, 7, BIT(HOLD) | BIT(AFTER)), "7:hold=always,7:after=always");
	ck_assert_str_eq(printed(print_names, 0, BIT(LATE) | BIT(PAUSE)), "\"late\",\"pause\"");
	ck_assert_str_eq(
	    printed(print_all, 0, 0), "hold,delay,split,late,merge,reorder,pause,after,");
}

/* ---- which moves lead to a report */

TEST(kind__moves_of_the_replay)
{
	const unsigned int all = (1u << SOFT_MOVES) - 1;
	static const struct {
		enum soft_kind kind;
		bool bounded;
		unsigned int added, without;
	} rows[] = {
		{ SOFT_STRANDED, false, 0, 0 },
		{ SOFT_NOT_LOOKED_AT_AGAIN, true, BIT(LATE), BIT(SPLIT) },
		{ SOFT_NOT_LOOKED_AT_AGAIN, false, BIT(HOLD) | BIT(PAUSE),
		    BIT(AFTER) | BIT(LATE) | BIT(MERGE) },
		{ SOFT_SLEEPS_UNARMED, false, BIT(HOLD) | BIT(AFTER), BIT(LATE) },
		{ SOFT_EVENT_UNREAD, false, BIT(LATE), 0 },
	};
	bool listed;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ck_assert_uint_eq(soft_kind_moves(rows[i].kind, 0, rows[i].bounded), rows[i].added);
		ck_assert_uint_eq(
		    soft_kind_moves(rows[i].kind, all, rows[i].bounded), all & ~rows[i].without);
	}
	for (int kind = 0; kind < SOFT_KINDS; kind++) {
		listed = false;
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			listed |= (int)rows[i].kind == kind;
		if (!listed)
			ck_assert_uint_eq(soft_kind_moves((enum soft_kind)kind, all, false), 0);
		ck_assert_int_eq(
		    soft_kind_needs_all_queues((enum soft_kind)kind), kind == SOFT_EVENT_UNREAD);
		ck_assert_int_eq(soft_kind_needs_all_moves((enum soft_kind)kind),
		    kind == SOFT_EVENT_UNREAD || kind == SOFT_STRANDED);
	}
}

/* ---- choices */

static struct soft_schedule
schedule_of(const char *list, uint64_t seed, unsigned int queue)
{
	struct soft_moves moves = { 0 };
	struct soft_schedule schedule;
	char error[256];

	if (list)
		ck_assert(soft_moves_read(list, &moves, error, sizeof error));
	soft_schedule_init(&schedule, seed, queue, &moves);
	return schedule;
}

TEST(list__chooses_what_is_by_seed_always_and_never)
{
	static const struct {
		const char *list;
		unsigned int queue;
		enum soft_bias hold, late;
	} rows[] = {
		{ NULL, 1, SOFT_BY_SEED, SOFT_BY_SEED },
		{ "none", 1, SOFT_NEVER, SOFT_NEVER },
		{ "hold", 1, SOFT_BY_SEED, SOFT_NEVER },
		{ "hold=always", 5, SOFT_ALWAYS, SOFT_NEVER },
		{ "2:hold=always,late", 1, SOFT_NEVER, SOFT_BY_SEED },
		{ "2:hold=always,late", 2, SOFT_ALWAYS, SOFT_BY_SEED },
		{ "hold,2:hold=always", 2, SOFT_ALWAYS, SOFT_NEVER },
		{ "2:hold=always,hold", 2, SOFT_ALWAYS, SOFT_NEVER },
		{ "2:hold=always,hold", 1, SOFT_BY_SEED, SOFT_NEVER },
		{ "12:late", 2, SOFT_NEVER, SOFT_NEVER },
	};
	struct soft_schedule schedule;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		schedule = schedule_of(rows[i].list, 3, rows[i].queue);
		ck_assert_msg(schedule.bias[SOFT_CHOOSE_HOLD] == rows[i].hold &&
				  schedule.bias[SOFT_CHOOSE_LATE] == rows[i].late,
		    "row %zu", i);
		/* No list names it. */
		ck_assert_int_eq(schedule.bias[SOFT_CHOOSE_FAIL], SOFT_BY_SEED);
		ck_assert_int_eq(
		    soft_schedule_allows(&schedule, SOFT_CHOOSE_HOLD), rows[i].hold != SOFT_NEVER);
		for (int n = 0; n < 100; n++) {
			if (rows[i].hold == SOFT_NEVER)
				ck_assert_uint_eq(
				    soft_schedule_choose(&schedule, SOFT_CHOOSE_HOLD), 0);
			if (rows[i].hold == SOFT_ALWAYS)
				ck_assert_uint_ne(
				    soft_schedule_choose(&schedule, SOFT_CHOOSE_HOLD), 0);
		}
	}
}

/*
 * The n-th choice of a kind is a function of the seed, the queue, the kind and n, and of each of
 * them.
 */
TEST(choose__the_same_for_the_same__whatever_the_order)
{
	struct soft_schedule a = schedule_of(NULL, 5, 2), b = a, seed = schedule_of(NULL, 6, 2),
			     queue = schedule_of(NULL, 5, 3);
	uint32_t late[100], hold[100];
	int other_seed = 0, other_queue = 0, other_kind = 0;

	for (int i = 0; i < 100; i++) {
		late[i] = soft_schedule_choose(&a, SOFT_CHOOSE_LATE);
		hold[i] = soft_schedule_choose(&a, SOFT_CHOOSE_HOLD);
		other_seed += soft_schedule_choose(&seed, SOFT_CHOOSE_LATE) != late[i];
		other_queue += soft_schedule_choose(&queue, SOFT_CHOOSE_LATE) != late[i];
		other_kind += hold[i] != late[i];
	}
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(soft_schedule_choose(&b, SOFT_CHOOSE_HOLD), hold[i]);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(soft_schedule_choose(&b, SOFT_CHOOSE_LATE), late[i]);
	ck_assert(other_seed > 10 && other_queue > 10 && other_kind > 10);
}

#define QUEUES 400
#define KEEN 200

/*
 * The first 200 choices: 3, 8, 13 or 16 of 16 are yes, and of "after" 1, 2, 4 or 5.  From the 201st
 * on, one of 16 of them.  Of many queues each habit is had by about a quarter.
 */
TEST_LOOP(choose__habits__and_fewer_after_200, SOFT_CHOICES)
{
	static const int habits[2][4] = { { 3, 8, 13, 16 }, { 1, 2, 4, 5 } };
	const bool after = _i == SOFT_CHOOSE_AFTER;
	const enum soft_choice kind = (enum soft_choice)_i;
	int with[4] = { 0 }, always_later = 0, yes, best;
	struct soft_schedule schedule;
	double rate, distance;

	for (unsigned int queue = 1; queue <= QUEUES; queue++) {
		schedule = schedule_of(NULL, 1, queue);
		yes = 0;
		for (int n = 1; n <= KEEN; n++)
			yes += soft_schedule_choose(&schedule, kind) != 0;
		rate = 16.0 * yes / KEEN;
		best = 0;
		distance = 16;
		for (int i = 0; i < 4; i++)
			if ((rate > habits[after][i] ? rate - habits[after][i] :
						       habits[after][i] - rate) < distance) {
				best = i;
				distance = rate > habits[after][i] ? rate - habits[after][i] :
								     habits[after][i] - rate;
			}
		with[best]++;
		ck_assert_msg(distance < 2.5, "queue %u: %f of 16", queue, rate);
		if (after || best != 3)
			continue;
		/* Such a queue says yes each time. */
		ck_assert_int_eq(yes, KEEN);
		always_later += soft_schedule_choose(&schedule, kind) != 0;
	}
	for (int i = 0; i < 4; i++)
		ck_assert_msg(with[i] > QUEUES / 8, "habit %d: %d queues", i, with[i]);
	/* The 201st: of about 100 queues, about 6. */
	if (!after)
		ck_assert_msg(always_later < 25, "%d", always_later);
}

TEST(time__from_1_to_the_most__and_an_eighth_after_200)
{
	struct soft_schedule schedule = schedule_of(NULL, 1, 1);
	const struct soft_schedule always =
	    schedule_of("hold=always,late=always,pause=always", 1, 1);
	uint64_t least, most;

	for (int n = 0; n <= KEEN + 1; n++) {
		least = soft_schedule_time(&schedule, SOFT_CHOOSE_HOLD, 0, 800);
		most = soft_schedule_time(&schedule, SOFT_CHOOSE_HOLD, 800 * 8 - 1, 800);
		ck_assert_uint_eq(least, 1);
		ck_assert_uint_eq(most, n <= KEEN ? 800 : 100);
		(void)soft_schedule_choose(&schedule, SOFT_CHOOSE_HOLD);
	}
	ck_assert_uint_eq(soft_schedule_time(&schedule, SOFT_CHOOSE_HOLD, 7, 800), 8);
	/*
	 * Always made: as long as can be, a pause longer still; but events of two queues must meet.
	 */
	ck_assert_uint_eq(soft_schedule_time(&always, SOFT_CHOOSE_HOLD, 7, 800), 800);
	ck_assert_uint_eq(soft_schedule_time(&always, SOFT_CHOOSE_PAUSE, 7, 800), 8000);
	ck_assert_uint_eq(soft_schedule_time(&always, SOFT_CHOOSE_LATE, 7, 800), 8);
}

/* ---- settings, which softverbs-run has written */

TEST(settings__each_variable__is_its_own_setting)
{
	struct soft_check_settings *settings = &soft_check_settings;

	unsetenv("SOFTVERBS_CHECK");
	ck_assert(!soft_check_settings_read());
	setenv("SOFTVERBS_CHECK", "", 1);
	ck_assert(!soft_check_settings_read());
	setenv("SOFTVERBS_CHECK", "text", 1);
	ck_assert(soft_check_settings_read());
	ck_assert(!settings->json && !settings->arms_fail && !settings->moves.given);
	ck_assert_uint_eq(settings->seed, 1);
	ck_assert_uint_eq(settings->stranded_after, 2 * SOFT_SECOND);
	ck_assert_uint_eq(settings->timeout, 60ull * SOFT_SECOND);
	ck_assert(!settings->report && !settings->replay && !settings->program);
	setenv("SOFTVERBS_CHECK", "json", 1);
	setenv("SOFTVERBS_CHECK_SEED", "18446744073709551614", 1);
	setenv("SOFTVERBS_CHECK_STRANDED", "0.25", 1);
	setenv("SOFTVERBS_CHECK_TIMEOUT", "3.5", 1);
	setenv("SOFTVERBS_CHECK_ARM", "1", 1);
	setenv("SOFTVERBS_CHECK_REPORT", "the report", 1);
	setenv("SOFTVERBS_CHECK_REPLAY", "the replay", 1);
	setenv("SOFTVERBS_CHECK_PROGRAM", "the program", 1);
	setenv("SOFTVERBS_CHECK_SCHEDULE", "late,3:pause=always", 1);
	ck_assert(soft_check_settings_read());
	unsetenv("SOFTVERBS_CHECK_REPORT");
	ck_assert(settings->json && settings->arms_fail);
	ck_assert_uint_eq(settings->seed, 18446744073709551614u);
	ck_assert_uint_eq(settings->stranded_after, SOFT_SECOND / 4);
	ck_assert_uint_eq(settings->timeout, 7ull * SOFT_SECOND / 2);
	ck_assert_str_eq(settings->report, "the report");
	ck_assert_str_eq(settings->replay, "the replay");
	ck_assert_str_eq(settings->program, "the program");
	ck_assert(settings->moves.given);
	ck_assert_uint_eq(settings->moves.count, 2);
	/* 0 is a time, and the setting of no arms that fail. */
	setenv("SOFTVERBS_CHECK_TIMEOUT", "0", 1);
	setenv("SOFTVERBS_CHECK_ARM", "0", 1);
	ck_assert(soft_check_settings_read());
	ck_assert_uint_eq(settings->timeout, 0);
	ck_assert(!settings->arms_fail);
}

/* ---- words of a command */

TEST(word__its_size__is_never_less_than_what_is_printed)
{
	char word[4] = "", text[64];
	FILE *stream;

	for (int first = 1; first < 256; first++)
		for (int second = 0; second < 256; second++) {
			word[0] = (char)first;
			word[1] = (char)second;
			stream = fmemopen(text, sizeof text, "w");
			soft_word_print(stream, word);
			fclose(stream);
			ck_assert_msg(strlen(text) <= soft_word_size(word), "\\%o\\%o: %s", first,
			    second, text);
		}
	ck_assert_uint_ge(soft_word_size(""), 2);
}

/*
 * Each form that a shell needs: as it is, quoted, and with escapes, which have three digits
 * whatever follows.
 */
static const struct {
	const char *word, *printed;
} forms[] = {
	{ "a-b_c/%+,.:=@", "a-b_c/%+,.:=@" },
	{ "", "''" },
	{ "~", "'~'" },
	{ "a b", "'a b'" },
	{ "a'b", "'a'\\''b'" },
	{ "a\t5", "$'a\\0115'" },
	{ "\001'\\\377", "$'\\001\\'\\\\\\377'" },
};

TEST_LOOP(word__each_form__is_printed_as_a_shell_reads_it, sizeof forms / sizeof forms[0])
{
	char text[64];
	FILE *stream = fmemopen(text, sizeof text, "w");

	soft_word_print(stream, forms[_i].word);
	fclose(stream);
	ck_assert_str_eq(text, forms[_i].printed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many records and many registrations: what a call costs is in proportion to them
 *
 * Costs are times of the processor, the least of several, so that other work on the machine does
 * not count.  What is in proportion costs MORE times as much for MORE times as many, or some times
 * that, when the caches of the processor are full; what looks through all of them for each costs
 * MORE * MORE times as much.
 */
#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FEW = 500, MORE = 32, TIMES = 3 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In a process of its own: the registry reads one dat.conf in its life. */
static double
cost_once(void (*prepare)(int n), void (*work)(int n), int n)
{
	double used = 0, begin;
	int ends[2], status;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prepare(n);
		begin = now();
		work(n);
		used = now() - begin;
		_exit(write(ends[1], &used, sizeof used) == sizeof used ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(ends[0], &used, sizeof used), sizeof used);
	close(ends[0]);
	close(ends[1]);
	return used;
}

static double
cost(void (*prepare)(int n), void (*work)(int n), int n)
{
	double least = cost_once(prepare, work, n), used;
	int i;

	for (i = 1; i < TIMES; i++) {
		used = cost_once(prepare, work, n);
		if (used < least)
			least = used;
	}
	return least;
}

static void
assert_in_proportion(void (*prepare)(int n), void (*work)(int n))
{
	double few = cost(prepare, work, FEW), many = cost(prepare, work, FEW * MORE);

	ck_assert_msg(many < few * MORE * 8, "%d cost %g s, %d cost %g s: %g times as much", FEW,
	    few, FEW * MORE, many, many / few);
}

/* ---- the file ---- */

static DAT_PROVIDER_INFO *infos, **list;

static void
write_records(const char *format, int n)
{
	char *text = malloc((size_t)n * 64), *end = text;

	infos = calloc((size_t)n, sizeof *infos);
	list = calloc((size_t)n, sizeof *list);
	if (text == NULL || infos == NULL || list == NULL)
		abort();
	for (int i = 0; i < n; i++) {
		end += sprintf(end, format, i);
		end += sprintf(end, " threadsafe default l i.2.0 \"\" \"\"\n");
		list[i] = &infos[i];
	}
	story_conf_raw(text, (size_t)(end - text));
	free(text);
}

static void
prepare_names(int n)
{
	write_records("name%d u2.0", n);
}

static void
prepare_versions(int n)
{
	write_records("name u2.%d", n);
}

static void
list_all(int n)
{
	DAT_COUNT count = -1;

	if (dat_registry_list_providers(n, &count, list) != DAT_SUCCESS || count != n)
		abort();
}

STORY_CASE("many:many");

/* origin: attack.P11 */
TEST(list__many_names__costs_in_proportion)
{
	assert_in_proportion(prepare_names, list_all);
}

/* origin: attack.P11 */
TEST(list__many_versions_of_a_name__costs_in_proportion)
{
	assert_in_proportion(prepare_versions, list_all);
}

static void
relate_all(int n)
{
	DAT_HA_RELATIONSHIP answer;

	for (int i = 0; i < n; i++)
		if (dat_registry_providers_related(infos[i].ia_name, infos[i].ia_name, &answer) !=
			DAT_SUCCESS ||
		    answer != DAT_HA_TRUE)
			abort();
}

static void
prepare_and_list(int n)
{
	prepare_names(n);
	list_all(n);
}

/* origin: attack.P11 */
TEST(name__looked_up_among_many__costs_in_proportion)
{
	assert_in_proportion(prepare_and_list, relate_all);
}

/* ---- registrations ---- */

static DAT_RETURN
no_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	(void)name;
	(void)qlen;
	(void)evd;
	(void)ia;
	return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
}

static void
prepare_nothing(int n)
{
	(void)n;
	story_conf("");
}

static void
register_all(int n)
{
	static DAT_PROVIDER table = { .device_name = "own", .ia_open_func = no_open };
	DAT_PROVIDER_INFO info = { .dapl_version_major = 2 };
	int i;

	for (i = 0; i < n; i++) {
		sprintf(info.ia_name, "own%d", i);
		if (dat_registry_add_provider(&table, &info) != DAT_SUCCESS)
			abort();
	}
	for (i = 0; i < n; i++) {
		sprintf(info.ia_name, "own%d", i);
		if (dat_registry_remove_provider(&table, &info) != DAT_SUCCESS)
			abort();
	}
}

/* origin: attack.P11 */
TEST(register__many_keys__costs_in_proportion)
{
	assert_in_proportion(prepare_nothing, register_all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plot -- the latencies by percentile, as gnuplot draws them: the tail has as much room as the
 * middle
 */
#include "report.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* gnuplot with its output in the file; returns where its commands go. */
static FILE *
plot_start(const char *name, pid_t *pid)
{
	const int out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *commands;
	int ends[2];

	if (out < 0)
		fail_errno(name);
	if (pipe2(ends, O_CLOEXEC))
		fail_errno("pipe");
	signal(SIGPIPE, SIG_IGN);
	/* A parent that ignores it hands that down, and no child would leave its status. */
	signal(SIGCHLD, SIG_DFL);
	*pid = fork();
	if (*pid < 0)
		fail_errno("fork");
	if (*pid == 0) {
		if (dup2(ends[0], STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
			execlp("gnuplot", "gnuplot", "-", (char *)NULL);
		fprintf(stderr, "dat_perf: gnuplot: %s\n", strerror(errno));
		_exit(127);
	}
	close(ends[0]);
	close(out);
	commands = fdopen(ends[1], "w");
	if (!commands)
		fail_errno("fdopen");
	return commands;
}

/* A point for each bucket: how many of all latencies are longer, as a share. */
static void
plot_points(FILE *commands, const struct histogram *h)
{
	uint64_t seen = 0;

	fprintf(commands, "$latencies << END\n");
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t end = histogram_bucket_end(i);

		if (!h->buckets[i])
			continue;
		fprintf(commands, "%g %g\n", (double)h->count / (double)(h->count - seen),
		    (double)(end < h->max ? end : h->max) / 1e3);
		seen += h->buckets[i];
	}
	fprintf(commands, "END\n");
}

void
report_plot(const char *name, const struct options *options, const struct histogram *h)
{
	const struct load *load = &options->load;
	FILE *commands;
	int status;
	pid_t pid;

	commands = plot_start(name, &pid);
	plot_points(commands, h);
	fprintf(commands,
	    "set terminal svg size 800,480 dynamic enhanced background 'white'\n"
	    "set title '%s of %s, %u bytes, depth %u, events by %s, %s' noenhanced\n"
	    "set xlabel 'percentile'\nset ylabel 'latency, us'\nset logscale xy\nset grid\n"
	    "set key off\n"
	    "set xtics ('0' 1, '50' 2, '90' 10, '99' 100, '99.9' 1e3, '99.99' 1e4, '99.999' 1e5, "
	    "'99.9999' 1e6, '99.99999' 1e7)\n"
	    "plot $latencies with steps linewidth 2\n",
	    load_traffics[load->traffic], load_operations[load->operation], load->size, load->depth,
	    load_consumers[load->consumer], options->engine->name);
	if (fclose(commands) || waitpid(pid, &status, 0) != pid || status)
		fail("gnuplot has failed: there is no plot");
}

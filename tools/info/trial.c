/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"
#include "adapter.h"
#include "lines.h"
#include "output.h"
#include "text.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long an adapter may take to open: looking up a host name can take a while. */
enum { OPEN_SECONDS = 60 };

static json_t *
trial_make(const char *name, const bool *thread_safe)
{
	json_t *trial = json_object();
	struct adapter adapter = { 0 };
	const char *call;
	DAT_RETURN ret;

	ret = adapter_open(&adapter, name, thread_safe, &call);
	json_object_set_new(trial, "opens", json_boolean(ret == DAT_SUCCESS));
	json_object_set_new(
	    trial, "lines", ret == DAT_SUCCESS ? lines_take_errors() : lines_explain(call, ret));
	json_object_set_new(trial, "notes", lines_take_notes());
	if (ret != DAT_SUCCESS)
		return trial;
	json_object_set_new(trial, "device", text_json(adapter.ia_attr.adapter_name));
	adapter_close(&adapter);
	return trial;
}

/* What ended the process before it reported. */
static json_t *
trial_explain_end(const char *name, const char *library, int status)
{
	const char *of = library == NULL ? "the library of " : "";
	const char *culprit = library == NULL ? name : library;

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return text_format(
		    "%s%s does not open the adapter within %d seconds", of, culprit, OPEN_SECONDS);
	if (WIFSIGNALED(status))
		return text_format(
		    "%s%s ends the program: %s", of, culprit, strsignal(WTERMSIG(status)));
	return text_format("%s%s ends the program", of, culprit);
}

static void __attribute__((noreturn)) trial_run(const char *name, const bool *thread_safe, int end)
{
	sigset_t time_is_up;
	json_t *trial;

	/* Whatever this program was started with. */
	sigemptyset(&time_is_up);
	sigaddset(&time_is_up, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &time_is_up, NULL);
	(void)signal(SIGALRM, SIG_DFL);
	alarm(OPEN_SECONDS);
	trial = trial_make(name, thread_safe);
	fflush(stdout);
	_exit(json_dumpfd(trial, end, 0) == 0 ? 0 : 1);
}

/* In this process if there can be no other. */
static json_t *
trial_make_apart(const char *name, const bool *thread_safe, const char *library)
{
	int ends[2] = { -1, -1 }, status;
	pid_t child = -1;
	json_t *trial;

	/* A parent that ignores it hands that down, and no child would leave its status. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (pipe2(ends, O_CLOEXEC) == 0)
		child = fork();
	if (child < 0) {
		if (ends[0] >= 0) {
			close(ends[0]);
			close(ends[1]);
		}
		return trial_make(name, thread_safe);
	}
	if (child == 0)
		trial_run(name, thread_safe, ends[1]);
	close(ends[1]);
	trial = json_loadfd(ends[0], 0, NULL);
	close(ends[0]);
	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	if (trial == NULL)
		trial = json_pack("{s:b, s:[o], s:[]}", "opens", 0, "lines",
		    trial_explain_end(name, library, status), "notes");
	return trial;
}

json_t *
trial_report(const char *name, const bool *thread_safe, const char *library)
{
	json_t *trial;

	output_begin();
	trial = trial_make_apart(name, thread_safe, library);
	json_object_set_new(trial, "output", output_end());
	return trial;
}

bool
trial_opens(const json_t *trial)
{
	return json_is_true(json_object_get(trial, "opens"));
}

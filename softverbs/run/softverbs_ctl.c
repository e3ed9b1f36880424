/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softverbs-ctl -- commands the processes of softverbs-run --control
 *
 * Each command but "list" and "dump" is a rule of faults.md that holds now.
 */
#include <config.h>

#include "say.h"
#include "streams.h"
#include "softverbs/softverbs_ctl.h"

#include <argp.h>
#include <stdbool.h>

#define FAILED 1
#define USAGE 2

const char *argp_program_version = "softverbs-ctl (" PACKAGE_NAME ") " PACKAGE_VERSION;

/* What the argument of a command stands for. */
enum kind { NOTHING, RULES, PORT, DEVICE, PEER, CONNECTION };

static const struct command {
	const char *name, *rule;
	enum kind kind;
} commands[] = {
	{ "list", NULL, NOTHING },
	{ "dump", NULL, NOTHING },
	{ "do", "", RULES },
	{ "fail", "", RULES },
	{ "down", "event.port_err", PORT },
	{ "up", "event.port_active", PORT },
	{ "remove", "cm.device_removal", DEVICE },
	{ "add", "device.arrival", DEVICE },
	{ "cut", "link.cut", PEER },
	{ "heal", "link.heal", NOTHING },
	{ "drop", "cm.disconnected", CONNECTION },
};

static const char *process;

static const struct argp_option options[] = {
	{ "process", 'p', "PROCESS", 0,
	    "Only those with this number, with this name of the run, or with this command", 0 },
	{ 0 },
};

static char **words;

/* The process that there is not. */
static const char *process_of_error;

/* ---- what a command asks for ---- */

static const struct command *
ctl_find(const char *name, struct argp_state *state)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	soft_wrong(state, "%s: no command", name);
}

/* The slot of a process, by which others know it; 0 if there is none. */
static unsigned long
ctl_slot(const char *peer)
{
	unsigned long number = 0;
	char *dump = NULL, *slot;

	/* Another process may have no answer. */
	(void)softverbs_ctl(peer, "dump", &dump);
	slot = dump ? strstr(dump, "\"slot\":") : NULL;
	if (slot)
		number = strtoul(slot + strlen("\"slot\":"), NULL, 10);
	free(dump);
	return number;
}

/* The parts of a rule that the argument stands for; false if it is no process. */
static bool
ctl_write(FILE *stream, enum kind kind, const char *word)
{
	const size_t length = strcspn(word, "/");
	const unsigned long slot = kind == PEER && !strchr(word, '=') ? ctl_slot(word) : 0;

	if (kind == PORT || kind == DEVICE)
		fprintf(stream, ":device=%.*s", (int)length, word);
	if (kind == PORT && word[length])
		fprintf(stream, ":port=%s", word + length + 1);
	if (kind == CONNECTION)
		fprintf(stream, ":of=%s", word);
	if (kind == RULES)
		fprintf(stream, "%s,", word);
	if (kind == PEER && strchr(word, '='))
		fprintf(stream, ":%s", word);
	else if (slot)
		fprintf(stream, ":peer=slot%lu", slot);
	else if (kind == PEER)
		return false;
	return true;
}

/* NULL with errno. */
static char *
ctl_request(const struct command *command)
{
	char *request = NULL;
	bool good = true;
	size_t size = 0;
	FILE *stream = open_memstream(&request, &size);

	if (!stream)
		return NULL;
	if (command->rule)
		fprintf(stream, "do %s", command->rule);
	else
		fputs("dump", stream);
	for (char **word = words + 1; good && *word; word++) {
		process_of_error = *word;
		good = ctl_write(stream, command->kind, *word);
	}
	if (fclose(stream))
		return NULL;
	errno = ESRCH;
	return good ? request : NULL;
}

static void
ctl_check(const struct command *command, struct argp_state *state)
{
	unsigned int count = 0;

	while (words[count + 1])
		count++;
	if (command->kind == RULES && !count)
		soft_wrong(state, "%s: no rule; write one as ibv_reg_mr, or as link.cut", words[0]);
	if (command->kind == NOTHING && count)
		soft_wrong(state, "%s takes no %s", words[0], words[1]);
	if (command->kind != RULES && command->kind != PEER && count > 1)
		soft_wrong(state, "%s: %s is one argument too many", words[0], words[2]);
}

static error_t
ctl_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		process = arg;
		return 0;
	case ARGP_KEY_ARGS:
		words = state->argv + state->next;
		ctl_check(ctl_find(words[0], state), state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		soft_wrong(state, "no command");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = ctl_parse,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc =
	    "List or change what processes of softverbs-run --control have, now."
	    "\vCommands:\n"
	    "\n"
	    "  list                    processes, devices, ports, queue pairs, ids\n"
	    "  dump                    the same as JSON\n"
	    "  fail CALL[:errno=NAME]  the next call fails; or completion.send...\n"
	    "  down, up [DEVICE[/PORT]]\n"
	    "                          the port is down, or active again\n"
	    "  remove, add [DEVICE]    the device is removed, or arrives again\n"
	    "  cut [PEER] [way=in|way=out]\n"
	    "                          no message passes between the process and others\n"
	    "  heal                    all messages pass again\n"
	    "  drop [N]                the Nth id is disconnected\n"
	    "  do RULE...              what a rule of --faults says, now\n"
	    "\n"
	    "The exit status is 0 if a process has done it, 1 if none has, or one has refused it, "
	    "2 for a wrong command.",
};

/* ---- what is printed ---- */

/* An object of JSON, as softverbs_ctl() has let it pass, as words "key=value". */
static void
ctl_print_words(const char *line, size_t length)
{
	bool quoted = false;

	for (const char *c = line; c < line + length; c++) {
		if (*c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (*c == '{' || *c == '}'))
			continue;
		if (!quoted && (*c == ':' || *c == ','))
			putchar(*c == ',' ? ' ' : '=');
		else
			putchar(*c == '\\' && (c[1] == '"' || c[1] == '\\') ? *++c : *c);
	}
	putchar('\n');
}

/* Each line of the text ends. */
static void
ctl_print_answer(const char *text, bool json)
{
	const char *end;

	for (const char *line = text; *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (json) {
			printf("%s%.*s", line == text ? "[\n" : ",\n", (int)(end - line), line);
		} else {
			fputs(strncmp(line, "{\"process\"", 10) ? "  " : "", stdout);
			ctl_print_words(line, (size_t)(end - line));
		}
		if (!*end)
			break;
	}
	if (json)
		fputs("\n]\n", stdout);
}

static void
ctl_print_error(const char *answer)
{
	const char *who = process_of_error ? process_of_error : "";

	if (errno == ESRCH)
		soft_say("softverbs-ctl: no process%s%s of softverbs-run --control has made a call "
			 "here",
		    *who ? " " : "", who);
	else if (errno == EINVAL && answer && *answer)
		/* The others say the same. */
		soft_say("softverbs-ctl: %.*s", (int)strcspn(answer, "\n"), answer);
	else if (errno == ETIMEDOUT)
		soft_say("softverbs-ctl: a process has not answered for %d seconds",
		    SOFTVERBS_CTL_PATIENCE);
	else if (errno == EPROTO)
		soft_say("softverbs-ctl: what a process has answered is no answer, or too long");
	else
		soft_say("softverbs-ctl: %s%s%s", who, *who ? ": " : "", strerror(errno));
}

/* Also of the help and the version, which argp_parse() prints before it ends the process. */
static void
ctl_check_written(void)
{
	if (soft_streams_flush())
		return;
	fprintf(stderr, "softverbs-ctl: standard output: %s\n",
	    errno ? strerror(errno) : "it cannot be written");
	_exit(FAILED);
}

int
main(int argc, char **argv)
{
	const struct command *command;
	char *request, *answer = NULL;
	bool failed;
	int error;

	soft_streams_open();
	argp_err_exit_status = USAGE;
	if (atexit(ctl_check_written))
		return FAILED;
	soft_say_begin("softverbs-ctl");
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL))
		return USAGE;
	soft_say_end();
	command = ctl_find(words[0], NULL);
	request = ctl_request(command);
	if (request)
		process_of_error = process;
	failed = !request || softverbs_ctl(process, request, &answer) < 0;
	error = errno;
	/* The others have answered. */
	if (!command->rule && answer && *answer)
		ctl_print_answer(answer, !strcmp(command->name, "dump"));
	errno = error;
	if (failed)
		ctl_print_error(answer);
	free(request);
	free(answer);
	return failed ? FAILED : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "stub_provider.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* As every handle: the table comes first. */
struct object {
	DAT_PROVIDER *table;
	struct object *ia; /* NULL: this is one */
	DAT_EVD_HANDLE evd;
};

/* One for each of init's calls that has not had its fini. */
struct load {
	struct load *next;
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER table;
	char params[256];
	DAT_IA_HANDLE held; /* of "hold=" */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct load *loads;

static void
trace(const char *line)
{
	const char *path = getenv("STUB_TRACE");
	FILE *out = path != NULL ? fopen(path, "ae") : NULL;

	if (out == NULL)
		return;
	fprintf(out, "%s\n", line);
	fclose(out);
}

static bool
wants(const char *params, const char *word)
{
	const char *at = strstr(params, word);
	size_t n = strlen(word);

	return at != NULL && (at[n] == '\0' || at[n] == ' ' || word[n - 1] == '=');
}

static void
dawdle(const struct load *load)
{
	const struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };

	if (wants(load->params, "slow"))
		nanosleep(&moment, NULL);
}

/* The thread stays here until the test lets it go; nothing stays once the other side is closed. */
static void
pass_gate(const struct load *load, const char *word)
{
	const char *at = strstr(load->params, word);
	char byte = 0;
	int fd;

	if (at == NULL)
		return;
	fd = atoi(at + strlen(word));
	if (send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
		(void)!recv(fd, &byte, 1, 0);
}

/* The load whose table a handle has in its first word. */
static struct load *
load_of(void *handle)
{
	DAT_PROVIDER *table = *(DAT_PROVIDER **)handle;

	return (struct load *)((char *)table - offsetof(struct load, table));
}

/* The number of an IA is looked up under a lock, with which no thread may be cancelled. */
static const char *
name_of(const struct object *object)
{
	int state;

	if (object->ia != NULL)
		return "OBJECT";
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state == PTHREAD_CANCEL_DISABLE ? "IA" : "IA of a thread that can be cancelled";
}

void
stub_note(const char *name, const DAT_UINT64 *values, int count)
{
	char line[512];
	int i, n;

	n = snprintf(
	    line, sizeof line, "%s %s", name, name_of((struct object *)(uintptr_t)values[0]));
	for (i = 1; i < count; i++)
		n += snprintf(
		    line + n, sizeof line - (size_t)n, " 0x%llx", (unsigned long long)values[i]);
	trace(line);
}

static DAT_RETURN
stub_ia_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	struct object *object, *queue;
	struct load *load;
	char line[400];

	snprintf(line, sizeof line, "open %s %d", name, qlen);
	trace(line);
	pthread_mutex_lock(&lock);
	for (load = loads; load != NULL; load = load->next)
		if (strcmp(load->info.ia_name, name) == 0 || wants(load->params, "also="))
			break;
	pthread_mutex_unlock(&lock);
	if (load == NULL)
		return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	if (wants(load->params, "noopen"))
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
	if (wants(load->params, "nohandle"))
		return DAT_SUCCESS;
	object = calloc(1, sizeof *object);
	queue = calloc(1, sizeof *queue);
	if (object == NULL || queue == NULL)
		abort();
	object->table = queue->table = &load->table;
	queue->ia = object;
	object->evd = queue;
	*evd = queue;
	*ia = object;
	return DAT_SUCCESS;
}

/* The number that a provider gets for its IA must be the program's. */
static void
trace_number(struct object *object)
{
	DAT_IA_HANDLE number = NULL;
	char line[64];

	if (getenv("STUB_TRACE") == NULL)
		return;
	if (dats_get_ia_handle(object, &number) != DAT_SUCCESS)
		trace("query number unknown");
	snprintf(line, sizeof line, "query number %lu", DAT_IA_HANDLE_TO_UL(number));
	trace(line);
}

static DAT_RETURN
stub_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd, DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
    DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr)
{
	struct object *object = ia;
	struct load *load = load_of(ia);

	trace_number(object);
	if (evd != NULL)
		*evd = object->evd;
	if (ia_mask != 0 && ia_attr != NULL) {
		memset(ia_attr, 0, sizeof *ia_attr);
		if (wants(load->params, "extension"))
			ia_attr->extension_supported = DAT_EXTENSION_IB;
	}
	/* Not what it was registered with: the registry has to know better. */
	if (provider_mask != 0 && provider_attr != NULL)
		provider_attr->dapl_version_major = 77;
	return DAT_SUCCESS;
}

static DAT_RETURN
stub_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	struct object *object = ia;

	trace(flags == DAT_CLOSE_GRACEFUL_FLAG ? "close graceful" : "close abrupt");
	if (flags == DAT_CLOSE_GRACEFUL_FLAG && wants(load_of(ia)->params, "busy"))
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
	free(object->evd);
	free(object);
	return DAT_SUCCESS;
}

static DAT_RETURN
stub_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer)
{
	NOTE("ia_ha_related", NOTE_POINTER(ia), NOTE_POINTER(name), NOTE_POINTER(answer));
	return DAT_SUCCESS;
}

/*
 * Opens by name, closes, gracefully by an odd operation; of any other it notes the first argument
 * as an int.
 */
static DAT_RETURN
stub_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	DAT_EVD_HANDLE evd = NULL;
	DAT_NAME_PTR name;

	if (op == DAT_OPEN_EXTENSION_BASE) {
		name = va_arg(args, DAT_NAME_PTR);
		return stub_ia_open(name, 1, &evd, va_arg(args, DAT_IA_HANDLE *));
	}
	if (op & DAT_CLOSE_EXTENSION_BASE)
		return stub_ia_close(
		    handle, op & 1 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG);
	NOTE("extendedop", NOTE_POINTER(handle), (DAT_UINT64)op, (DAT_UINT64)va_arg(args, int));
	return DAT_SUCCESS;
}

/* Registers under the key of `info`, or under another name. */
static void
register_as(struct load *load, const char *name)
{
	DAT_PROVIDER_INFO info = load->info;
	char line[320];

	if (name != NULL)
		snprintf(info.ia_name, sizeof info.ia_name, "%s", name);
	snprintf(line, sizeof line, "add %s %08x", info.ia_name,
	    dat_registry_add_provider(&load->table, &info));
	trace(line);
}

/* The file's own prototypes: the registry finds both by name. */
void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params);
void dat_provider_fini(const DAT_PROVIDER_INFO *info);

static void
register_all(struct load *load)
{
	const char *also = strstr(load->params, "also=");
	char name[DAT_NAME_MAX_LENGTH + 16];

	if (wants(load->params, "silent"))
		return;
	if (wants(load->params, "otherkey")) {
		snprintf(name, sizeof name, "%s-other", load->info.ia_name);
		register_as(load, name);
		return;
	}
	register_as(load, NULL);
	if (wants(load->params, "twice"))
		register_as(load, NULL);
	if (also != NULL) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(also + 5, " "), also + 5);
		register_as(load, name);
	}
}

/* Opens the name behind a word of the parameters: false if the word is not among them. */
static bool
open_another(const struct load *load, const char *word, DAT_IA_HANDLE *ia)
{
	const char *at = strstr(load->params, word);
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	char name[DAT_NAME_MAX_LENGTH], line[320];

	if (at == NULL)
		return false;
	at += strlen(word);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
	snprintf(line, sizeof line, "%s%s %08x", word, name,
	    dat_ia_openv(name, 1, &evd, ia, 2, 0, DAT_TRUE));
	trace(line);
	return true;
}

/* Another thread may have added its own meanwhile. */
static void
load_forget(struct load *load)
{
	struct load **link = &loads;

	pthread_mutex_lock(&lock);
	while (*link != load)
		link = &(*link)->next;
	*link = load->next;
	pthread_mutex_unlock(&lock);
	free(load);
}

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	struct load *load = calloc(1, sizeof *load);
	char line[768];

	if (load == NULL)
		abort();
	load->info = *info;
	snprintf(load->params, sizeof load->params, "%s", params);
	stub_fill_slots(&load->table);
	load->table.device_name = load->info.ia_name;
	load->table.ia_open_func = stub_ia_open;
	load->table.ia_query_func = stub_ia_query;
	load->table.ia_close_func = stub_ia_close;
	load->table.ia_ha_related_func = stub_ia_ha_related;
	load->table.handle_extendedop_func = stub_extendedop;
	if (wants(params, "fewer"))
		load->table.pz_create_func = NULL;
	snprintf(line, sizeof line, "init %s %u.%u %d \"%s\"", info->ia_name,
	    info->dapl_version_major, info->dapl_version_minor, info->is_thread_safe, params);
	trace(line);
	dawdle(load);
	pass_gate(load, "initgate=");
	if (wants(params, "selfopen")) {
		snprintf(line, sizeof line, "selfopen %08x",
		    dat_ia_openv(load->info.ia_name, 1, &evd, &ia, info->dapl_version_major,
			info->dapl_version_minor, info->is_thread_safe));
		trace(line);
	}
	if (open_another(load, "before=", &ia))
		(void)dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
	(void)open_another(load, "hold=", &load->held);
	pthread_mutex_lock(&lock);
	load->next = loads;
	loads = load;
	pthread_mutex_unlock(&lock);
	register_all(load);
	if (wants(params, "silent"))
		load_forget(load);
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	struct load **link, *load;
	const char *also;
	DAT_PROVIDER_INFO other;
	char line[320];

	pthread_mutex_lock(&lock);
	for (link = &loads; memcmp(&(*link)->info, info, sizeof *info) != 0;)
		link = &(*link)->next;
	load = *link;
	*link = load->next;
	pthread_mutex_unlock(&lock);
	snprintf(line, sizeof line, "fini %s", info->ia_name);
	trace(line);
	dawdle(load);
	pass_gate(load, "finigate=");
	also = strstr(load->params, "also=");
	if (!wants(load->params, "forget")) {
		snprintf(line, sizeof line, "remove %08x",
		    dat_registry_remove_provider(&load->table, info));
		trace(line);
		if (also != NULL) {
			other = *info;
			snprintf(other.ia_name, sizeof other.ia_name, "%.*s",
			    (int)strcspn(also + 5, " "), also + 5);
			(void)dat_registry_remove_provider(&load->table, &other);
		}
	}
	if (load->held != DAT_HANDLE_NULL)
		(void)dat_ia_close(load->held, DAT_CLOSE_ABRUPT_FLAG);
	free(load);
}

static void __attribute__((constructor)) loaded(void)
{
	trace("load");
}

static void __attribute__((destructor)) unloaded(void)
{
	trace("unload");
}

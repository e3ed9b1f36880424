/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const soft_object_names[SOFT_OBJECTS] = {
	[SOFT_OBJECT_CONTEXT] = "context",
	[SOFT_OBJECT_PD] = "protection domain",
	[SOFT_OBJECT_TD] = "thread domain",
	[SOFT_OBJECT_MR] = "memory region",
	[SOFT_OBJECT_MW] = "memory window",
	[SOFT_OBJECT_BUFFER] = "buffer",
	[SOFT_OBJECT_COMP_CHANNEL] = "completion channel",
	[SOFT_OBJECT_CQ] = "completion queue",
	[SOFT_OBJECT_SRQ] = "shared receive queue",
	[SOFT_OBJECT_QP] = "queue pair",
	[SOFT_OBJECT_AH] = "address handle",
	[SOFT_OBJECT_EVENT_CHANNEL] = "event channel",
	[SOFT_OBJECT_ID] = "rdma id",
};

static struct soft_record own;
struct soft_record *soft_record = &own;

bool
soft_record_open(const char *path)
{
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	struct stat file;
	void *memory = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size >= (off_t)sizeof own)
		memory = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return false;
	if (((struct soft_record *)memory)->layout != SOFT_RECORD_LAYOUT) {
		munmap(memory, sizeof own);
		return false;
	}
	soft_record = memory;
	return true;
}

void
soft_record_process_name(
    const struct soft_record *record, unsigned int number, char text[SOFT_PROCESS_NAME])
{
	if (record->processes > 1 && number <= SOFT_RECORD_PROCESSES &&
	    record->process[number - 1].named)
		snprintf(text, SOFT_PROCESS_NAME, "%s", record->process[number - 1].name);
	else
		snprintf(text, SOFT_PROCESS_NAME, "%u", number);
}

unsigned int
soft_record_fired(const struct soft_record *record)
{
	const unsigned int undone = record->undone;

	return record->fired - undone;
}

unsigned int
soft_record_left_out(const struct soft_record *record)
{
	const unsigned int undone = record->undone_late, fired = record->fired - undone;

	return fired > SOFT_RECORD_FIRED ? fired - SOFT_RECORD_FIRED : 0;
}

char *
soft_record_rules(const struct soft_record *record)
{
	const unsigned int left_out = soft_record_left_out(record), kept = record->fired;
	char name[SOFT_PROCESS_NAME];
	char *text = NULL;
	size_t size = 0;
	bool some = false;
	FILE *stream;

	if (left_out && !record->commanded)
		return NULL;
	stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (unsigned int i = 0; i < kept && i < SOFT_RECORD_FIRED; i++) {
		const struct soft_recorded_fault *fault = &record->faults[i];

		/* It was undone, or its process was killed while it wrote the line. */
		if (!fault->written)
			continue;
		soft_record_process_name(record, fault->process, name);
		fprintf(stream, "%s%.*s:process=%s%.*s", some ? "," : "", (int)sizeof fault->head,
		    fault->head, name, (int)sizeof fault->tail, fault->tail);
		some = true;
	}
	if (!fclose(stream))
		return text;
	free(text);
	return NULL;
}

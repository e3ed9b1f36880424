/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a topology; topology.md describes it. */
#include "topology_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE_MAX 65536
#define BLANKS " \t\r"
#define DEFAULT "default"

static struct soft_device *
read_add_device(const struct soft_reading *reading, const char *name, unsigned int ports)
{
	struct soft_topology *topology = reading->topology;
	struct soft_device *device;

	for (unsigned int i = 0; i < topology->count; i++)
		if (!strcmp(topology->devices[i].name, name))
			return &topology->devices[i];
	if (topology->count == SOFT_DEVICES_MAX) {
		(void)soft_topology_refuse(reading, "more than %d devices", SOFT_DEVICES_MAX);
		return NULL;
	}
	device = &topology->devices[topology->count++];
	memset(device, 0, sizeof *device);
	memcpy(device->name, name, strlen(name));
	device->attr = soft_device_most;
	device->attr.phys_port_cnt = (uint8_t)ports;
	for (int i = 0; i < SOFT_DEVICE_PORTS_MAX; i++)
		device->ports[i].attr = soft_device_port_most;
	return device;
}

static bool
read_name_is_good(const char *name)
{
	const size_t length = strlen(name);

	if (!isalpha((unsigned char)*name) || length >= SOFT_DEVICE_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	return true;
}

static bool
read_is_reserved(const char *name)
{
	return strcspn(name, "/") == strlen(DEFAULT) && !strncmp(name, DEFAULT, strlen(DEFAULT));
}

/* "2x2", or "2": true with the error left empty if it is not of this form. */
static bool
read_counts(const struct soft_reading *reading, const char *word, bool *is_counts)
{
	unsigned long devices, ports = 1;
	char name[SOFT_DEVICE_NAME_SIZE], *end;

	*is_counts = isdigit((unsigned char)*word);
	if (!*is_counts)
		return true;
	devices = strtoul(word, &end, 10);
	if (*end == 'x' && isdigit((unsigned char)end[1]))
		ports = strtoul(end + 1, &end, 10);
	if (*end || !devices || devices > SOFT_DEVICES_MAX || !ports ||
	    ports > SOFT_DEVICE_PORTS_MAX)
		return soft_topology_refuse(reading,
		    "not DEVICESxPORTS with up to %d devices of up to %d ports", SOFT_DEVICES_MAX,
		    SOFT_DEVICE_PORTS_MAX);
	for (unsigned int i = 0; i < devices; i++) {
		snprintf(name, sizeof name, "soft%u", i);
		if (!read_add_device(reading, name, (unsigned int)ports))
			return false;
	}
	return true;
}

/* One key of a device, or of a port of it; 0 is the device itself. */
static bool
read_value(const struct soft_reading *reading, struct soft_device *device, unsigned int port,
    const char *key, const char *value)
{
	char *copy;
	bool read;

	if (!port)
		return soft_topology_device_value(reading, device, key, value);
	copy = strdup(value); /* lists are cut */
	if (!copy)
		return soft_topology_refuse(reading, "no memory");
	read = soft_topology_port_value(reading, &device->ports[port - 1], key, copy);
	free(copy);
	return read;
}

/* The port behind the slash of "soft0/2": its number, 0 for all of them, or -1. */
static int
read_port_name(const struct soft_reading *reading, const char *text)
{
	uint64_t number;

	if (!strcmp(text, "*"))
		return 0;
	if (!soft_topology_number(reading, "port", text, 1, SOFT_DEVICE_PORTS_MAX, &number))
		return -1;
	return (int)number;
}

/* "soft0 ports=2 ...", "soft0/2 state=down ...", and the same of all devices, or ports: "*". */
static bool
read_statement(struct soft_reading *reading, char *text)
{
	struct soft_topology *topology = reading->topology;
	char *save, *word = strtok_r(text, BLANKS, &save), *slash, *equals;
	unsigned int first = 0, last;
	bool is_counts, all;
	int port = -1;

	if (!word)
		return true;
	reading->where = word;
	if (!read_counts(reading, word, &is_counts))
		return false;
	if (is_counts) {
		word = strtok_r(NULL, BLANKS, &save);
		return !word || soft_topology_refuse(reading,
				    "%.*s: what follows is another statement; put "
				    "a semicolon before it",
				    SOFT_SHOWN, word);
	}
	if (read_is_reserved(word))
		return soft_topology_refuse(reading, "it stands alone, and names no device");
	/* The name stays whole in messages. */
	slash = strchr(word, '/');
	if (slash) {
		port = read_port_name(reading, slash + 1);
		if (port < 0)
			return false;
		*slash = '\0';
	}
	all = !strcmp(word, "*");
	if (!all) {
		struct soft_device *device;

		if (!read_name_is_good(word)) {
			if (slash)
				*slash = '/';
			return soft_topology_refuse(reading,
			    "not a name of a device, which has up to %d "
			    "letters, digits, _, - and . after a letter",
			    SOFT_DEVICE_NAME_SIZE - 1);
		}
		device = read_add_device(reading, word, 1);
		if (!device)
			return false;
		if (port > device->attr.phys_port_cnt)
			device->attr.phys_port_cnt = (uint8_t)port;
		first = (unsigned int)(device - topology->devices);
	}
	if (slash)
		*slash = '/';
	last = all ? topology->count : first + 1;
	if (first == last)
		return soft_topology_refuse(reading, "no device is named before this");
	while ((word = strtok_r(NULL, BLANKS, &save))) {
		equals = strchr(word, '=');
		if (!equals || !equals[1])
			return soft_topology_refuse(
			    reading, "%.*s: not KEY=VALUE", SOFT_SHOWN, word);
		*equals = '\0';
		for (unsigned int d = first; d < last; d++) {
			struct soft_device *device = &topology->devices[d];
			const unsigned int ports = device->attr.phys_port_cnt;

			if (port < 0 && !read_value(reading, device, 0, word, equals + 1))
				return false;
			for (unsigned int p = 1; port >= 0 && p <= ports; p++)
				if ((!port || p == (unsigned int)port) &&
				    !read_value(reading, device, p, word, equals + 1))
					return false;
		}
	}
	return true;
}

static bool
read_is_default(const char *text)
{
	text += strspn(text, BLANKS "\n");
	return !strncmp(text, DEFAULT, strlen(DEFAULT)) &&
	       !text[strlen(DEFAULT) + strspn(text + strlen(DEFAULT), BLANKS "\n")];
}

bool
soft_topology_read(const char *text, struct soft_topology *topology, char *error, size_t size)
{
	struct soft_reading reading = { topology, NULL, error, size };
	char *copy, *statement, *next, *comment;
	bool read = true;

	*error = '\0';
	topology->count = 0;
	topology->plain = read_is_default(text);
	if (topology->plain)
		return read_add_device(&reading, "soft0", 1) && soft_topology_finish(&reading);
	if (strlen(text) >= TEXT_SIZE_MAX)
		return soft_topology_refuse(&reading, "no text of less than 64 KiB");
	copy = strdup(text);
	if (!copy)
		return soft_topology_refuse(&reading, "no memory");
	/* Comments first: they may have semicolons. */
	for (comment = copy; (comment = strchr(comment, '#'));)
		while (*comment && *comment != '\n')
			*comment++ = ' ';
	for (statement = copy; statement && read; statement = next) {
		next = strpbrk(statement, ";\n");
		if (next)
			*next++ = '\0';
		read = read_statement(&reading, statement);
	}
	read = read && soft_topology_finish(&reading);
	free(copy);
	return read;
}

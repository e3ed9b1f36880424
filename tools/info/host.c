/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"
#include "text.h"

#include <arpa/inet.h>
#include <glob.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEVICES "/sys/class/infiniband"
#define DEVICE_FILES "/dev/infiniband/{uverbs*,rdma_cm}"

enum { TEXT_MAX = 1024 };

/* Appends to a text; truncates what does not fit. */
static void __attribute__((format(printf, 2, 3)))
host_add(char text[static TEXT_MAX], const char *format, ...)
{
	const size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, TEXT_MAX - used, format, args);
	va_end(args);
}

/* The first line of a file of the kernel. */
static void
host_read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	*line = '\0';
	if (file == NULL)
		return;
	if (fgets(line, (int)size, file) != NULL)
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

/* " port NUMBER STATE INTERFACE": "1: DOWN" of `state` is a number and a name. */
static void
host_add_port(char text[static TEXT_MAX], const char *folder)
{
	char path[TEXT_MAX], state[64], interface[64];
	const char *name;

	snprintf(path, sizeof path, "%s/state", folder);
	host_read(path, state, sizeof state);
	snprintf(path, sizeof path, "%s/gid_attrs/ndevs/0", folder);
	host_read(path, interface, sizeof interface);
	name = strchr(state, ' ');
	host_add(text, " port %s %s%s%s", strrchr(folder, '/') + 1, name != NULL ? name + 1 : state,
	    *interface != '\0' ? " " : "", interface);
}

json_t *
host_devices(bool *none)
{
	char text[TEXT_MAX] = "", before[TEXT_MAX] = "";
	glob_t ports;
	size_t i;

	*none = glob(DEVICES "/*/ports/*", 0, NULL, &ports) != 0;
	for (i = 0; !*none && i < ports.gl_pathc; i++) {
		const char *device = ports.gl_pathv[i] + strlen(DEVICES "/");
		const int length = (int)strcspn(device, "/");

		if (strncmp(before, device, (size_t)length) != 0)
			host_add(text, "%s%.*s:", i != 0 ? "; " : "", length, device);
		host_add_port(text, ports.gl_pathv[i]);
		snprintf(before, sizeof before, "%.*s", length, device);
	}
	if (!*none)
		globfree(&ports);
	return text_json(*none ? "none; the software device needs none" : text);
}

json_t *
host_forbidden(void)
{
	char text[TEXT_MAX] = "";
	glob_t files;
	size_t i;

	if (glob(DEVICE_FILES, GLOB_BRACE, NULL, &files) != 0)
		return NULL;
	for (i = 0; i < files.gl_pathc; i++)
		if (access(files.gl_pathv[i], R_OK | W_OK) != 0)
			host_add(text, "%s%s", *text != '\0' ? ", " : "", files.gl_pathv[i]);
	globfree(&files);
	return *text != '\0' ? text_format("this user may not open %s", text) : NULL;
}

static void
host_add_address(char text[static TEXT_MAX], const struct sockaddr *address)
{
	char number[INET6_ADDRSTRLEN];
	const socklen_t size = address->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
							       sizeof(struct sockaddr_in6);

	if (getnameinfo(address, size, number, sizeof number, NULL, 0, NI_NUMERICHOST) == 0)
		host_add(text, " %s", number);
}

json_t *
host_interface(const char *where, bool *usable)
{
	bool found = false, up = false, addressed = false;
	char text[TEXT_MAX] = "";
	struct ifaddrs *list, *i;

	*usable = false;
	if (getifaddrs(&list) != 0)
		return text_format("%s", "the interfaces of this host cannot be listed");
	host_add(text, "%s is ", where);
	for (i = list; i != NULL; i = i->ifa_next) {
		if (strcmp(i->ifa_name, where) != 0)
			continue;
		if (!found)
			host_add(text, "%s", (i->ifa_flags & IFF_UP) != 0 ? "up:" : "down");
		found = true;
		up = (i->ifa_flags & IFF_UP) != 0;
		if (i->ifa_addr != NULL &&
		    (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6)) {
			addressed = true;
			host_add_address(text, i->ifa_addr);
		}
	}
	freeifaddrs(list);
	*usable = up && addressed;
	if (found && !addressed)
		host_add(text, "%s no address", up ? "" : ",");
	if (!found)
		host_add(text, "an address or a host name, no interface");
	return text_json(text);
}

/* As ulimit of a shell takes it: memory in KiB. */
static void
host_add_limit(
    char text[static TEXT_MAX], const char *what, char option, __rlimit_resource_t resource)
{
	const bool in_kib = option == 'l' || option == 'v' || option == 'd';
	struct rlimit limit;

	host_add(text, "%s%s ", *text != '\0' ? ", " : "", what);
	if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		host_add(text, "unlimited");
	else
		host_add(text, "%llu%s", (unsigned long long)limit.rlim_cur / (in_kib ? 1024 : 1),
		    in_kib ? " KiB" : "");
	host_add(text, " (ulimit -%c)", option);
}

json_t *
host_limits(void)
{
	char text[TEXT_MAX] = "";

	host_add_limit(text, "locked memory", 'l', RLIMIT_MEMLOCK);
	host_add_limit(text, "descriptors", 'n', RLIMIT_NOFILE);
	if (geteuid() == 0)
		host_add(text, ", threads unlimited (root)");
	else
		host_add_limit(text, "threads of this user", 'u', RLIMIT_NPROC);
	host_add_limit(text, "address space", 'v', RLIMIT_AS);
	host_add_limit(text, "data", 'd', RLIMIT_DATA);
	return text_json(text);
}

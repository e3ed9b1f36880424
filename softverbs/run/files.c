/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"
#include "parent.h"
#include "say.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASS "sys/class/infiniband"
#define DEVICES "dev/infiniband"
/* What ibv_query_gid_type() and others expect of the kernel. */
#define ABI_VERBS 6
#define ABI_MAD 5
#define MAJOR 231 /* of uverbs */
#define MINOR_FIRST 192

/* Children of root may be of other users. */
#define FOLDER_MODE 0755
#define FOLDER_MODE_TEXT "755"
#define FILE_MODE 0444

/* A folder that is filled, and a digest (FNV-1a) of what is in it. */
struct tree {
	int folder; /* -1: only the digest is computed */
	uint64_t digest;
	int error;
};

static void
files_digest(struct tree *tree, const char *text)
{
	do
		tree->digest = (tree->digest ^ (unsigned char)*text) * 0x100000001b3;
	while (*text++);
}

/* The folders of the path, from the first on. */
static void
files_make_folders(struct tree *tree, char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(tree->folder, path, FOLDER_MODE) && errno != EEXIST)
			tree->error = errno;
		*slash = '/';
	}
}

/* One file with one line, as those of the kernel. */
static void __attribute__((format(printf, 3, 4)))
files_add(struct tree *tree, const char *path, const char *format, ...)
{
	char text[256], name[PATH_MAX];
	va_list arguments;
	size_t length;
	int fd;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text - 1, format, arguments);
	va_end(arguments);
	strcat(text, "\n");
	length = strlen(text);
	files_digest(tree, path);
	files_digest(tree, text);
	if (tree->folder < 0 || tree->error)
		return;
	snprintf(name, sizeof name, "%s", path);
	files_make_folders(tree, name);
	fd = openat(tree->folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (fd < 0 && errno == EEXIST)
		return; /* an interface with several addresses */
	if (fd < 0 || write(fd, text, length) != (ssize_t)length || fchmod(fd, FILE_MODE))
		tree->error = errno ? errno : ENOSPC;
	if (fd >= 0)
		close(fd);
}

/* Something that can be opened, read and written: only its name matters. */
static void
files_add_node(struct tree *tree, const char *path)
{
	char name[PATH_MAX];

	files_digest(tree, path);
	if (tree->folder < 0 || tree->error)
		return;
	snprintf(name, sizeof name, "%s", path);
	files_make_folders(tree, name);
	if (symlinkat("/dev/null", tree->folder, path))
		tree->error = errno;
}

static const char *
files_words(char *text, size_t size, const uint8_t *bytes, int words)
{
	size_t length = 0;

	for (int i = 0; i < words; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%02x%02x", i ? ":" : "",
		    bytes[2 * i], bytes[2 * i + 1]);
	return text;
}

static void
files_add_rate(struct tree *tree, const char *path, const struct ibv_port_attr *attr)
{
	static const struct {
		int speed;
		const char *name;
	} names[] = { { 1, "SDR" }, { 2, "DDR" }, { 4, "QDR" }, { 8, "FDR10" }, { 16, "FDR" },
		{ 32, "EDR" }, { 64, "HDR" }, { 128, "NDR" } };
	static const struct {
		int width, lanes;
	} widths[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 } };
	const unsigned int speed = soft_port_speed(attr);
	const char *name = "";
	int lanes = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].speed == attr->active_speed)
			name = names[i].name;
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		if (widths[i].width == attr->active_width)
			lanes = widths[i].lanes;
	if (speed % 10)
		files_add(tree, path, "%u.%u Gb/sec (%dX %s)", speed / 10, speed % 10, lanes, name);
	else
		files_add(tree, path, "%u Gb/sec (%dX %s)", speed / 10, lanes, name);
}

static void
files_add_gid(struct tree *tree, const char *port, int index, const struct soft_gid *gid)
{
	char path[256], text[64], interface[IF_NAMESIZE];

	snprintf(path, sizeof path, "%s/gids/%d", port, index);
	files_add(tree, path, "%s", files_words(text, sizeof text, gid->gid.raw, 8));
	snprintf(path, sizeof path, "%s/gid_attrs/types/%d", port, index);
	files_add(tree, path, "%s", gid->type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
	if (!gid->interface || !if_indextoname(gid->interface, interface))
		return;
	snprintf(path, sizeof path, "%s/gid_attrs/ndevs/%d", port, index);
	files_add(tree, path, "%s", interface);
}

static void
files_add_port(struct tree *tree, const char *device, const struct soft_device_port *port)
{
	static const char *const states[] = { [IBV_PORT_DOWN] = "DOWN",
		[IBV_PORT_INIT] = "INIT",
		[IBV_PORT_ARMED] = "ARMED",
		[IBV_PORT_ACTIVE] = "ACTIVE" };
	const struct ibv_port_attr *attr = &port->attr;
	char folder[128], path[256];

#define PORT_FILE(name) (snprintf(path, sizeof path, "%s/%s", folder, name), path)
	snprintf(folder, sizeof folder, "%s/ports/%u", device, port->port);
	files_add(tree, PORT_FILE("state"), "%d: %s", attr->state, states[attr->state]);
	files_add(tree, PORT_FILE("phys_state"), "%d: %s", attr->phys_state,
	    attr->phys_state == 5 ? "LinkUp" : "Polling");
	files_add_rate(tree, PORT_FILE("rate"), attr);
	files_add(tree, PORT_FILE("lid"), "0x%x", attr->lid);
	files_add(tree, PORT_FILE("lid_mask_count"), "%u", attr->lmc);
	files_add(tree, PORT_FILE("sm_lid"), "0x%x", attr->sm_lid);
	files_add(tree, PORT_FILE("sm_sl"), "%u", attr->sm_sl);
	files_add(tree, PORT_FILE("cap_mask"), "0x%08x", attr->port_cap_flags);
	files_add(tree, PORT_FILE("link_layer"), "%s",
	    soft_device_port_is_ethernet(port) ? "Ethernet" : "InfiniBand");
	files_add(tree, PORT_FILE("pkeys/0"), "0x%04x", SOFT_PKEY);
	for (int i = 0; i < attr->gid_tbl_len; i++)
		files_add_gid(tree, folder, i, &port->gids[i]);
}

/* The network interfaces that have an address of a port of the device. */
static void
files_add_interfaces(struct tree *tree, const struct soft_topology *topology, unsigned int index)
{
	struct ifaddrs *all = NULL;
	struct soft_ip ip;
	char path[192];

	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		const struct soft_device_port *port;

		if (!one->ifa_addr || !soft_ip_of(one->ifa_addr, &ip))
			continue;
		port = soft_topology_find(topology, &ip);
		if (!port || port->device != index)
			continue;
		snprintf(path, sizeof path, CLASS "/%s/device/net/%s/dev_port",
		    topology->devices[index].name, one->ifa_name);
		files_add(tree, path, "%u", port->port - 1);
	}
	freeifaddrs(all);
}

static void
files_add_device(struct tree *tree, const struct soft_device *device, unsigned int index)
{
	const struct ibv_device_attr *attr = &device->attr;
	char folder[96], path[192], text[64];

#define DEVICE_FILE(name) (snprintf(path, sizeof path, "%s/%s", folder, name), path)
	snprintf(folder, sizeof folder, CLASS "/%s", device->name);
	files_add(tree, DEVICE_FILE("node_type"), "1: CA");
	files_add(tree, DEVICE_FILE("node_guid"), "%s",
	    files_words(text, sizeof text, (const uint8_t *)&attr->node_guid, 4));
	files_add(tree, DEVICE_FILE("sys_image_guid"), "%s",
	    files_words(text, sizeof text, (const uint8_t *)&attr->sys_image_guid, 4));
	files_add(tree, DEVICE_FILE("fw_ver"), "%s", attr->fw_ver);
	files_add(tree, DEVICE_FILE("hw_rev"), "%x", attr->hw_ver);
	files_add(tree, DEVICE_FILE("hca_type"), "softverbs");
	files_add(tree, DEVICE_FILE("board_id"), "softverbs");
	files_add(tree, DEVICE_FILE("node_desc"), "softverbs %s", device->name);
	for (unsigned int i = 0; i < attr->phys_port_cnt; i++)
		files_add_port(tree, folder, &device->ports[i]);
	snprintf(folder, sizeof folder, CLASS "_verbs/uverbs-%s", device->name);
	files_add(tree, DEVICE_FILE("ibdev"), "%s", device->name);
	files_add(tree, DEVICE_FILE("abi_version"), "1");
	files_add(tree, DEVICE_FILE("dev"), "%d:%u", MAJOR, MINOR_FIRST + index);
	snprintf(path, sizeof path, DEVICES "/uverbs-%s", device->name);
	files_add_node(tree, path);
}

static void
files_fill(struct tree *tree, const struct soft_topology *topology)
{
	tree->digest = 0xcbf29ce484222325;
	files_digest(tree, FOLDER_MODE_TEXT); /* one of an earlier release has another mode */
	files_add(tree, CLASS "_verbs/abi_version", "%d", ABI_VERBS);
	files_add(tree, CLASS "_mad/abi_version", "%d", ABI_MAD);
	files_add_node(tree, DEVICES "/rdma_cm");
	for (unsigned int i = 0; i < topology->count; i++) {
		files_add_device(tree, &topology->devices[i], i);
		files_add_interfaces(tree, topology, i);
	}
}

static int
files_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* Under another name first, so that no program sees a part: 0 or an error. */
static int
files_make(const struct soft_topology *topology, const char *path)
{
	struct tree tree = { .folder = -1 };
	char unfinished[PATH_MAX + 32];
	struct stat there;
	mode_t mask;

	if (!stat(path, &there))
		return S_ISDIR(there.st_mode) && there.st_uid == geteuid() ? 0 : EACCES;
	snprintf(unfinished, sizeof unfinished, "%s.%ld", path, (long)getpid());
	(void)nftw(unfinished, files_remove, 8, FTW_DEPTH | FTW_PHYS);
	mask = umask(S_IWGRP | S_IWOTH);
	if (!mkdir(unfinished, FOLDER_MODE))
		tree.folder = open(unfinished, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree.folder < 0) {
		tree.error = errno;
	} else {
		files_fill(&tree, topology);
		close(tree.folder);
	}
	(void)umask(mask);
	if (!tree.error && rename(unfinished, path) && errno != ENOTEMPTY && errno != EEXIST)
		tree.error = errno;
	(void)nftw(unfinished, files_remove, 8, FTW_DEPTH | FTW_PHYS);
	return tree.error;
}

/* A variable that is a list, with the word in front. */
static void
files_put_in_front(const char *variable, const char *word, char separator)
{
	const char *was = getenv(variable);
	char *joined;

	if (!was || !*was) {
		soft_parent_set(variable, word);
		return;
	}
	if (asprintf(&joined, "%s%c%s", word, separator, was) < 0)
		soft_parent_fail(variable);
	soft_parent_set(variable, joined);
	free(joined);
}

bool
soft_files_show(const struct soft_topology *topology, const char *libraries, const char *preloaded)
{
	const char *slash = strrchr(libraries, '/');
	struct tree digest = { .folder = -1 };
	char path[PATH_MAX];
	int error;

	if (strpbrk(preloaded, " :")) {
		soft_say(
		    "softverbs-run: %s: a library with a blank or a colon in its path cannot be "
		    "preloaded; programs do not see the files of the devices",
		    preloaded);
		return true;
	}
	files_fill(&digest, topology);
	snprintf(path, sizeof path, "%.*s/files-%016llx", (int)(slash - libraries), libraries,
	    (unsigned long long)digest.digest);
	error = files_make(topology, path);
	if (error) {
		soft_say("softverbs-run: %s: %s", path, strerror(error));
		return false;
	}
	soft_parent_set(SOFT_FILES_VARIABLE, path);
	files_put_in_front("LD_PRELOAD", preloaded, ':');
	/*
	 * Its runtime wants to be the first library; what is preloaded calls the next one, which
	 * is the runtime's.
	 */
	files_put_in_front("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
	return true;
}

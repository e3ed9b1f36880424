/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs ask of /sys by libibverbs.  ibv_device says in ibdev_path and dev_path where the
 * files of a device are, or would be.
 */
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ibv_get_sysfs_path(void);
int soft_ibv_read_sysfs_file(const char *folder, const char *file, char *buffer, size_t size);
int soft_ibv_query_gid_type(
    struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type);

/* The values of ibv_query_gid_type() are those of the kernel's files: "IB/RoCE v1", "RoCE v2". */
#define GID_TYPE_FILE_IB 0
#define GID_TYPE_FILE_ROCE_V2 1

const char *
ibv_get_sysfs_path(void)
{
	const char *path = secure_getenv("SYSFS_PATH");

	return path ? path : "/sys";
}

/* The length without the end of line, which the text does not have either, or -1 with errno. */
int
soft_ibv_read_sysfs_file(const char *folder, const char *file, char *buffer, size_t size)
{
	SOFT_UNCANCELLED;
	char path[PATH_MAX];
	ssize_t length;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	length = read(fd, buffer, size);
	close(fd);
	if (length < 0)
		return -1;
	if (length > 0 && buffer[length - 1] == '\n')
		length--;
	/* A text without its end is none: what is longer is refused, as by libibverbs. */
	if ((size_t)length == size) {
		errno = EOVERFLOW;
		return -1;
	}
	buffer[length] = '\0';
	return (int)length;
}

int
soft_ibv_query_gid_type(
    struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type)
{
	SOFT_UNCANCELLED;
	const struct soft_device_port *own = soft_device_port(context, port);

	if (!own || index >= (unsigned int)own->attr.gid_tbl_len) {
		errno = EINVAL;
		return -1;
	}
	*type = own->gids[index].type == IBV_GID_TYPE_ROCE_V2 ? GID_TYPE_FILE_ROCE_V2 :
								GID_TYPE_FILE_IB;
	return 0;
}

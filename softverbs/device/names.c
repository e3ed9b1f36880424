/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaint.h"
#include "descriptors.h"
#include "mode.h"
#include "names.h"
#include "size.h"
#include "softverbs/softverbs_ctl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FILE_NAME "softverbs.1.names"
#define SLOT_NAME "softverbs.1.slot.%u"
#define KNOCK_NAME "softverbs.1.wake.%u"
#define CONTROL_NAME SOFTVERBS_CTL_SOCKET "%u"

/* Change only when the first context becomes active and when the last one ends. */
static int directory = -1, file = -1;

static off_t
names_offset(uint32_t entry)
{
	return (off_t)entry * (off_t)sizeof(uint16_t);
}

static int
names_lock_entry(uint32_t entry, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = names_offset(entry),
		.l_len = sizeof(uint16_t),
	};

	if (!fcntl(file, F_OFD_SETLK, &lock))
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EADDRINUSE : -errno;
}

/* Gives the owner what the umask of the process that made the file has taken: 0 or -errno. */
static int
names_give(const char *name, mode_t type, mode_t bits)
{
	int fd, r;

	fd = soft_descriptors_keep(openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0)
		return -errno;
	r = soft_mode_give(fd, type, bits);
	soft_close(fd);
	return r;
}

int
soft_names_open(void)
{
	int r;

	/* soft_name_address() needs it; without, no reason would be named. */
	if (access("/proc/self/fd", X_OK)) {
		r = -errno;
		soft_complain("cannot use /proc/self/fd: %s; mount /proc", strerror(-r));
		return r;
	}
	directory = soft_directory_open();
	if (directory < 0)
		return directory;
	/* Without waiting for one who has a lease. */
	file = soft_descriptors_keep(openat(directory, FILE_NAME,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
	if (file < 0 && errno == EACCES && !names_give(FILE_NAME, S_IFREG, S_IRUSR | S_IWUSR))
		file = soft_descriptors_keep(openat(
		    directory, FILE_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
	if (file < 0) {
		r = -errno;
		soft_complain("cannot open %s: %s", FILE_NAME, strerror(-r));
		soft_close(directory);
		directory = -1;
		return r;
	}
	(void)soft_mode_give(file, S_IFREG, S_IRUSR | S_IWUSR);
	/* Programs that clean temporary directories skip files that are locked like this. */
	(void)flock(file, LOCK_SH | LOCK_NB);
	return 0;
}

void
soft_names_close(void)
{
	soft_close(file);
	soft_close(directory);
	file = directory = -1;
}

/* The parent keeps the locks, because its descriptors are still open. */
void
soft_names_reset(void)
{
	if (file >= 0)
		soft_close(file);
	if (directory >= 0)
		soft_close(directory);
	file = directory = -1;
}

int
soft_name_lock(uint32_t entry)
{
	return names_lock_entry(entry, F_WRLCK);
}

void
soft_name_unlock(uint32_t entry)
{
	(void)names_lock_entry(entry, F_UNLCK);
}

int
soft_name_write(uint32_t entry, uint16_t value)
{
	ssize_t n;
	int state, r;

	r = soft_size_check((uint64_t)names_offset(entry) + sizeof value);
	if (r) {
		soft_complain("cannot write %s: the limit of the size of a file (ulimit -f) is "
			      "too low",
		    FILE_NAME);
		return r;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	n = pwrite(file, &value, sizeof value, names_offset(entry));
	pthread_setcancelstate(state, NULL);
	if (n == sizeof value)
		return 0;
	return n < 0 ? -errno : -EIO;
}

uint16_t
soft_name_read(uint32_t entry)
{
	uint16_t value;
	ssize_t n;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	n = pread(file, &value, sizeof value, names_offset(entry));
	pthread_setcancelstate(state, NULL);
	return n == sizeof value ? value : 0;
}

/*
 * The address names the directory by its descriptor.  So it leads to the directory that was
 * checked, and the length of the directory's path does not matter.
 */
__attribute__((format(printf, 2, 0))) static socklen_t
name_address(struct sockaddr_un *address, const char *format, unsigned int slot)
{
	char name[32];

	(void)snprintf(name, sizeof name, format, slot);
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	(void)snprintf(
	    address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", directory, name);
	return sizeof *address;
}

socklen_t
soft_name_address(struct sockaddr_un *address, unsigned int slot)
{
	return name_address(address, SLOT_NAME, slot);
}

socklen_t
soft_name_knock_address(struct sockaddr_un *address, unsigned int slot)
{
	return name_address(address, KNOCK_NAME, slot);
}

socklen_t
soft_name_control_address(struct sockaddr_un *address, unsigned int slot)
{
	return name_address(address, CONTROL_NAME, slot);
}

__attribute__((format(printf, 1, 0))) static int
name_allow(const char *format, unsigned int slot)
{
	char name[32];

	(void)snprintf(name, sizeof name, format, slot);
	return names_give(name, S_IFSOCK, S_IWUSR);
}

int
soft_name_allow(unsigned int slot)
{
	return name_allow(SLOT_NAME, slot);
}

int
soft_name_knock_allow(unsigned int slot)
{
	return name_allow(KNOCK_NAME, slot);
}

int
soft_name_control_allow(unsigned int slot)
{
	return name_allow(CONTROL_NAME, slot);
}

__attribute__((format(printf, 1, 0))) static void
name_unlink(const char *format, unsigned int slot)
{
	char name[32];
	int saved = errno;

	(void)snprintf(name, sizeof name, format, slot);
	(void)unlinkat(directory, name, 0);
	errno = saved;
}

void
soft_name_unlink(unsigned int slot)
{
	name_unlink(SLOT_NAME, slot);
	name_unlink(KNOCK_NAME, slot);
	name_unlink(CONTROL_NAME, slot);
}

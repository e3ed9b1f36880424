/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"
#include "softverbs/device/descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct soft_tally alone;
struct soft_tally *soft_tally = &alone;

void
soft_tally_open(const char *path)
{
	const int fd =
	    path ? soft_descriptors_keep(open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) :
		   -1;
	struct stat file;
	void *memory = MAP_FAILED;

	if (fd < 0)
		return;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size >= (off_t)sizeof alone)
		memory = mmap(NULL, sizeof alone, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return;
	soft_tally = memory;
	soft_tally->progress++;
}

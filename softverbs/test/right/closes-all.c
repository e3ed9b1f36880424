/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.W2 */
/*
 * A daemon closes all descriptors that it does not know, those of the device too, and closes the
 * device later.
 */
#include "softverbs/test/pair.h"

#include <unistd.h>

int
main(void)
{
	alarm(60);
	device_open();
	cq = queue_create(NULL);
	end_open(&third, cq, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, 4, 7);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	ends_close(&third, &fourth);
	return 0;
}

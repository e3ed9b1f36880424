/* SPDX-License-Identifier: BSD-3-Clause */
/* libuv_cno -- a CNO in a loop of libuv */
#ifndef LOOPS_LIBUV_CNO_H
#define LOOPS_LIBUV_CNO_H

#include "cno_source.h"

#include <uv.h>

/* Returns an active handle, or NULL. */
uv_poll_t *libuv_cno_add(uv_loop_t *loop, struct cno_source *source);

/*
 * From its return on the source is not dispatched.  The memory is freed in a later turn of the
 * loop, as with every handle of libuv.
 */
void libuv_cno_remove(uv_poll_t *poll);

#endif

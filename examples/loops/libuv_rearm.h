/* SPDX-License-Identifier: BSD-3-Clause */
/* libuv_rearm -- the callbacks of a loop of librearm without threads, in a libuv loop */
#ifndef LIBUV_REARM_H
#define LIBUV_REARM_H

#include <rearm/rearm.h>
#include <uv.h>

struct libuv_rearm;

/* NULL: no memory, or libuv has refused a handle. */
struct libuv_rearm *libuv_rearm_add(uv_loop_t *uv, struct rearm_loop *loop);

/*
 * No callback follows.  libuv lets go of its handles in a later turn: run the loop once more before
 * uv_loop_close().
 */
void libuv_rearm_remove(struct libuv_rearm *added);

#endif

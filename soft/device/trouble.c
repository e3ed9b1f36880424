/* SPDX-License-Identifier: BSD-3-Clause */
#include "trouble.h"
#include "context.h"
#include "runtime.h"

static atomic_bool no_resize;
static atomic_int overruns, refusals;

static void
raise_in(struct soft_context *ctx, int event_type)
{
	soft_async_raise(ctx, &ctx->device, (enum ibv_event_type)event_type);
}

/* Uses up one of the faults; without any this reads one number. */
static bool
use_up(atomic_int *left)
{
	return atomic_load_explicit(left, memory_order_relaxed) > 0 &&
	       atomic_fetch_sub_explicit(left, 1, memory_order_relaxed) > 0;
}

void
soft_trouble_no_resize(bool on)
{
	no_resize = on;
}

void
soft_trouble_overrun(int n)
{
	overruns = n;
}

void
soft_trouble_refuse_arms(int n)
{
	refusals = n;
}

void
soft_trouble_raise(int event_type)
{
	soft_runtime_each(raise_in, event_type);
}

bool
soft_trouble_resize_fails(void)
{
	return no_resize;
}

bool
soft_trouble_overruns(void)
{
	return use_up(&overruns);
}

bool
soft_trouble_arm_fails(void)
{
	return use_up(&refusals);
}

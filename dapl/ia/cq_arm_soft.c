/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/cq_arm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dapl/trace/debug.h"
#include "softverbs/soft_arm.h"

int
dapl_cq_arm(struct ibv_cq *cq, bool solicited_only)
{
	return soft_cq_arm(cq, solicited_only);
}

int
dapl_cq_arm_option(const char *word)
{
	static const char personality[] = "personality=";

	const char *name = word + sizeof personality - 1;
	char known[128];
	int r;

	if (strncmp(word, personality, sizeof personality - 1) != 0)
		return -ENOENT;
	r = soft_personality_choose(name);
	if (r)
		dapl_debug_error("the device has no personality \"%s\", but %s", name,
		    soft_personality_names(known, sizeof known));
	return r;
}

static __thread char complaint[512];

static void
arm_keep_complaint(const char *text)
{
	snprintf(complaint, sizeof complaint, "%s", text);
}

void
dapl_cq_arm_prepare(void)
{
	soft_complain_to(arm_keep_complaint);
	*complaint = '\0';
}

const char *
dapl_cq_arm_complaint(void)
{
	return *complaint ? complaint : NULL;
}

bool
dapl_cq_arm_is_soft(void)
{
	return true;
}

int64_t
dapl_cq_arm_stalls(const struct ibv_cq *cq)
{
	return (int64_t)soft_cq_stalls(cq);
}

void
dapl_cq_arm_tell_stalls(void (*place)(unsigned int qp_num))
{
	soft_tell_stalls_to(place);
}

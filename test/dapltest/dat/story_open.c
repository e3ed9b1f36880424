/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of story.h that call the registry
 */
#include "story.h"

DAT_RETURN
story_try_open(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe,
    DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

	return dat_ia_openv((char *)name, 8, &evd, ia, major, minor, thread_safe);
}

DAT_IA_HANDLE
story_open(const char *name, DAT_BOOLEAN thread_safe)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;

	story_assert_ret(story_try_open(name, 2, 0, thread_safe, &ia), DAT_SUCCESS);
	ck_assert_ptr_nonnull(ia);
	return ia;
}

void
story_close(DAT_IA_HANDLE ia)
{
	story_assert_ret(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
}

const char *
story_listed(void)
{
	static char text[8192];
	DAT_PROVIDER_INFO infos[16], *list[16];
	DAT_COUNT n = -1;
	int i;

	for (i = 0; i < 16; i++)
		list[i] = &infos[i];
	story_assert_ret(dat_registry_list_providers(16, &n, list), DAT_SUCCESS);
	text[0] = '\0';
	for (i = 0; i < n; i++) {
		strcat(text, infos[i].ia_name);
		strcat(text, " ");
	}
	return text;
}

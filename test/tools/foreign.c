/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign -- a provider for dat.conf that opens no adapter, and writes why to the standard streams
 *
 * The first word of the parameters decides how it fails: "device", "address" or "crash"; or
 * "hostile", which writes all of its parameters, and logs them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/udat.h>

#include <dat2/dat_log.h>
#include <dat2/dat_registry.h>

/* One for each record, for as long as the process lives. */
struct foreign {
	struct foreign *next;
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER table;
	char parameters[64];
};

static struct foreign *all;

static const struct foreign *
foreign_find(const char *name)
{
	const struct foreign *f = all;

	while (f != NULL && strcmp(f->info.ia_name, name) != 0)
		f = f->next;
	if (f == NULL)
		abort();
	return f;
}

static DAT_RETURN
foreign_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	const struct foreign *f = foreign_find(name);

	(void)qlen;
	(void)evd;
	(void)ia;
	printf("foreign: looks for %s\n", name);
	fprintf(stderr, "foreign: there is no device %s\n", name);
	if (strncmp(f->parameters, "hostile", strlen("hostile")) == 0) {
		printf("%s\n", f->parameters);
		(void)dat_rearm_log(DAT_LOG_ERROR, f->parameters);
	}
	if (strncmp(f->parameters, "crash", strlen("crash")) == 0)
		abort();
	return strncmp(f->parameters, "address", strlen("address")) == 0 ?
		   DAT_ERROR(DAT_INVALID_ADDRESS, DAT_NO_SUBTYPE) :
		   DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
}

void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *parameters);
void dat_provider_fini(const DAT_PROVIDER_INFO *info);

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *parameters)
{
	struct foreign *f = calloc(1, sizeof *f);

	if (f == NULL)
		abort();
	f->info = *info;
	f->table.device_name = f->info.ia_name;
	f->table.ia_open_func = foreign_open;
	snprintf(f->parameters, sizeof f->parameters, "%s", parameters);
	f->next = all;
	all = f;
	if (dat_registry_add_provider(&f->table, &f->info) != DAT_SUCCESS)
		abort();
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	const struct foreign *f = foreign_find(info->ia_name);

	(void)dat_registry_remove_provider(&f->table, &f->info);
}

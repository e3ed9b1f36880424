/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private -- what drivers of real devices ask of libibverbs when they are loaded
 *
 * libmlx5 and libefa stand behind many programs.  Their initialisers register them, and that must
 * succeed without a word.
 */
#include <stdbool.h>

extern bool verbs_allow_disassociate_destroy;
void verbs_register_driver_34(const void *ops);
void verbs_register_driver_65(const void *ops);
void ibv_register_driver(const char *name, void *init);
const char *ibv_wr_opcode_str(int opcode);
void __verbs_log(void *context, unsigned int level, const char *format, ...);

bool verbs_allow_disassociate_destroy;

void
verbs_register_driver_34(const void *ops)
{
	(void)ops;
}

void
verbs_register_driver_65(const void *ops)
{
	(void)ops;
}

/* Of drivers built before 2019. */
void
ibv_register_driver(const char *name, void *init)
{
	(void)name, (void)init;
}

void
__verbs_log(void *context, unsigned int level, const char *format, ...)
{
	(void)context, (void)level, (void)format;
}

/* For the messages of drivers. */
const char *
ibv_wr_opcode_str(int opcode)
{
	(void)opcode;
	return "unknown";
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd.h"

static bool
with_adapter(const struct cmd_options *options)
{
	DAT_IA_HANDLE ia;
	bool good;

	if (!cmd_ia_open(options->ia, &ia))
		return false;
	good = options->type == 'S' ? cmd_server(options, ia) : cmd_client(options, ia);
	return cmd_ok(dat_ia_close(ia, good ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG)) &&
	       good;
}

int
main(int argc, char **argv)
{
	struct cmd_options options;
	bool good;

	if (cmd_options_help(argc, argv))
		return 0;
	if (!cmd_options_read(argc, argv, &options))
		return 2;
	switch (options.type) {
	case 'L':
		good = cmd_limits(&options);
		break;
	case 'F':
		good = cmd_features(&options);
		break;
	case 'U':
		good = cmd_suites(&options, "upcall");
		break;
	case 'C':
		good = cmd_suites(&options, options.names[0]);
		break;
	default:
		good = with_adapter(&options);
	}
	return good ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
/* Nothing but main(), so that tests can link the rest. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}

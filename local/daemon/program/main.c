// SPDX-License-Identifier: Apache-2.0
/* sandmux-sandboxd */
#include "local/daemon/sandboxd.h"

int main(int argc, char **argv)
{
	return daemon_main(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
/* Nothing but main(), so that tests can link the rest. */
#include "cli/cli.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK
#endif
#endif

#ifdef HAS_LEAK_CHECK
#include <sanitizer/lsan_interface.h>

static bool is_created;

/* The search for leaks takes as long as a create, and who hangs up meanwhile would take the create for unfinished. The unit
 * tests of the verbs link no main() and search. */
int __lsan_is_turned_off(void)
{
	return is_created;
}
#endif

int main(int argc, char **argv)
{
	int status = cli_main(argc, argv);
#ifdef HAS_LEAK_CHECK
	is_created = status == EXIT_STATUS_OK && argc > 1 && strcmp(argv[1], "create") == 0;
#endif
	return status;
}

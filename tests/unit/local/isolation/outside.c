// SPDX-License-Identifier: Apache-2.0
/* A shared library that is in no system folder: parts_test links it and asks for it. */
int outside(void);

int outside(void)
{
	return 7;
}

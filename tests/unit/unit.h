// SPDX-License-Identifier: Apache-2.0
/* cmocka with the headers that it wants first. */
#pragma once

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

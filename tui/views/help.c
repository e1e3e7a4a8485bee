// SPDX-License-Identifier: Apache-2.0
// Keys and commands, made from their tables.

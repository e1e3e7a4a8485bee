// SPDX-License-Identifier: Apache-2.0
// Everything about one sandbox.

// SPDX-License-Identifier: Apache-2.0
// The file browser: two panes, each the local disk or a sandbox.

// SPDX-License-Identifier: Apache-2.0
// Spans of our own operations and log lines on one time line.

// SPDX-License-Identifier: Apache-2.0
// The view over the copies: progress, pause, cancel, retry, receipts.

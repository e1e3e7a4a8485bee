// SPDX-License-Identifier: Apache-2.0
// One pane of the file browser: a folder, its entries, order, marks and cursor.

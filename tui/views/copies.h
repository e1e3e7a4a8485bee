// SPDX-License-Identifier: Apache-2.0
// Copies under way, shared by the views.

# SPDX-License-Identifier: Apache-2.0
"""Cases that hold for every backend: a test file of a tier mixes them in and says where to run."""

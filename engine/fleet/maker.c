// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/maker.h"

#include "engine/base/digest.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/fleet/row.h"
#include "engine/k8s/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_maker(const char *text, size_t n)
{
	return n == FLEET_MAKER_BYTES - 1 && strspn(text, "0123456789abcdef") == n;
}

static bool read_from(const char *path, char out[FLEET_MAKER_BYTES])
{
	size_t n = 0;
	char *text = file_read(path, FLEET_MAKER_BYTES, &n, NULL);
	bool ok = text != NULL && is_maker(text, n);
	if (ok)
		memcpy(out, text, FLEET_MAKER_BYTES);
	free(text);
	return ok;
}

static char *path_in(char *folder)
{
	char *path = folder ? x_asprintf("%s/maker", folder) : NULL;
	free(folder);
	return path;
}

bool fleet_maker_read(char out[FLEET_MAKER_BYTES])
{
	char *path = path_in(file_xdg_path(FILE_STATE, NULL));
	bool ok = path != NULL && read_from(path, out);
	free(path);
	return ok;
}

bool fleet_maker_make(char out[FLEET_MAKER_BYTES])
{
	char *path = path_in(file_xdg_dir(FILE_STATE, NULL));
	bool ok = path != NULL && read_from(path, out);
	if (path != NULL && !ok) {
		digest_random_hex(out, FLEET_MAKER_BYTES - 1);
		const struct slice text = { out, FLEET_MAKER_BYTES - 1 };
		/* of two that begin at once the last one stays */
		ok = file_write_atomic(path, text, 0600, NULL) && read_from(path, out);
	}
	free(path);
	return ok;
}

bool fleet_row_is_made_by(const struct fleet_row *row, const char *maker)
{
	size_t n = 0;
	const char *value = k8s_labels_find(row->labels, FLEET_MAKER_LABEL, &n);
	return value != NULL && slice_equals((struct slice){ value, n }, maker);
}

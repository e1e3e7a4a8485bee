// SPDX-License-Identifier: Apache-2.0
#include "local/server/token.h"

#include "engine/base/digest.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_HEX = 48, TOKEN_MIN = 16 };

char *server_token_load(const char *path, struct err *err)
{
	size_t n;
	char *token = file_read(path, 4096, &n, NULL);
	if (token) {
		token[strcspn(token, "\r\n")] = '\0';
		if (strlen(token) >= TOKEN_MIN)
			return token;
		free(token);
	}
	token = x_malloc(TOKEN_HEX + 1);
	digest_random_hex(token, TOKEN_HEX);
	if (file_write_atomic(path, slice_of(token), 0600, err))
		return token;
	x_free_secret(token);
	return NULL;
}

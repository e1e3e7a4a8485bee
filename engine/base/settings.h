// SPDX-License-Identifier: Apache-2.0
/* Limits and timeouts, one row each, with the defaults of the client references or ours. They are set before the engine
 * opens (a file, then the command line) and only read afterwards; one thread.
 * Errors: ERR_ARG_INVALID, ERR_CONFIG_FILE, those of engine/base/yaml.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum setting {
	SETTING_READY_TIMEOUT,
	SETTING_RESOLVE_TIMEOUT,
	SETTING_CONNECT_TIMEOUT,
	SETTING_HEALTH_POLL,
	SETTING_GATEWAY_TIMEOUT,
	SETTING_FILE_TIMEOUT,
	SETTING_HEADERS_TIMEOUT,
	SETTING_STALL_TIMEOUT,
	SETTING_START_TIMEOUT,
	SETTING_COMMAND_TIMEOUT,
	SETTING_LEGACY_COMMAND_TIMEOUT,
	SETTING_ROUTER_TIMEOUT,
	SETTING_DRAIN_TIMEOUT,
	SETTING_KILL_GRACE,
	SETTING_CLEANUP_TIMEOUT,
	SETTING_REQUEST_TIMEOUT,
	SETTING_REQUEST_RETRIES,
	SETTING_WATCH_IDLE,
	SETTING_WATCH_TIMEOUT,
	SETTING_POLL_INTERVAL,
	SETTING_USAGE_INTERVAL,
	SETTING_LIST_PAGE,
	SETTING_EXEC_PLUGIN_TIMEOUT,
	SETTING_DOWNLOAD_LIMIT,
	SETTING_UPLOAD_LIMIT,
	SETTING_LISTING_LIMIT,
	SETTING_OUTPUT_LIMIT,
	SETTING_LEGACY_OUTPUT_LIMIT,
	SETTING_CLAIM_LIMIT,
	SETTING_TRANSFER_MAX_ENTRIES,
	SETTING_SANDBOXD_REST_PORT,
	SETTING_SANDBOXD_GRPC_PORT,
	SETTING_LEGACY_PORT,
	SETTING_POD_LABEL_DOMAINS,
	SETTING_POLICY_FILE,
	SETTING_BINDING_PREFIX,
	SETTING_BINDING_RESERVATION,
	SETTING_BINDING_ATTEMPTS,
	SETTING_RUN_RM_LIFETIME,
	SETTING_BULK_RATE,
	SETTING_AUTO_CLEANUP,
	SETTING_TOMBSTONE_TIME,
	SETTING_TOMBSTONES,
	SETTING_PRODUCTION_CONTEXTS,
	SETTING_PREFIX_KEY,
	SETTING_GLYPHS,
	SETTING_REMEMBER,
	SETTING_COUNT
};

enum setting_unit {
	SETTING_MS,
	SETTING_BYTES,
	SETTING_NUMBER,
	SETTING_NUMBER_LIMIT, /* 0 is no limit */
	SETTING_TEXT,
	SETTING_SWITCH, /* 0 off, 1 on */
	SETTING_UNIT_COUNT
};

struct setting_row {
	const char *name;
	enum setting_unit unit;
	int64_t initial, min,
		max; /* in ms, bytes or as a count; min 0 of bytes: 0 is no limit */
	const char *help;
	const char *initial_text; /* of a text; NULL: it is a number */
	const char *
		words; /* of a text: all that it can be, with spaces between them; NULL: setting_on_text() knows */
};

const struct setting_row *setting_row(enum setting setting);
const char *setting_initial_text(enum setting setting);  /* NULL: it is no text */
const char *setting_text(enum setting setting);          /* of a text: what it is now */
bool setting_is(enum setting setting, const char *word); /* a text is that word */
/* Who knows what a text means: called when it is set; its refusal is the setting's. */
void setting_on_text(enum setting setting, bool (*take)(const char *text, struct err *err));
int64_t setting_get(enum setting setting); /* ms, bytes or a count */
/* "30s", "8MiB", "500", "on", or "none" where there may be no limit. */
bool setting_set(const char *name, const char *value, struct err *err);
/* A YAML map of such pairs; a file that is not there is fine. */
bool setting_read_file(const char *path, struct err *err);
enum { SETTING_TEXT_BYTES = 256 };
const char *setting_format(enum setting setting, int64_t value, char out[SETTING_TEXT_BYTES]);

// SPDX-License-Identifier: Apache-2.0
#include "engine/base/settings.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/num.h"
#include "engine/base/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECONDS(n) ((int64_t)(n)*1000)
#define KIB(n) ((int64_t)(n) << 10)
#define MIB(n) ((int64_t)(n) << 20)
#define DAY SECONDS(24 * 3600)

enum { FILE_MAX_BYTES = 64 << 10 };

static const struct setting_row rows[] = {
	[SETTING_READY_TIMEOUT] = { "ready-timeout", SETTING_MS, SECONDS(180), 1, DAY,
		.help = "a sandbox becomes ready" },
	[SETTING_RESOLVE_TIMEOUT] = { "resolve-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "a name is looked up in the cluster" },
	[SETTING_CONNECT_TIMEOUT] = { "connect-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "a sandbox's runtime is reached and healthy" },
	[SETTING_HEALTH_POLL] = { "health-poll", SETTING_MS, 200, 10, SECONDS(60),
		.help = "between two looks at a runtime that does not answer yet" },
	[SETTING_GATEWAY_TIMEOUT] = { "gateway-timeout", SETTING_MS, SECONDS(180), 1, DAY,
		.help = "a Gateway gets its address" },
	[SETTING_FILE_TIMEOUT] = { "file-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "one call about a file's name, health or metadata" },
	[SETTING_HEADERS_TIMEOUT] = { "headers-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "the beginning of a file's answer" },
	[SETTING_STALL_TIMEOUT] = { "stall-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "a copy without a byte" },
	[SETTING_START_TIMEOUT] = { "start-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "a process has started" },
	[SETTING_COMMAND_TIMEOUT] = { "command-timeout", SETTING_MS, SECONDS(60), 1, DAY,
		.help = "a command whose output comes in one answer" },
	[SETTING_LEGACY_COMMAND_TIMEOUT] = { "legacy-command-timeout", SETTING_MS, SECONDS(180),
		1, DAY, .help = "the same in the legacy runtime" },
	[SETTING_ROUTER_TIMEOUT] = { "router-timeout", SETTING_MS, SECONDS(180), 1, DAY,
		.help = "at most asked of a sandbox-router (X-Sandbox-Timeout)" },
	[SETTING_DRAIN_TIMEOUT] = { "drain-timeout", SETTING_MS, SECONDS(2), 1, DAY,
		.help = "the last output of a process that was killed" },
	[SETTING_KILL_GRACE] = { "kill-grace", SETTING_MS, SECONDS(5), 1, DAY,
		.help = "a process that was asked to end (SIGTERM) ends, before it is killed" },
	[SETTING_CLEANUP_TIMEOUT] = { "cleanup-timeout", SETTING_MS, SECONDS(30), 1, DAY,
		.help = "the claim of a failed create is deleted" },
	[SETTING_REQUEST_TIMEOUT] = { "request-timeout", SETTING_MS, SECONDS(10), 1, DAY,
		.help = "one call to the API server" },
	[SETTING_REQUEST_RETRIES] = { "request-retries", SETTING_NUMBER, 2, 0, 10,
		.help = "repeated calls to the API server, where that is safe" },
	[SETTING_WATCH_IDLE] = { "watch-idle", SETTING_MS, SECONDS(90), SECONDS(1), DAY,
		.help = "a watch that is silent for so long is replaced" },
	[SETTING_WATCH_TIMEOUT] = { "watch-timeout", SETTING_MS, SECONDS(300), SECONDS(10), DAY,
		.help = "a watch lives so long, or up to twice, at random" },
	[SETTING_POLL_INTERVAL] = { "poll-interval", SETTING_MS, SECONDS(30), SECONDS(1), DAY,
		.help = "between two lists of what may not be watched" },
	[SETTING_USAGE_INTERVAL] = { "usage-interval", SETTING_MS, SECONDS(10), SECONDS(1), DAY,
		.help = "between two looks at what pods use, while somebody looks" },
	[SETTING_LIST_PAGE] = { "list-page", SETTING_NUMBER, 500, 1, 100000,
		.help = "objects in one page of a list" },
	[SETTING_EXEC_PLUGIN_TIMEOUT] = { "exec-plugin-timeout", SETTING_MS, SECONDS(60), 1,
		DAY, .help = "a credential plugin answers" },
	[SETTING_DOWNLOAD_LIMIT] = { "download-limit", SETTING_BYTES, 0, 0, INT64_MAX,
		.help = "one file from a sandbox" },
	[SETTING_UPLOAD_LIMIT] = { "upload-limit", SETTING_BYTES, 0, 0, INT64_MAX,
		.help = "one file into a sandbox" },
	[SETTING_LISTING_LIMIT] = { "listing-limit", SETTING_BYTES, MIB(8), KIB(1), MIB(512),
		.help = "a listing, metadata" },
	[SETTING_OUTPUT_LIMIT] = { "output-limit", SETTING_BYTES, MIB(4), KIB(1), MIB(64),
		.help = "the output of a command that comes in one answer" },
	[SETTING_LEGACY_OUTPUT_LIMIT] = { "legacy-output-limit", SETTING_BYTES, MIB(16), KIB(1),
		MIB(64), .help = "the same in the legacy runtime" },
	[SETTING_CLAIM_LIMIT] = { "claim-limit", SETTING_BYTES, KIB(64), KIB(1), MIB(3),
		.help = "environment and metadata of a claim" },
	[SETTING_TRANSFER_MAX_ENTRIES] = { "transfer-max-entries", SETTING_NUMBER_LIMIT, 200000,
		0, 1000000000,
		.help = "entries of a copied tree, before it is asked whether to go on" },
	[SETTING_SANDBOXD_REST_PORT] = { "sandboxd-rest-port", SETTING_NUMBER, 8080, 1, 65535,
		.help = "no limit: where sandboxd serves files in the pod" },
	[SETTING_SANDBOXD_GRPC_PORT] = { "sandboxd-grpc-port", SETTING_NUMBER, 9090, 1, 65535,
		.help = "no limit: where sandboxd serves processes in the pod" },
	[SETTING_LEGACY_PORT] = { "legacy-port", SETTING_NUMBER, 8888, 1, 65535,
		.help = "no limit: where the legacy Python runtime serves in the pod" },
	[SETTING_POD_LABEL_DOMAINS] = { "pod-label-domains", SETTING_TEXT,
		.initial_text = "sandbox.users.io",
		.help = "no limit: the domains whose labels the controller lets reach a pod" },
	[SETTING_POLICY_FILE] = { "policy-file", SETTING_TEXT, .initial_text = "",
		.help = "no limit: the template policy; --policy and SANDMUX_POLICY win" },
	[SETTING_BINDING_PREFIX] = { "binding-prefix", SETTING_TEXT,
		.initial_text = "pai-sandbox-binding-",
		.help = "no limit: what the names of the Leases of binding keys begin with" },
	[SETTING_BINDING_RESERVATION] = { "binding-reservation", SETTING_MS, SECONDS(60),
		SECONDS(1), DAY, .help = "a reserved binding key gets its claim" },
	[SETTING_BINDING_ATTEMPTS] = { "binding-attempts", SETTING_NUMBER, 10, 1, 1000,
		.help = "races for a binding key, before it is given up" },
	[SETTING_RUN_RM_LIFETIME] = { "run-rm-lifetime", SETTING_MS, SECONDS(3600), SECONDS(1),
		365 * DAY, .help = "a sandbox of run --rm lives at most" },
	[SETTING_BULK_RATE] = { "bulk-rate", SETTING_NUMBER, 20, 1, 1000,
		.help = "sandboxes that one verb changes in a second, at most" },
	[SETTING_AUTO_CLEANUP] = { "auto-cleanup", SETTING_SWITCH, 0, 0, 1,
		.help = "no limit: the dashboard deletes the unnamed ones it made when it ends" },
	[SETTING_TOMBSTONE_TIME] = { "tombstone-time", SETTING_MS, SECONDS(600), 0, DAY,
		.help = "the dashboard shows a sandbox that was deleted, as it was last; 0: not at all" },
	[SETTING_TOMBSTONES] = { "tombstones", SETTING_NUMBER, 100, 0, 10000,
		.help = "so many of them, the newest" },
	[SETTING_PRODUCTION_CONTEXTS] = { "production-contexts", SETTING_TEXT,
		.initial_text = "",
		.help = "no limit: patterns of contexts where a change of many asks for their number, as prod-* *-live" },
	[SETTING_PREFIX_KEY] = { "prefix-key", SETTING_TEXT, .initial_text = "ctrl-] F12",
		.help = "no limit: the keys that a shell pane keeps for sandmux, up to three" },
	[SETTING_GLYPHS] = { "glyphs", SETTING_TEXT, .initial_text = "auto",
		.words = "auto unicode ascii",
		.help = "auto, unicode or ascii: what borders, bars and signs are drawn with" },
	[SETTING_REMEMBER] = { "remember", SETTING_SWITCH, 1, 0, 1,
		.help = "no limit: the dashboard keeps theme, order, folders and the like" },
};
_Static_assert(sizeof rows / sizeof *rows == SETTING_COUNT, "a row for each setting");

static int64_t values[SETTING_COUNT];
static bool is_set[SETTING_COUNT];
static char texts[SETTING_COUNT][SETTING_TEXT_BYTES];
static bool (*takes_text[SETTING_COUNT])(const char *text, struct err *err);

const char *setting_initial_text(enum setting setting)
{
	return rows[setting].initial_text;
}

const char *setting_text(enum setting setting)
{
	return is_set[setting] ? texts[setting] : setting_initial_text(setting);
}

bool setting_is(enum setting setting, const char *word)
{
	return strcmp(setting_text(setting), word) == 0;
}

void setting_on_text(enum setting setting, bool (*take)(const char *text, struct err *err))
{
	if (rows[setting].unit == SETTING_TEXT)
		takes_text[setting] = take;
}

static bool is_one_of(const char *words, const char *value)
{
	size_t n = strlen(value);
	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		if (length == n && memcmp(at, value, n) == 0)
			return true;
		at += length;
	}
	return false;
}

static bool set_text(enum setting setting, const char *value, struct err *err)
{
	if (strlen(value) >= sizeof texts[setting])
		return err_set(err, ERR_ARG_INVALID, "%s: '%.40s' is too long",
			rows[setting].name, value);
	if (rows[setting].words && !is_one_of(rows[setting].words, value))
		return err_set(err, ERR_ARG_INVALID, "%s: '%.40s' is none of: %s",
			rows[setting].name, value, rows[setting].words);
	if (takes_text[setting] != NULL && !takes_text[setting](value, err))
		return err_prefix(err, "%s", rows[setting].name);
	snprintf(texts[setting], sizeof texts[setting], "%s", value);
	is_set[setting] = true;
	return true;
}

const struct setting_row *setting_row(enum setting setting)
{
	return &rows[setting];
}

int64_t setting_get(enum setting setting)
{
	return is_set[setting] ? values[setting] : rows[setting].initial;
}

const char *setting_format(enum setting setting, int64_t value, char out[SETTING_TEXT_BYTES])
{
	char size[NUM_SIZE_BYTES];

	switch (rows[setting].unit) {
	case SETTING_TEXT:
		snprintf(out, SETTING_TEXT_BYTES, "%s", setting_text(setting));
		break;
	case SETTING_MS:
		if (value % 1000 == 0)
			snprintf(out, SETTING_TEXT_BYTES, "%llds", (long long)(value / 1000));
		else
			snprintf(out, SETTING_TEXT_BYTES, "%lldms", (long long)value);
		break;
	case SETTING_BYTES:
		snprintf(out, SETTING_TEXT_BYTES, "%s",
			value ? num_format_size((uint64_t)value, size) : "none");
		break;
	case SETTING_SWITCH:
		snprintf(out, SETTING_TEXT_BYTES, "%s", value ? "on" : "off");
		break;
	case SETTING_NUMBER_LIMIT:
		if (value == 0) {
			snprintf(out, SETTING_TEXT_BYTES, "none");
			break;
		}
		__attribute__((fallthrough));
	default:
		snprintf(out, SETTING_TEXT_BYTES, "%lld", (long long)value);
	}
	return out;
}

static bool parse(const struct setting_row *row, const char *text, int64_t *out)
{
	uint64_t bytes;

	switch (row->unit) {
	case SETTING_MS:
		return clock_parse_duration(text, out);
	case SETTING_BYTES:
		if (strcmp(text, "none") == 0)
			bytes = 0;
		else if (!num_parse_size(text, INT64_MAX, &bytes))
			return false;
		*out = (int64_t)bytes;
		return true;
	case SETTING_SWITCH:
		*out = strcmp(text, "on") == 0;
		return *out || strcmp(text, "off") == 0;
	case SETTING_NUMBER_LIMIT:
		*out = 0;
		if (strcmp(text, "none") == 0)
			return true;
		__attribute__((fallthrough));
	default:
		return num_parse_i64(text, INT64_MIN, INT64_MAX, out);
	}
}

bool setting_set(const char *name, const char *value, struct err *err)
{
	static const char *const like[] = {
		[SETTING_MS] = "a time such as 30s or 5m",
		[SETTING_BYTES] = "a size such as 64KiB or 8MiB",
		[SETTING_NUMBER] = "a number",
		[SETTING_NUMBER_LIMIT] = "a number or none",
		[SETTING_SWITCH] = "on or off",
	};
	char min[SETTING_TEXT_BYTES], max[SETTING_TEXT_BYTES];

	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_row *row = &rows[i];
		int64_t number;
		if (strcmp(row->name, name) != 0)
			continue;
		if (row->unit == SETTING_TEXT)
			return set_text((enum setting)i, value, err);
		if (!parse(row, value, &number))
			return err_set(err, ERR_ARG_INVALID, "%s: '%.40s' is not %s", name,
				value, like[row->unit]);
		if (number < row->min || number > row->max)
			return err_set(err, ERR_ARG_INVALID,
				"%s: '%.40s' is not within %s and %s", name, value,
				setting_format((enum setting)i, row->min, min),
				setting_format((enum setting)i, row->max, max));
		values[i] = number;
		is_set[i] = true;
		return true;
	}
	return err_set(err, ERR_ARG_INVALID,
		"there is no setting '%.60s'; `sandmux settings` lists them", name);
}

static bool is_switch(const char *name)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].unit == SETTING_SWITCH;
	return false;
}

static bool set_item(const cJSON *item, struct err *err)
{
	char number[32];
	const char *value = number;

	if (cJSON_IsString(item))
		value = item->valuestring;
	else if (cJSON_IsBool(item) &&
		 is_switch(item->string)) /* what older YAML says for on and off */
		value = cJSON_IsTrue(item) ? "on" : "off";
	else if (cJSON_IsNumber(item))
		snprintf(number, sizeof number, "%.0f", item->valuedouble);
	else
		return err_set(err, ERR_ARG_INVALID, "%.60s: a text or a number is wanted",
			item->string);
	return setting_set(item->string, value, err);
}

bool setting_read_file(const char *path, struct err *err)
{
	const cJSON *item;
	bool ok = true;

	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return true;
	cJSON *file = yaml_parse_file(path, FILE_MAX_BYTES, err);
	if (!file)
		return err_prefix(err, "%s", path);
	if (!cJSON_IsObject(file) && !cJSON_IsNull(file))
		ok = err_set(err, ERR_ARG_INVALID, "it must be a map of settings");
	cJSON_ArrayForEach(item, file)
	{
		if (!(ok = ok && set_item(item, err)))
			break;
	}
	cJSON_Delete(file);
	if (ok)
		return true;
	if (err)
		err->code = ERR_CONFIG_FILE;
	return err_prefix(err, "%s", path);
}

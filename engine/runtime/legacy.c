// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/legacy.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	MAX_COMMAND_BYTES = 1 << 20, /* of one argument of execve() it is 128 KiB anyway */
	MAX_URL_BYTES = 64 << 10,
	MAX_FORM_BYTES = 64 << 10,
};

/* ---- paths */
static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '~';
}

char *runtime_legacy_url(const char *endpoint, const char *path)
{
	struct str url;

	str_init(&url, MAX_URL_BYTES);
	str_addf(&url, "/%s/", endpoint);
	if (!*path)
		path = ".";
	/* a dot alone would be taken out of the URL by everybody on the way */
	bool is_dot = strcmp(path, ".") == 0;
	for (const char *c = path; *c; c++) {
		if (is_unreserved(*c) || (*c == '.' && !is_dot))
			str_add_char(&url, *c);
		else if (*c == '%')
			str_add(&url, "%2525");
		else
			str_addf(&url, "%%%02X", (unsigned)(unsigned char)*c);
	}
	return str_take(&url);
}

/* ---- execute */
static void add_quoted(struct str *out, const char *text)
{
	str_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			str_add(out, "'\\''");
		else
			str_add_char(out, *text);
	}
	str_add_char(out, '\'');
}

/* RFC 3629; JSON has no other text. */
static bool is_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		unsigned char lead = *p++;
		int more = lead < 0x80   ? 0
			   : lead < 0xc2 ? -1
			   : lead < 0xe0 ? 1
			   : lead < 0xf0 ? 2
			   : lead < 0xf5 ? 3
					 : -1;
		if (more < 0)
			return false;
		if (more > 1) {
			unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
			unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
			if (*p < low || *p > high)
				return false;
		}
		for (; more > 0; more--, p++)
			if ((*p & 0xc0) != 0x80)
				return false;
	}
	return true;
}

char *runtime_legacy_execute_body(
	const char *const *argv, const char *const *env, const char *cwd, struct err *err)
{
	struct str script, command;

	if (env && env[0] && strchr(argv[0], '=')) {
		err_set(err, ERR_ARG_INVALID,
			"a program with '=' in its name cannot be started with variables");
		return NULL;
	}
	str_init(&script, MAX_COMMAND_BYTES);
	str_init(&command, MAX_COMMAND_BYTES);
	if (cwd && *cwd) {
		/* never an option and never CDPATH */
		str_add(&script, "cd -- ");
		char *safe = cwd[0] == '/' ? x_strdup(cwd) : x_asprintf("./%s", cwd);
		add_quoted(&script, safe);
		free(safe);
		str_add(&script, " && ");
	}
	str_add(&script, "exec");
	if (env && env[0])
		str_add(&script, " env");
	for (; env && *env; env++) {
		str_add_char(&script, ' ');
		add_quoted(&script, *env);
	}
	for (; *argv; argv++) {
		str_add_char(&script, ' ');
		add_quoted(&script, *argv);
	}
	str_add(&command, "/bin/sh -c ");
	add_quoted(&command, script.p);
	char *body = NULL;
	if (script.truncated || command.truncated) {
		err_set(err, ERR_ARG_INVALID, "the command is too long");
	} else if (!is_utf8(command.p)) {
		err_set(err, ERR_ARG_INVALID, "this runtime takes commands as UTF-8 text only");
	} else {
		cJSON *json = cJSON_CreateObject();
		cJSON_AddStringToObject(json, "command", command.p);
		body = cJSON_PrintUnformatted(json);
		cJSON_Delete(json);
		if (!body)
			abort(); /* no memory */
	}
	str_deinit(&script);
	str_deinit(&command);
	return body;
}

/* The runtime tells a failed start as a result: exit code 1 and these words alone. */
static bool is_started(int exit_code, const char *out, const char *err_out, struct err *err)
{
	static const char words[] = "Failed to execute command: ";

	if (exit_code != 1 || *out || strncmp(err_out, words, sizeof words - 1) != 0)
		return true;
	enum err_code code = strstr(err_out, "No such file")        ? ERR_PROC_COMMAND_NOT_FOUND
			     : strstr(err_out, "Permission denied") ? ERR_PROC_DENIED
			     : strstr(err_out, "timed out")         ? ERR_OP_TIMEOUT
								    : ERR_PROC_PROTOCOL;
	return err_set(err, code, "%.300s", err_out);
}

bool runtime_legacy_result_parse(
	struct slice body, struct runtime_legacy_result *out, struct err *err)
{
	*out = (struct runtime_legacy_result){ 0 };
	cJSON *json = json_parse(body, err);
	if (!json)
		return false;
	const char *text = json_str(json, "stdout", NULL);
	const char *err_text = json_str(json, "stderr", NULL);
	int64_t exit_code = json_int(json, INT64_MIN, "exit_code", NULL);
	bool ok = text && err_text && exit_code >= -255 && exit_code <= 255;
	if (!ok)
		err_set(err, ERR_RUNTIME_PROTOCOL,
			"the answer has no stdout, stderr and exit_code");
	else
		ok = is_started((int)exit_code, text, err_text, err);
	if (ok) {
		out->exit_code = (int)exit_code;
		out->out = x_strdup(text);
		out->err_out = x_strdup(err_text);
	}
	cJSON_Delete(json);
	return ok;
}

void runtime_legacy_result_deinit(struct runtime_legacy_result *result)
{
	free(result->out);
	free(result->err_out);
}

/* ---- upload (RFC 7578) */
/* The server's parser takes what follows the last backslash of a name such as C:\x or \\x, and a header ends with its
 * line. */
static bool is_sendable(const char *path)
{
	if (path[0] == '\\' || (path[0] && path[1] == ':' && path[2] == '\\'))
		return false;
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return is_utf8(path);
}

bool runtime_legacy_form_init(
	struct runtime_legacy_form *form, const char *path, struct err *err)
{
	struct str head;
	char random[33];

	*form = (struct runtime_legacy_form){ 0 };
	if (!is_sendable(path))
		return err_set(
			err, ERR_ARG_PATH, "this runtime cannot take a file of that name");
	digest_random_hex(random, 32);
	snprintf(form->boundary, sizeof form->boundary, "sandmux-%s", random);
	str_init(&head, MAX_FORM_BYTES);
	str_addf(&head, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"",
		form->boundary);
	for (const char *c = path; *c; c++) {
		if (*c == '"' || *c == '\\')
			str_add_char(&head, '\\');
		str_add_char(&head, *c);
	}
	str_add(&head, "\"\r\nContent-Type: application/octet-stream\r\n\r\n");
	bool is_whole = !head.truncated;
	form->head_n = head.n;
	form->head = str_take(&head);
	form->tail = x_asprintf("\r\n--%s--\r\n", form->boundary);
	form->tail_n = strlen(form->tail);
	return is_whole || err_set(err, ERR_ARG_PATH, "the path is too long");
}

void runtime_legacy_form_deinit(struct runtime_legacy_form *form)
{
	free(form->head);
	free(form->tail);
}

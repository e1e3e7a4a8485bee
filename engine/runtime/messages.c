// SPDX-License-Identifier: Apache-2.0
/* protobuf-c in and out. Its unpacker gives NULL for broken bytes and for nothing else we check: sizes are
 * limited before it runs, numbers after. */
#include "engine/runtime/messages.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "proto/process.pb-c.h"

#include <stdlib.h>

enum { MAX_MESSAGE_BYTES = 64 << 20 }; /* above every limit a caller may set */

static char *packed(const ProtobufCMessage *message, size_t *n)
{
	size_t bytes = protobuf_c_message_get_packed_size(message);
	char *out = x_malloc(bytes ? bytes : 1);

	*n = protobuf_c_message_pack(message, (uint8_t *)out);
	return out;
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* protobuf-c wants char * where it only reads. */
static char *unconst(const char *text)
{
	union {
		const char *in;
		char *out;
	} u = { .in = text };
	return u.out;
}

struct built_config {
	Process__V1__ProcessConfig config;
	char **command;
	Process__V1__ProcessConfig__EnvVarsEntry *entries, **entry_ptrs;
};

static void config_init(struct built_config *built, const struct runtime_message_config *from)
{
	size_t argc = count(from->argv), envc = count(from->env);

	*built = (struct built_config){ .config = PROCESS__V1__PROCESS_CONFIG__INIT };
	built->command = x_calloc(argc + 1, sizeof *built->command);
	for (size_t i = 0; i < argc; i++)
		built->command[i] = unconst(from->argv[i]);
	built->config.n_command = argc;
	built->config.command = built->command;

	built->entries = x_calloc(envc + 1, sizeof *built->entries);
	built->entry_ptrs = x_calloc(envc + 1, sizeof(void *));
	for (size_t i = 0; i < envc; i++) {
		const char *equals = strchr(from->env[i], '=');
		Process__V1__ProcessConfig__EnvVarsEntry *entry = &built->entries[i];
		process__v1__process_config__env_vars_entry__init(entry);
		entry->key = x_strndup(from->env[i],
			equals ? (size_t)(equals - from->env[i]) : strlen(from->env[i]));
		entry->value = unconst(equals ? equals + 1 : "");
		built->entry_ptrs[i] = entry;
	}
	built->config.n_env_vars = envc;
	built->config.env_vars = built->entry_ptrs;
	if (from->cwd) {
		built->config.cwd_presence_case = PROCESS__V1__PROCESS_CONFIG__CWD_PRESENCE_CWD;
		built->config.cwd = unconst(from->cwd);
	}
}

static void config_deinit(struct built_config *built)
{
	for (size_t i = 0; i < built->config.n_env_vars; i++)
		free(built->entries[i].key);
	free(built->entries);
	free(built->entry_ptrs);
	free(built->command);
}

char *runtime_message_start(
	const struct runtime_message_config *config, int pty_cols, int pty_rows, size_t *n)
{
	struct built_config built;
	Process__V1__StartRequest request = PROCESS__V1__START_REQUEST__INIT;
	Process__V1__PTY pty = PROCESS__V1__PTY__INIT;

	config_init(&built, config);
	request.config = &built.config;
	if (pty_cols > 0 || pty_rows > 0) {
		pty.cols = (uint32_t)pty_cols;
		pty.rows = (uint32_t)pty_rows;
		request.pty = &pty;
	}
	char *out = packed(&request.base, n);
	config_deinit(&built);
	return out;
}

char *runtime_message_execute(const struct runtime_message_config *config, size_t *n)
{
	struct built_config built;
	Process__V1__ExecuteRequest request = PROCESS__V1__EXECUTE_REQUEST__INIT;

	config_init(&built, config);
	request.config = &built.config;
	char *out = packed(&request.base, n);
	config_deinit(&built);
	return out;
}

char *runtime_message_stdin(int pid, struct slice input, size_t *n)
{
	Process__V1__WriteStdinRequest request = PROCESS__V1__WRITE_STDIN_REQUEST__INIT;

	request.process_id = pid;
	request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_INPUT;
	request.input.data = (uint8_t *)unconst(input.p);
	request.input.len = input.n;
	return packed(&request.base, n);
}

char *runtime_message_stdin_eof(int pid, size_t *n)
{
	Process__V1__WriteStdinRequest request = PROCESS__V1__WRITE_STDIN_REQUEST__INIT;
	Process__V1__Empty empty = PROCESS__V1__EMPTY__INIT;

	request.process_id = pid;
	request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_EOF;
	request.eof = &empty;
	return packed(&request.base, n);
}

char *runtime_message_signal(int pid, int signal, size_t *n)
{
	Process__V1__SendSignalRequest request = PROCESS__V1__SEND_SIGNAL_REQUEST__INIT;

	request.process_id = pid;
	request.signal = (Process__V1__Signal)signal;
	return packed(&request.base, n);
}

char *runtime_message_resize(int pid, int cols, int rows, size_t *n)
{
	Process__V1__ResizeTTYRequest request = PROCESS__V1__RESIZE_TTYREQUEST__INIT;

	request.process_id = pid;
	request.cols = (uint32_t)cols;
	request.rows = (uint32_t)rows;
	return packed(&request.base, n);
}

static bool check_size(struct slice message, struct err *err)
{
	if (message.n <= MAX_MESSAGE_BYTES)
		return true;
	return err_set(err, ERR_PROC_PROTOCOL, "a message of %zu bytes", message.n);
}

static struct slice slice_of_bytes(ProtobufCBinaryData bytes)
{
	return (struct slice){ bytes.data ? (const char *)bytes.data : "", bytes.len };
}

bool runtime_message_event_parse(
	struct slice message, struct runtime_message_event *event, struct err *err)
{
	*event = (struct runtime_message_event){ 0 };
	if (!check_size(message, err))
		return false;
	Process__V1__StartResponse *response = process__v1__start_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	if (!response)
		return err_set(
			err, ERR_PROC_PROTOCOL, "an event of the process could not be read");
	event->owner = response;
	switch (response->event_case) {
	case PROCESS__V1__START_RESPONSE__EVENT_INIT:
		event->kind = MESSAGE_INIT;
		event->pid = response->init ? response->init->process_id : 0;
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDOUT:
		event->kind = MESSAGE_STDOUT;
		event->bytes = slice_of_bytes(response->stdout);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDERR:
		event->kind = MESSAGE_STDERR;
		event->bytes = slice_of_bytes(response->stderr);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_EXIT:
		event->kind = MESSAGE_EXIT;
		event->exit_code = response->exit ? response->exit->exit_code : 0;
		break;
	case PROCESS__V1__START_RESPONSE__EVENT__NOT_SET:
	default:
		break;
	}
	return true;
}

void runtime_message_event_deinit(struct runtime_message_event *event)
{
	if (event->owner)
		process__v1__start_response__free_unpacked(event->owner, NULL);
	*event = (struct runtime_message_event){ 0 };
}

bool runtime_message_result_parse(
	struct slice message, struct runtime_message_result *result, struct err *err)
{
	*result = (struct runtime_message_result){ 0 };
	if (!check_size(message, err))
		return false;
	Process__V1__ExecuteResponse *response = process__v1__execute_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	if (!response)
		return err_set(
			err, ERR_PROC_PROTOCOL, "the answer of the process could not be read");
	result->owner = response;
	result->exit_code = response->exit_code;
	result->out = slice_of_bytes(response->stdout);
	result->err_out = slice_of_bytes(response->stderr);
	return true;
}

void runtime_message_result_deinit(struct runtime_message_result *result)
{
	if (result->owner)
		process__v1__execute_response__free_unpacked(result->owner, NULL);
	*result = (struct runtime_message_result){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
/* kubeconfig files; and, chosen by the first byte, the other small texts of the same door: what an exec plugin
 * writes ('>'), a label selector ('='), a server URL with a NO_PROXY list on the second line ('@'). */
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/k8s/selector.h"
#include "engine/kube/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *get(const void *arg, const char *key)
{
	(void)arg;
	return key[0] & 1 ? "12" : NULL;
}

static void try_selector(const char *text)
{
	struct err err = { 0 };
	struct k8s_selector *selector = k8s_label_selector_parse(text, &err);
	if (selector == NULL && err.code != ERR_ARG_INVALID)
		abort();
	if (selector != NULL)
		k8s_selector_matches(selector, get, NULL);
	k8s_selector_free(selector);
}

static void try_plugin(const char *text, size_t n)
{
	static char version[] = "client.authentication.k8s.io/v1", command[] = "/x/plug";
	const struct kube_exec_spec spec = { .api_version = version, .command = command };
	struct kube_exec_answer answer;
	struct err err = { 0 };
	if (kube_exec_parse(&spec, (struct slice){ text, n }, &answer, &err)) {
		if (answer.token != NULL && strpbrk(answer.token, "\r\n") != NULL)
			abort();
		kube_exec_answer_deinit(&answer);
	}
}

static void try_proxy(char *text)
{
	char *line = strchr(text, '\n');
	if (line == NULL)
		return;
	*line = '\0';
	setenv("HTTPS_PROXY", "proxy:1", 1);
	setenv("NO_PROXY", line + 1, 1);
	free(kube_proxy_from_env(text));
	unsetenv("HTTPS_PROXY");
	unsetenv("NO_PROXY");
}

static void try_config(const char *text, size_t n)
{
	int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
	char path[64];
	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const struct kube_config_opts opts = { .kubeconfig = path };
	struct err err = { 0 };
	struct kube_config *config = kube_config_load(&opts, &err);
	close(fd);
	if (config == NULL) {
		if (err.code == ERR_NONE || err.msg[0] == '\0')
			abort();
		return;
	}
	if (!kube_config_server(config)[0] || !kube_config_namespace(config)[0])
		abort();
	if (config->credentials.token != NULL && strpbrk(config->credentials.token, "\r\n "))
		abort();
	free(kube_config_contexts(config));
	kube_config_unref(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > 64 << 10)
		return 0;
	char *text = x_malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	switch (text[0]) {
	case '>':
		try_plugin(text + 1, size - 1);
		break;
	case '=':
		try_selector(text + 1);
		break;
	case '@':
		try_proxy(text + 1);
		break;
	default:
		try_config(text, size);
	}
	free(text);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* What an exec plugin wrote: an ExecCredential of the version that was asked for. Never quoted in an error. */
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/k8s/time.h"
#include "engine/kube/exec.h"

#include <stdlib.h>
#include <string.h>

void kube_exec_answer_deinit(struct kube_exec_answer *answer)
{
	x_free_secret(answer->token);
	free(answer->cert_pem);
	x_free_secret(answer->key_pem);
	memset(answer, 0, sizeof *answer);
}

const char *kube_exec_name(const struct kube_exec_spec *spec)
{
	const char *slash = strrchr(spec->command, '/');
	return slash ? slash + 1 : spec->command;
}

bool kube_exec_bad(const struct kube_exec_spec *spec, struct err *err, const char *what)
{
	return err_set(
		err, ERR_CONFIG_EXEC_PLUGIN, "plugin %s: %s", kube_exec_name(spec), what);
}

bool kube_exec_parse(const struct kube_exec_spec *spec, struct slice output,
	struct kube_exec_answer *answer, struct err *err)
{
	memset(answer, 0, sizeof *answer);
	cJSON *tree = json_parse(output, NULL);
	if (tree == NULL)
		return kube_exec_bad(spec, err, "its output is not JSON");
	const char *version = json_str(tree, "apiVersion", NULL);
	const char *kind = json_str(tree, "kind", NULL);
	const char *token = json_str(tree, "status", "token", NULL);
	const char *cert = json_str(tree, "status", "clientCertificateData", NULL);
	const char *key = json_str(tree, "status", "clientKeyData", NULL);
	const char *expires = json_str(tree, "status", "expirationTimestamp", NULL);
	int64_t expires_ns = 0;
	bool ok = false;
	if (kind == NULL || strcmp(kind, "ExecCredential") != 0) {
		kube_exec_bad(spec, err, "its output is not an ExecCredential");
	} else if (version == NULL || strcmp(version, spec->api_version) != 0) {
		kube_exec_bad(spec, err,
			"it answered with another apiVersion than the kubeconfig asks for");
	} else if ((cert == NULL) != (key == NULL)) {
		kube_exec_bad(spec, err, "it gave a certificate without a key, or the reverse");
	} else if ((token == NULL || !token[0]) && cert == NULL) {
		kube_exec_bad(spec, err, "it gave neither a token nor a certificate");
	} else if (token != NULL && (!kube_is_header_value(token) || strchr(token, ' '))) {
		kube_exec_bad(
			spec, err, "its token contains characters that a header cannot carry");
	} else if (expires != NULL && !k8s_time_parse(expires, &expires_ns)) {
		kube_exec_bad(spec, err, "its expirationTimestamp is not an RFC 3339 date");
	} else {
		answer->token = token && token[0] ? x_strdup(token) : NULL;
		answer->cert_pem = x_strdup(cert);
		answer->key_pem = x_strdup(key);
		answer->expires_wall_ms = expires ? expires_ns / 1000000 : 0;
		ok = true;
	}
	cJSON_Delete(tree);
	return ok;
}

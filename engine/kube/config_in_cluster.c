// SPDX-License-Identifier: Apache-2.0
/* The service account that Kubernetes mounts into every pod (client-go rest.InClusterConfig). */
#include "engine/kube/config_internal.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tests point it elsewhere. */
static const char *account_dir(void)
{
	const char *dir = getenv("SANDMUX_SERVICE_ACCOUNT_DIR");
	return dir != NULL && dir[0] ? dir : "/var/run/secrets/kubernetes.io/serviceaccount";
}

bool kube_in_cluster_exists(void)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	if (host == NULL || !host[0] || port == NULL || !port[0])
		return false;
	char *token = x_asprintf("%s/token", account_dir());
	bool exists = access(token, R_OK) == 0;
	free(token);
	return exists;
}

static char *account_file(const char *name)
{
	char *path = x_asprintf("%s/%s", account_dir(), name);
	size_t n;
	char *text = file_read(path, KUBE_CONFIG_MAX_BYTES, &n, NULL);
	free(path);
	return text;
}

bool kube_in_cluster_read(struct kube_config *config, struct err *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *given = getenv("KUBERNETES_SERVICE_PORT");
	if (host == NULL || !host[0] || given == NULL || !given[0])
		return err_set(err, ERR_CONFIG_NONE, "not in a cluster: %s is not set",
			host == NULL || !host[0] ? "KUBERNETES_SERVICE_HOST"
						 : "KUBERNETES_SERVICE_PORT");
	if (!kube_in_cluster_exists())
		return err_set(err, ERR_CONFIG_NONE,
			"not in a cluster: the service account's %s/token cannot be read",
			account_dir());
	uint64_t port;
	if (!num_parse_u64(given, 65535, &port) || port == 0)
		return err_set(err, ERR_CONFIG_NONE, "KUBERNETES_SERVICE_PORT is not a port");
	bool bracket = strchr(host, ':') != NULL && host[0] != '[';
	config->server =
		x_asprintf(bracket ? "https://[%s]:%d" : "https://%s:%d", host, (int)port);
	config->credentials.token_file = x_asprintf("%s/token", account_dir());
	config->ca_pem = account_file("ca.crt");
	const char *namespace_ = getenv("POD_NAMESPACE");
	if (namespace_ != NULL && namespace_[0]) {
		config->namespace_ = x_strdup(namespace_);
	} else {
		config->namespace_ = account_file("namespace");
		if (config->namespace_ != NULL)
			config->namespace_[strcspn(config->namespace_, "\r\n")] = '\0';
	}
	config->context = x_strdup("");
	config->user = x_strdup("");
	return true;
}

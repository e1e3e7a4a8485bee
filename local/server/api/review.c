// SPDX-License-Identifier: Apache-2.0
/* Access and identity reviews. Whoever has the token may do everything, so the answers are short. kubectl
 * auth can-i sends its question in protobuf: the answer repeats the question only when it came as JSON
 * (clients read status alone). */
#include "local/server/api/api.h"

#include "engine/base/json.h"
#include "engine/k8s/status.h"

#include <string.h>

static cJSON *read_question(struct api_request *req, cJSON **status)
{
	char type[128];
	api_request_content_type(req, type);
	*status = NULL;
	if (strcmp(type, "application/vnd.kubernetes.protobuf") == 0) {
		if (req->body.n < 4 || memcmp(req->body.p, "k8s\0", 4) != 0)
			*status = k8s_status_bad_request("not a Kubernetes protobuf message");
		return cJSON_CreateObject();
	}
	return api_request_parse_body(req, false, status);
}

static cJSON *answer_new(cJSON *question, const char *kind, const char *version)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", kind);
	cJSON_AddStringToObject(out, "apiVersion", version);
	cJSON_AddNullToObject(cJSON_AddObjectToObject(out, "metadata"), "creationTimestamp");
	cJSON *spec = cJSON_DetachItemFromObjectCaseSensitive(question, "spec");
	cJSON_AddItemToObject(out, "spec", spec ? spec : cJSON_CreateObject());
	return out;
}

static void add_all(cJSON *rule, const char *key)
{
	cJSON_AddItemToArray(cJSON_AddArrayToObject(rule, key), cJSON_CreateString("*"));
}

static void add_rules(cJSON *status)
{
	cJSON *rule = cJSON_CreateObject();
	add_all(rule, "verbs");
	add_all(rule, "apiGroups");
	add_all(rule, "resources");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(status, "resourceRules"), rule);
	rule = cJSON_CreateObject();
	add_all(rule, "verbs");
	add_all(rule, "nonResourceURLs");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(status, "nonResourceRules"), rule);
	cJSON_AddBoolToObject(status, "incomplete", false);
}

bool api_review(struct api_request *req, const char *group, const char *resource)
{
	bool is_access = strcmp(resource, "selfsubjectaccessreviews") == 0;
	bool is_rules = strcmp(resource, "selfsubjectrulesreviews") == 0;
	bool is_self = strcmp(resource, "selfsubjectreviews") == 0;
	const char *wanted = is_self ? "authentication.k8s.io" : "authorization.k8s.io";
	cJSON *failure, *out, *status;
	if ((!is_access && !is_rules && !is_self) || strcmp(group, wanted) != 0)
		return false;
	if (req->method != EVHTTP_REQ_POST) {
		api_request_fail_take(req,
			k8s_status_new(K8S_METHOD_NOT_ALLOWED,
				"the server does not allow this method on the requested resource"));
		return true;
	}
	cJSON *question = read_question(req, &failure);
	if (failure) {
		cJSON_Delete(question);
		api_request_fail_take(req, failure);
		return true;
	}
	out = answer_new(question,
		is_access  ? "SelfSubjectAccessReview"
		: is_rules ? "SelfSubjectRulesReview"
			   : "SelfSubjectReview",
		is_self ? "authentication.k8s.io/v1" : "authorization.k8s.io/v1");
	cJSON_Delete(question);
	status = cJSON_AddObjectToObject(out, "status");
	if (is_access) {
		cJSON_AddBoolToObject(status, "allowed", true);
		cJSON_AddStringToObject(status, "reason", "the token of the local backend");
	} else if (is_rules) {
		add_rules(status);
	} else {
		cJSON *user = cJSON_AddObjectToObject(status, "userInfo");
		cJSON_AddStringToObject(user, "username", "sandmux-local");
		cJSON *groups = cJSON_AddArrayToObject(user, "groups");
		cJSON_AddItemToArray(groups, cJSON_CreateString("system:masters"));
		cJSON_AddItemToArray(groups, cJSON_CreateString("system:authenticated"));
		cJSON_DeleteItemFromObjectCaseSensitive(out, "spec");
	}
	api_request_reply_json_take(req, 201, out);
	return true;
}

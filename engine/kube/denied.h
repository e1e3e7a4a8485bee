// SPDX-License-Identifier: Apache-2.0
/* Which right a 403 was about, as fields: those of the request, as the API server itself reads them from method and path
 * (k8s.io/apiserver RequestInfo). */
#pragma once

struct err;

/* Fills err->denied if err->msg is an authorizer's refusal of just that request ("User … cannot VERB resource
 * \"RESOURCE/SUB\" …"). Admission shares the status and the reason, and refuses one object, not the verb; and a refused
 * impersonation is about another right: both leave it empty. path: without the server's prefix. */
void kube_denied_of_request(
	struct err *err, const char *method, const char *path, const char *query);
/* The same for one of several verbs that one request may need; NULL at the end. */
void kube_denied_of_verbs(struct err *err, const char *const *verbs, const char *path);

// SPDX-License-Identifier: Apache-2.0
/* Field selectors: "field=value,field!=value". Values are taken as they are; a backslash escapes ',', '=' and itself. */
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/k8s/requirement.h"

#include <string.h>

/* The value up to the next comma that is not escaped. */
static char *take_value(const char **p)
{
	char *value = x_malloc(strlen(*p) + 1);
	size_t used = 0;
	for (; **p && **p != ','; (*p)++) {
		if (**p == '\\' && (*p)[1])
			(*p)++;
		value[used++] = **p;
	}
	value[used] = '\0';
	return value;
}

static bool take_requirement(
	const char *whole, const char **p, struct k8s_requirement *requirement, struct err *err)
{
	const char *from = *p;
	size_t n = strcspn(from, "=!,");
	requirement->key = x_strndup(from, n);
	*p = from + n;
	requirement->op = **p == '!' ? K8S_OP_NOT_IN : K8S_OP_IN;
	if (**p == '!')
		(*p)++;
	if (**p != '=')
		return err_set(err, ERR_ARG_INVALID,
			"invalid field selector: \"%.200s\"; can't understand \"%.100s\"",
			whole, from);
	(*p)++;
	if (**p == '=')
		(*p)++;
	return true;
}

struct k8s_selector *k8s_field_selector_parse(
	const char *text, k8s_field_fn *is_supported, const void *arg, struct err *err)
{
	struct k8s_selector *selector = k8s_selector_new(text, err);
	if (selector == NULL)
		return NULL;
	const char *p = text;
	for (bool more = *p != '\0'; more; more = *p++ != '\0') {
		struct k8s_requirement *requirement = k8s_selector_add(selector);
		if (requirement == NULL) {
			err_set(err, ERR_ARG_INVALID, "too many fields in the selector");
			goto bad;
		}
		if (!take_requirement(text, &p, requirement, err))
			goto bad;
		if (!is_supported(arg, requirement->key)) {
			err_set(err, ERR_ARG_INVALID, "field label not supported: %.200s",
				requirement->key);
			goto bad;
		}
		k8s_requirement_add_value(requirement, take_value(&p));
	}
	return selector;
bad:
	k8s_selector_free(selector);
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* Lists with their pages and revisions, and watches. */
#include "tests/unit/local/server/backend.h"

#include <ctype.h>

static char *names_in(const char *text)
{
	static char out[400];
	cJSON *list = cJSON_Parse(text);
	const cJSON *item;
	out[0] = '\0';
	cJSON_ArrayForEach(item, json_get(list, "items", NULL)) snprintf(out + strlen(out),
		sizeof out - strlen(out), "%s ", json_str(item, "metadata", "name", NULL));
	cJSON_Delete(list);
	return out;
}

static void add_leases(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char body[200];
		snprintf(body, sizeof body,
			"{'metadata':{'name':'%s','labels':{'n':'%s','odd':'%s'}},'spec':{}}",
			names[i], names[i], i % 2 ? "yes" : "no");
		struct got got = ask("POST", LEASES, body, NULL);
		assert_int_equal(got.status, 201);
		str_deinit(&got.body);
	}
}

static void expect_list(const char *query, int status, const char *wanted)
{
	char path[1000];
	snprintf(path, sizeof path, "%s%s", LEASES, query);
	struct got got = ask("GET", path, "", NULL);
	const char *is = status == 200 ? names_in(got.body.p) : wanted;
	if (got.status != status || strcmp(is, wanted) != 0)
		fail_msg("%s: %d %s", query, got.status, got.body.p);
	str_deinit(&got.body);
}

static void test_lists(void **state)
{
	static const char *const names[] = { "c", "a", "e", "b", "d" };
	(void)state;
	add_leases(names, 3);
	int64_t middle = store_revision(backend->store);
	add_leases(names + 3, 2);
	char query[200];
	expect_list("", 200, "a b c d e ");
	expect_list("?labelSelector=odd%3Dyes", 200, "a d ");
	expect_list("?labelSelector=odd%21%3Dyes", 200, "b c e ");
	expect_list("?labelSelector=%21", 400, "");
	expect_list("?fieldSelector=metadata.name%3Dd", 200, "d ");
	expect_list("?fieldSelector=nope%3Dd", 400, "");
	expect_list("?limit=x", 400, "");
	expect_list("?limit=-1", 400, "");
	expect_list("?limit=0", 200, "a b c d e ");
	expect_list("?limit=5", 200, "a b c d e ");
	expect_list("?continue=nope", 400, "");
	expect_list("?resourceVersion=0", 200, "a b c d e ");
	expect_list("?resourceVersion=0&limit=2", 200, "a b c d e ");
	expect_list("?resourceVersion=x", 400, "");
	expect_list("?resourceVersionMatch=Exact", 422, "");
	expect_list("?resourceVersion=0&resourceVersionMatch=Exact", 422, "");
	expect_list("?resourceVersion=1&resourceVersionMatch=Maybe", 422, "");
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=Exact",
		(long long)middle);
	expect_list(query, 200, "a c e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=NotOlderThan",
		(long long)middle);
	expect_list(query, 200, "a b c d e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld",
		(long long)store_revision(backend->store));
	expect_list(query, 200, "a b c d e ");
	snprintf(query, sizeof query, "?resourceVersion=%lld",
		(long long)store_revision(backend->store) + 1);
	expect_list(query, 504, "");
	store_compact(backend->store, middle);
	snprintf(query, sizeof query, "?resourceVersion=%lld&resourceVersionMatch=Exact",
		(long long)middle - 1);
	expect_list(query, 410, "");
}

/* As a value of a query. */
static const char *token_of(const cJSON *list)
{
	static char out[800];
	const char *token = json_str(list, "metadata", "continue", NULL);
	size_t n = 0;
	for (; token != NULL && *token; token++)
		n += (size_t)snprintf(out + n, sizeof out - n,
			isalnum((unsigned char)*token) ? "%c" : "%%%02X",
			(unsigned char)*token);
	out[n] = '\0';
	return out;
}

static void test_pages(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	static const char *const pages[] = { "a b ", "c d ", "e " };
	(void)state;
	add_leases(names, COUNT(names));
	char query[800] = "?limit=2";
	for (size_t i = 0; i < COUNT(pages); i++) {
		char path[1000];
		snprintf(path, sizeof path, "%s%s", LEASES, query);
		struct got got = ask("GET", path, "", NULL);
		assert_string_equal(names_in(got.body.p), pages[i]);
		cJSON *list = cJSON_Parse(got.body.p);
		assert_int_equal(json_int(list, 0, "metadata", "remainingItemCount", NULL),
			i == 0   ? 3
			: i == 1 ? 1
				 : 0);
		assert_int_equal(*token_of(list) != '\0', i < 2);
		snprintf(query, sizeof query, "?limit=2&continue=%s", token_of(list));
		cJSON_Delete(list);
		str_deinit(&got.body);
		if (i == 0) { /* what changes meanwhile is not seen by the pages that follow */
			static const char *const late[] = { "bb", "dd" };
			add_leases(late, 2);
			struct got gone = ask("DELETE", LEASES "/d", "", NULL);
			str_deinit(&gone.body);
		}
	}
	/* a selector: how many remain is not known */
	struct got got = ask("GET", LEASES "?limit=1&labelSelector=odd", "", NULL);
	assert_null(strstr(got.body.p, "remainingItemCount"));
	assert_non_null(strstr(got.body.p, "\"continue\":\""));
	cJSON *list = cJSON_Parse(got.body.p);
	char path[1000];
	snprintf(path, sizeof path, LEASES "?resourceVersion=5&continue=%s", token_of(list));
	CHECK(DELETE(LEASES, "", 200, "Success"));
	struct got refused = ask("GET", path, "", NULL);
	assert_int_equal(refused.status, 400);
	str_deinit(&refused.body);
	/* too old: the answer has a token for the rest */
	store_compact(backend->store, store_revision(backend->store));
	snprintf(path, sizeof path, LEASES "?continue=%s", token_of(list));
	refused = ask("GET", path, "", NULL);
	assert_int_equal(refused.status, 410);
	assert_non_null(strstr(refused.body.p, "\"continue\":\""));
	str_deinit(&refused.body);
	cJSON_Delete(list);
	str_deinit(&got.body);
}

static void test_a_collection_is_deleted_by_selector(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	(void)state;
	add_leases(names, COUNT(names));
	CHECK(DELETE(LEASES "?labelSelector=odd%3Dyes", "", 200, "Success"));
	expect_list("", 200, "a c ");
	CHECK(DELETE(LEASES "?labelSelector=%21", "", 400, NULL));
	expect_list("", 200, "a c ");
}

/* --- watches --- */

static void watch(struct got *got, const char *query)
{
	char path[1000];
	snprintf(path, sizeof path, "%s?watch=true%s", LEASES, query);
	ask_start(got, "GET", path, "", NULL, (struct net_http_opts){ .on_body = got_body });
}

/* "ADDED a MODIFIED a " of what has come; BOOKMARK with or without its end mark. */
static char *events_of(const struct got *got)
{
	static char out[1000];
	out[0] = '\0';
	for (const char *p = got->body.p; p && *p;) {
		const char *end = strchr(p, '\n');
		if (end == NULL)
			break;
		cJSON *event = cJSON_ParseWithLength(p, (size_t)(end - p));
		const char *type = json_str(event, "type", NULL);
		const char *name = json_str(event, "object", "metadata", "name", NULL);
		bool is_end = strstr(p, "initial-events-end") &&
			      strstr(p, "initial-events-end") < end;
		snprintf(out + strlen(out), sizeof out - strlen(out), "%s %s ", type,
			name     ? name
			: is_end ? "end"
				 : "-");
		cJSON_Delete(event);
		p = end + 1;
	}
	return out;
}

#define EXPECT(got, events) TURN_UNTIL(loop, strcmp(events_of(&(got)), events) == 0)

static void change(const char *name, const char *labels)
{
	char path[200], body[200];
	snprintf(path, sizeof path, LEASES "/%s", name);
	snprintf(body, sizeof body, "{'metadata':{'labels':%s}}", labels);
	struct got got = ask("PATCH", path, body, MERGE_PATCH);
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
}

static void test_watches(void **state)
{
	static const char *const names[] = { "a", "b" };
	char query[200];
	(void)state;
	add_leases(names, 2);
	snprintf(query, sizeof query, "&resourceVersion=%lld",
		(long long)store_revision(backend->store));
	struct got from_now, from_nothing, odd, streamed;
	watch(&from_now, query);
	watch(&from_nothing, "");
	watch(&odd, "&labelSelector=odd%3Dyes");
	watch(&streamed, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			 "allowWatchBookmarks=true&resourceVersion=");
	EXPECT(from_nothing, "ADDED a ADDED b ");
	EXPECT(odd, "ADDED b ");
	TURN_UNTIL(
		loop, strncmp(events_of(&streamed), "ADDED a ADDED b BOOKMARK end ", 29) == 0);
	/* bookmarks go on by themselves */
	TURN_UNTIL(loop, strstr(events_of(&streamed), "BOOKMARK -") != NULL);
	change("a", "{'odd':'yes'}");
	change("b", "{'more':'1'}");
	change("b", "{'odd':'no'}");
	struct got got = ask("DELETE", LEASES "/a", "", NULL);
	str_deinit(&got.body);
	EXPECT(from_now, "MODIFIED a MODIFIED b MODIFIED b DELETED a ");
	EXPECT(odd, "ADDED b ADDED a MODIFIED b DELETED b DELETED a ");
	struct got *all[] = { &from_now, &from_nothing, &odd, &streamed };
	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(all[i]->done, 0);
		net_http_cancel(all[i]->req);
		str_deinit(&all[i]->body);
	}
}

static void test_where_a_watch_cannot_begin(void **state)
{
	(void)state;
	CHECK(GET(LEASES "?watch=true&resourceVersion=x", 500, "Invalid value"),
		GET(LEASES "?watch=true&resourceVersionMatch=NotOlderThan", 422,
			"forbidden for watch"),
		GET(LEASES "?watch=true&sendInitialEvents=true", 422, "requires setting"),
		GET(LEASES "?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact", 422,
			"requires setting"),
		GET(LEASES "?watch=true&labelSelector=%21", 400, NULL));
}

static void test_a_watch_ends_in_time(void **state)
{
	(void)state;
	int64_t began_ms = clock_mono_ms();
	struct got got;
	watch(&got, "&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=");
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.err.code, ERR_NONE);
	assert_in_range(clock_mono_ms() - began_ms, 950, 6000);
	str_deinit(&got.body);
}

static void test_a_watch_of_forgotten_changes(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	char query[100];
	(void)state;
	add_leases(names, 3);
	int64_t last = store_revision(backend->store);
	store_compact(backend->store, last - 1);
	snprintf(query, sizeof query, "&resourceVersion=%lld", (long long)last - 2);
	struct got late;
	watch(&late, query);
	TURN_UNTIL(loop, late.done);
	assert_string_equal(events_of(&late), "ERROR - ");
	assert_non_null(strstr(late.body.p, "\"code\":410"));
	str_deinit(&late.body);
	/* the last one that is known is enough */
	snprintf(query, sizeof query, "&resourceVersion=%lld", (long long)last - 1);
	struct got just;
	watch(&just, query);
	EXPECT(just, "ADDED c ");
	net_http_cancel(just.req);
	str_deinit(&just.body);
}

/* A client that watched to the last revision goes on after a restart as if nothing had been. */
static void test_a_watch_after_a_restart(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	char query[100];
	(void)state;
	add_leases(names, 2);
	int64_t last = store_revision(backend->store);
	stop();
	serve();
	assert_true(store_revision(backend->store) >= last);
	snprintf(query, sizeof query, "&resourceVersion=%lld",
		(long long)store_revision(backend->store));
	struct got got;
	watch(&got, query);
	add_leases(names + 2, 1);
	EXPECT(got, "ADDED c ");
	assert_int_equal(got.done, 0);
	net_http_cancel(got.req);
	str_deinit(&got.body);
	expect_list("", 200, "a b c ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lists),
		TEST(test_pages),
		TEST(test_a_collection_is_deleted_by_selector),
		TEST(test_watches),
		TEST(test_where_a_watch_cannot_begin),
		TEST(test_a_watch_ends_in_time),
		TEST(test_a_watch_of_forgotten_changes),
		TEST(test_a_watch_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

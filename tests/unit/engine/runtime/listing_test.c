// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/listing.h"

#include "engine/base/err.h"
#include "engine/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In pieces of every size: the result must not depend on how the bytes arrive. */
static struct runtime_listing *parse(const char *text, size_t piece, struct err *err)
{
	struct runtime_listing *listing = runtime_listing_new();
	size_t n = strlen(text);

	for (size_t at = 0; at < n; at += piece) {
		struct slice bytes = { text + at, n - at < piece ? n - at : piece };
		if (!runtime_listing_feed(listing, bytes, err))
			goto failed;
	}
	if (runtime_listing_finish(listing, err))
		return listing;
failed:
	runtime_listing_free(listing);
	return NULL;
}

static const char demo[] =
	"{\"path\":\"/demo\",\"entries\":[{\"name\":\"a.txt\",\"size\":10,\"type\":\"file\","
	"\"modified_at\":\"2026-01-02T03:04:05Z\",\"mode\":\"0644\"},\n"
	" {\"name\":\"d\",\"size\":4096,\"type\":\"directory\",\"modified_at\":"
	"\"2026-01-02T03:04:05Z\",\"mode\":\"01755\"}]}\n";

static void a_listing_in_any_pieces(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof demo; piece++) {
		struct err err = { 0 };
		size_t n, n_hidden;
		struct runtime_listing *listing = parse(demo, piece, &err);
		assert_non_null(listing);
		const struct runtime_entry *entries =
			runtime_listing_entries(listing, &n, &n_hidden);
		assert_int_equal(n, 2);
		assert_int_equal(n_hidden, 0);
		assert_string_equal(entries[0].name, "a.txt");
		assert_false(entries[0].is_dir);
		assert_int_equal(entries[0].size_bytes, 10);
		assert_int_equal(entries[0].mode, 0644);
		assert_int_equal(entries[0].modified_s, 1767323045);
		assert_true(entries[1].is_dir);
		assert_int_equal(entries[1].mode, 01755);
		runtime_listing_free(listing);
	}
}

static void each_cut_is_found(void **state)
{
	char text[sizeof demo];

	(void)state;
	/* without the newline at the end it is whole */
	for (size_t n = 0; n < sizeof demo - 2; n++) {
		struct err err = { 0 };
		memcpy(text, demo, n);
		text[n] = 0;
		assert_null(parse(text, 7, &err));
		assert_int_equal(err.code, ERR_RUNTIME_PROTOCOL);
	}
}

static const struct {
	const char *name;  /* as JSON */
	const char *shown; /* NULL: hidden */
} names[] = {
	{ "plain", "plain" },
	{ "with space", "with space" },
	{ "-rf", "-rf" },
	{ ".hidden", ".hidden" },
	{ "..x", "..x" },
	{ "line\\nbreak", "line\nbreak" },
	{ "\\u001b[31mred", "\x1b[31mred" },
	{ "quote\\\"brace}", "quote\"brace}" },
	{ "back\\\\slash", "back\\slash" },
	{ "\xc3\xbc", "\xc3\xbc" },
	{ "\\u202egpj.exe", "\xe2\x80\xae"
			    "gpj.exe" },
	{ "..", NULL },
	{ ".", NULL },
	{ "", NULL },
	{ "../x", NULL },
	{ "/etc/passwd", NULL },
	{ "a/b", NULL },
	{ "nul\\u0000cut", NULL },
	{ "text \\\\u0000", "text \\u0000" },
	{ "bs then nul \\\\\\u0000", NULL },
	{ ".sandboxd-tmp-123", NULL },
};

static void hostile_names_are_hidden_or_kept_as_bytes(void **state)
{
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct err err = { 0 };
		size_t n, n_hidden;
		snprintf(text, sizeof text,
			"{\"path\":\"/\",\"entries\":[{\"name\":\"%s\",\"size\":1,\"type\":\"file\"}]}",
			names[i].name);
		struct runtime_listing *listing = parse(text, 3, &err);
		assert_non_null(listing);
		const struct runtime_entry *entries =
			runtime_listing_entries(listing, &n, &n_hidden);
		assert_int_equal(n, names[i].shown ? 1 : 0);
		assert_int_equal(n_hidden, names[i].shown ? 0 : 1);
		if (names[i].shown)
			assert_string_equal(entries[0].name, names[i].shown);
		runtime_listing_free(listing);
	}
}

static void a_name_of_300_bytes_is_hidden(void **state)
{
	char text[1024], name[301];
	struct err err = { 0 };
	size_t n, n_hidden;

	(void)state;
	memset(name, 'n', 300);
	name[300] = 0;
	snprintf(
		text, sizeof text, "{\"entries\":[{\"name\":\"%s\",\"type\":\"file\"}]}", name);
	struct runtime_listing *listing = parse(text, 64, &err);
	assert_non_null(listing);
	runtime_listing_entries(listing, &n, &n_hidden);
	assert_int_equal(n, 0);
	assert_int_equal(n_hidden, 1);
	runtime_listing_free(listing);
}

static const char *const bad[] = {
	"",
	"null",
	"[]",
	"{}",
	"{\"entries\":{}}",
	"{\"entries\":5}",
	"{\"entries\":[5]}",
	"{\"entries\":[0,\"x\"]}",
	"{\"entries\":[[]]}",
	"{\"entries\":[null]}",
	"{\"entries\":[{}]}",
	"{\"entries\":[{\"name\":5,\"type\":\"file\"}]}",
	"{\"entries\":[{\"name\":\"a\"}]}",
	"{\"entries\":[{\"name\":\"a\",\"type\":\"file\"} {}]}",
	"{\"entries\":[{\"name\":\"a\",\"type\":\"file\"}]}{}",
	"{\"entries\":[{\"name\":\"a\",\"type\":\"file\"}]]",
	"{\"entries\":[{\"name\":\"a\" \"type\":\"file\"}]}",
	"{\"entries\":[]}}",
	"{\"x\":{\"entries\":[{\"name\":\"a\",\"type\":\"file\"}]}}",
	"\x1f\x8b\x08",
};

static void what_is_no_listing_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		struct runtime_listing *listing = parse(bad[i], 5, &err);
		if (listing)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.code, ERR_RUNTIME_PROTOCOL);
	}
}

static void odd_values_are_unknown_not_wrong(void **state)
{
	struct err err = { 0 };
	size_t n, n_hidden;

	(void)state;
	struct runtime_listing *listing =
		parse("{\"entries\":[{\"name\":\"a\",\"type\":\"file\",\"size\":-5,"
		      "\"modified_at\":\"yesterday\",\"mode\":\"644\"},"
		      "{\"name\":\"b\",\"type\":\"socket\",\"size\":1e300,"
		      "\"mode\":\"0999\",\"extra\":{\"deep\":[1,2,{}]}}]}",
			16, &err);
	assert_non_null(listing);
	const struct runtime_entry *entries = runtime_listing_entries(listing, &n, &n_hidden);
	assert_int_equal(n, 2);
	assert_int_equal(entries[0].size_bytes, -1);
	assert_int_equal(entries[0].modified_s, -1);
	assert_int_equal(entries[0].mode, -1);
	assert_false(entries[1].is_dir);
	assert_int_equal(entries[1].mode, -1);
	runtime_listing_free(listing);
	listing = parse("{\"path\":\"/\",\"entries\":null}", 4, &err);
	assert_non_null(listing);
	runtime_listing_free(listing);
}

static void an_endless_entry_is_cut_off(void **state)
{
	struct runtime_listing *listing = runtime_listing_new();
	struct err err = { 0 };
	char piece[4096];
	size_t fed = 0;

	(void)state;
	memset(piece, 'a', sizeof piece);
	assert_true(
		runtime_listing_feed(listing, slice_of("{\"entries\":[{\"name\":\""), &err));
	while (fed < (64 << 20) &&
		runtime_listing_feed(listing, (struct slice){ piece, sizeof piece }, &err))
		fed += sizeof piece;
	if (err.code == ERR_NONE)
		runtime_listing_feed(listing, slice_of("\"}]}"), &err);
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	runtime_listing_free(listing);
}

static struct runtime_entry the_entry(const char *field, const char *value)
{
	char text[300];
	struct err err = { 0 };
	size_t n, n_hidden;
	snprintf(text, sizeof text,
		"{\"path\":\"/\",\"entries\":[{\"name\":\"a\",\"size\":1,\"type\":\"file\","
		"\"%s\":%s}]}",
		field, value);
	struct runtime_listing *listing = parse(text, 9, &err);
	assert_non_null(listing);
	const struct runtime_entry *entries = runtime_listing_entries(listing, &n, &n_hidden);
	assert_int_equal(n, 1);
	struct runtime_entry entry = entries[0];
	runtime_listing_free(listing);
	return entry;
}

/* The legacy runtime's seconds, as a number. */
static void times_as_numbers(void **state)
{
	static const struct {
		const char *number;
		int64_t seconds; /* -1: not known */
	} rows[] = { { "0", 0 }, { "1.9", 1 }, { "253402300799", 253402300799 },
		{ "253402300800", -1 }, { "1e300", -1 }, { "-1", -1 }, { "\"5\"", -1 },
		{ "null", -1 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (the_entry("mod_time", rows[i].number).modified_s != rows[i].seconds)
			fail_msg("%s", rows[i].number);
}

static void modes(void **state)
{
	static const struct {
		const char *text;
		int mode; /* -1: not known */
	} rows[] = { { "\"0644\"", 0644 }, { "\"01777\"", 01777 }, { "\"0000\"", 0 },
		{ "\"644\"", -1 }, { "\"007777\"", -1 }, { "\"1644\"", -1 }, { "\"0648\"", -1 },
		{ "\"064/\"", -1 }, { "\"\"", -1 }, { "644", -1 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (the_entry("mode", rows[i].text).mode != rows[i].mode)
			fail_msg("%s", rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_as_numbers),
		cmocka_unit_test(modes),
		cmocka_unit_test(a_listing_in_any_pieces),
		cmocka_unit_test(each_cut_is_found),
		cmocka_unit_test(hostile_names_are_hidden_or_kept_as_bytes),
		cmocka_unit_test(a_name_of_300_bytes_is_hidden),
		cmocka_unit_test(what_is_no_listing_is_refused),
		cmocka_unit_test(odd_values_are_unknown_not_wrong),
		cmocka_unit_test(an_endless_entry_is_cut_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

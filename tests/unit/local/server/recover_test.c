// SPDX-License-Identifier: Apache-2.0
/* A database that does not open is made anew from what can be read of it. */
#include "tests/unit/local/server/recover.h"

enum { N_LEASES = 400, REVISION_GAP = 100000 };

/* The namespace (1), the leases (2 to 401), and one that is removed (402, 403). */
static void make_store(void)
{
	struct err err = { 0 };
	char text[300];
	struct store *s = open_store(false);
	write_default(s);
	for (int i = 0; i < N_LEASES; i++) {
		snprintf(text, sizeof text,
			"{'metadata':{'namespace':'a','name':'n%03d','uid':'u%03d'},"
			"'spec':{'holderIdentity':'%0100d'}}",
			i, i, i);
		write_object(s, KIND_LEASE, text);
	}
	write_object(
		s, KIND_LEASE, "{'metadata':{'namespace':'a','name':'gone','uid':'dead'}}");
	assert_true(store_remove(s, store_get(s, KIND_LEASE, "a", "gone"), &err));
	assert_true(store_meta_set(s, "colour", "blue", &err));
	assert_int_equal(store_revision(s), N_LEASES + 3);
	store_close(s);
}

static void test_a_sound_one_is_left_alone(void **state)
{
	(void)state;
	make_store();
	make_folder("volumes/v");
	must_recover();
	assert_string_equal(said, "the database is sound: nothing to recover\n");
	assert_false(is_there("quarantine"));
	struct store *s = open_store(true);
	assert_int_equal(store_revision(s), N_LEASES + 3);
	store_close(s);
}

static void test_a_damaged_row_is_all_that_is_lost(void **state)
{
	char aside[512], name[700];
	size_t n, old_n;
	struct stat st;
	(void)state;
	make_store();
	run_sql("UPDATE objects SET json='{' WHERE name='n042'");
	char *old = file_read(in_dir("objects.db"), 64 << 20, &old_n, NULL);
	make_file("objects.db-shm", "");
	must_recover();
	must_say("leases \"a/n042\" cannot be read");
	must_say("\n400 of 401 objects could be read\n");
	assert_null(strstr(said, "not kept"));
	assert_null(strstr(said, "made again"));

	struct store *s = open_store(true);
	assert_int_equal(store_count(s, KIND_LEASE), N_LEASES - 1);
	assert_null(store_get(s, KIND_LEASE, "a", "n042"));
	assert_string_equal(store_get(s, KIND_LEASE, "a", "n041")->uid, "u041");
	assert_int_equal(store_count(s, KIND_NAMESPACE), 1);
	assert_string_equal(store_get(s, KIND_NAMESPACE, "", "default")->uid, "the-default");
	/* no client has seen a version that will be given again */
	assert_int_equal(store_revision(s), N_LEASES + 3 + REVISION_GAP);
	assert_true(store_was_deleted(s, "dead"));
	assert_false(store_was_deleted(s, "u042"));
	char *colour = store_meta_get(s, "colour"), *defaults = store_meta_get(s, "defaults");
	assert_string_equal(colour, "blue");
	assert_null(defaults);
	free(colour);
	store_close(s);

	/* the old one is kept as it was */
	assert_int_equal(count_quarantine(false, aside), 1);
	assert_true(strncmp(aside, "quarantine/store-20", 19) == 0);
	assert_string_equal(aside + strlen(aside) - 2, ".1");
	must_say(in_dir(aside));
	snprintf(name, sizeof name, "%s/objects.db", aside);
	char *kept = file_read(in_dir(name), 64 << 20, &n, NULL);
	assert_int_equal(n, old_n);
	assert_memory_equal(kept, old, n);
	free(kept);
	free(old);
	assert_int_equal(stat(in_dir(aside), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(count_quarantine(true, aside), 1);
	char *text = file_read(in_dir(aside), 4096, &n, NULL);
	assert_string_equal(text,
		"{\"folder\":\"store\",\"why\":\"the database as it was before sandmux local"
		" recover\",\"objects\":400,\"remade\":0}\n");
	free(text);
}

/* A page in the middle: what comes before it is read forwards, what comes after it backwards. */
static void test_a_damaged_page(void **state)
{
	size_t n;
	unsigned kept = 0;
	char name[16];
	static const char middle[] = "\"n200\"";
	(void)state;
	make_store();
	char *bytes = file_read(in_dir("objects.db"), 64 << 20, &n, NULL);
	char *found = memmem(bytes, n, middle, sizeof middle - 1);
	assert_non_null(found);
	memset(bytes + (found - bytes) / 4096 * 4096, 0xa5, 4096);
	assert_true(file_write_atomic(
		in_dir("objects.db"), (struct slice){ bytes, n }, 0600, NULL));
	free(bytes);
	must_recover();
	struct store *s = open_store(true);
	for (int i = 0; i < N_LEASES; i++) {
		snprintf(name, sizeof name, "n%03d", i);
		kept += store_get(s, KIND_LEASE, "a", name) != NULL;
	}
	assert_non_null(store_get(s, KIND_LEASE, "a", "n000"));
	assert_non_null(store_get(s, KIND_LEASE, "a", "n399"));
	assert_null(store_get(s, KIND_LEASE, "a", "n200"));
	assert_true(kept > N_LEASES - 40 && kept < N_LEASES);
	assert_int_equal(store_count(s, KIND_LEASE), kept);
	assert_int_equal(store_revision(s), N_LEASES + 3 + REVISION_GAP);
	snprintf(name, sizeof name, "\n%u of ", kept + 1);
	must_say(name);
	store_close(s);
}

/* What cannot be written again, or is there under the same UID, is said or left out; it is not the end. */
static void test_what_is_not_kept(void **state)
{
	(void)state;
	make_store();
	run_sql("UPDATE objects SET json='{\"metadata\":{\"namespace\":\"a\",\"name\":\"n001\","
		"\"uid\":\"u001\"},\"spec\":{\"x\":1,\"x\":2}}' WHERE name='n001'");
	run_sql("UPDATE objects SET json=(SELECT replace(json,'n010','n011') FROM objects WHERE"
		" name='n010') WHERE name='n011'");
	run_sql("UPDATE objects SET kind=99 WHERE name='n020'");
	must_recover();
	must_say("not kept: lease a/n001: field \"x\" is there twice\n");
	must_say("\n398 of 400 objects could be read\n");
	struct store *s = open_store(true);
	assert_int_equal(store_count(s, KIND_LEASE), N_LEASES - 3);
	assert_null(store_get(s, KIND_LEASE, "a", "n001"));
	assert_non_null(store_get(s, KIND_LEASE, "a", "n010"));
	assert_null(store_get(s, KIND_LEASE, "a", "n011"));
	assert_null(store_get(s, KIND_LEASE, "a", "n020"));
	store_close(s);
}

/* The counter of the rows counts too, and the counter alone where the rows are gone. */
static void test_the_version_goes_on(void **state)
{
	static const struct {
		const char *sql;
		int64_t rv;
	} rows[] = {
		{ "DELETE FROM meta WHERE key='revision'", N_LEASES + 1 },
		{ "UPDATE meta SET value='nonsense' WHERE key='revision'", N_LEASES + 1 },
		{ "UPDATE meta SET value='9000' WHERE key='revision'", 9000 },
		{ "DELETE FROM objects WHERE name != 'n042'", N_LEASES + 3 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		setup(state);
		make_store();
		run_sql("UPDATE objects SET json='{' WHERE name='n042'");
		run_sql(rows[i].sql);
		must_recover();
		struct store *s = open_store(false);
		/* the row that the default namespace may need has a version of its own */
		assert_int_equal(store_revision(s), rows[i].rv + REVISION_GAP);
		assert_int_equal(store_compacted(s), store_revision(s));
		store_close(s);
		teardown(state);
	}
}

/* A first start makes the template and the pool "local": not beside what is there. */
static void test_the_defaults_are_not_made_twice(void **state)
{
	static const struct {
		enum store_kind kind;
		const char *name, *ns;
		bool are_made;
	} rows[] = {
		{ KIND_TEMPLATE, "local", "default", true },
		{ KIND_POOL, "local", "default", true },
		{ KIND_POOL, "other", "default", false },
		{ KIND_POOL, "local", "a", false },
		{ KIND_LEASE, "local", "default", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[200];
		setup(state);
		struct store *s = open_store(false);
		snprintf(text, sizeof text,
			"{'metadata':{'name':'%s','namespace':'%s','uid':'u'},'spec':{}}",
			rows[i].name, rows[i].ns);
		write_object(s, rows[i].kind, text);
		write_object(
			s, KIND_LEASE, "{'metadata':{'namespace':'a','name':'l','uid':'l'}}");
		store_close(s);
		run_sql("UPDATE objects SET json='{' WHERE name='l'");
		must_recover();
		s = open_store(true);
		char *made = store_meta_get(s, "defaults");
		if (rows[i].are_made)
			assert_string_equal(made, "1");
		else
			assert_null(made);
		free(made);
		store_close(s);
		teardown(state);
	}
}

static void test_one_that_is_lost(void **state)
{
	struct err err = { 0 };
	(void)state;
	/* without files of sandboxes it is a first start */
	must_recover();
	assert_string_equal(said, "the database is sound: nothing to recover\n");
	assert_int_equal(unlink(in_dir("objects.db")), 0);
	make_folder("pods/p");
	must_recover();
	must_say("objects.db is missing");
	must_say("\n0 of 0 objects could be read\n");
	struct store *s = open_store(true);
	assert_int_equal(store_count(s, KIND_NAMESPACE), 1);
	const struct store_object *o = store_get(s, KIND_NAMESPACE, "", "default");
	assert_string_equal(o->uid, "00000000-0000-4000-8000-000000000000");
	assert_string_equal(json_str(o->json, "status", "phase", NULL), "Active");
	assert_string_equal(json_str(o->json, "kind", NULL), "Namespace");
	assert_int_equal(store_revision(s), REVISION_GAP);
	store_close(s);
	assert_true(try_recover(&err));
	assert_string_equal(said, "the database is sound: nothing to recover\n");
}

/* What is no damage is no reason to make another one. */
static void test_of_a_newer_program(void **state)
{
	struct err err = { 0 };
	(void)state;
	make_store();
	run_sql("PRAGMA user_version=3");
	assert_false(try_recover(&err));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.msg, "has schema 3"));
	assert_string_equal(said, "");
	assert_true(is_there("objects.db"));
	assert_false(is_there("quarantine"));
	assert_false(is_there("recovering"));
}

/* Cut short after the old one was moved, or halfway: the next goes on with that set, and with no other. */
static void test_one_that_was_cut_short(void **state)
{
	char aside[512];
	size_t n;
	(void)state;
	for (int moved = 1; moved <= 2; moved++) {
		setup(state);
		make_store();
		run_sql("UPDATE objects SET json='{' WHERE name='n042'");
		make_folder("volumes/v");
		make_folder("quarantine/store-done");
		make_file("quarantine/store-done/objects.db", "of an earlier one");
		make_file("quarantine/store-done.json", "{}");
		make_file("quarantine/store-alone.json", "{}");
		make_folder("quarantine/volumes-v");
		make_folder("quarantine/store-1");
		make_folder("recovering");
		make_file("recovering/new.db", "half");
		make_file("objects.db-wal", "");
		assert_int_equal(
			rename(in_dir("objects.db"), in_dir("quarantine/store-1/objects.db")),
			0);
		if (moved == 2)
			assert_int_equal(rename(in_dir("objects.db-wal"),
						 in_dir("quarantine/store-1/objects.db-wal")),
				0);
		must_recover();
		must_say("\n400 of 401 objects could be read\n");
		must_say(in_dir("quarantine/store-1\n"));
		assert_true(is_there("quarantine/store-1.json"));
		assert_true(is_there("quarantine/store-1/objects.db-wal"));
		assert_false(is_there("objects.db-wal"));
		assert_int_equal(count_quarantine(false, aside), 3);
		char *text = file_read(in_dir("quarantine/store-done.json"), 4096, &n, NULL);
		assert_string_equal(text, "{}");
		free(text);
		struct store *s = open_store(true);
		assert_int_equal(store_count(s, KIND_LEASE), N_LEASES - 1);
		store_close(s);
		teardown(state);
	}
}

/* With a database in its place an unfinished set is not that one. */
static void test_a_set_of_its_own_each_time(void **state)
{
	char aside[512];
	(void)state;
	make_folder("quarantine/store-1");
	for (int i = 1; i <= 2; i++) {
		struct store *s = open_store(false);
		write_object(
			s, KIND_LEASE, "{'metadata':{'namespace':'a','name':'l','uid':'l'}}");
		store_close(s);
		run_sql("UPDATE objects SET json='{' WHERE name='l'");
		must_recover();
		must_say(i == 1 ? "\n0 of 1 objects" : "\n1 of 2 objects"); /* "default" */
		assert_int_equal(count_quarantine(false, aside), i + 1);
		assert_int_equal(count_quarantine(true, aside), i);
		assert_false(is_there("quarantine/store-1.json"));
	}
}

static void test_where_nothing_can_be_written(void **state)
{
	struct err err = { 0 };
	(void)state;
	make_store();
	run_sql("UPDATE objects SET json='{' WHERE name='n042'");
	make_file("quarantine", "in the way");
	assert_false(try_recover(&err));
	assert_non_null(strstr(err.msg, "quarantine"));
	assert_true(is_there("objects.db"));
	assert_null(strstr(said, "could be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_sound_one_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_damaged_row_is_all_that_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_page, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_not_kept, setup, teardown),
		cmocka_unit_test(test_the_version_goes_on),
		cmocka_unit_test(test_the_defaults_are_not_made_twice),
		cmocka_unit_test_setup_teardown(test_one_that_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_a_newer_program, setup, teardown),
		cmocka_unit_test(test_one_that_was_cut_short),
		cmocka_unit_test_setup_teardown(
			test_a_set_of_its_own_each_time, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_where_nothing_can_be_written, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

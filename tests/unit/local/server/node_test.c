// SPDX-License-Identifier: Apache-2.0
/* The node's side of the backend without a running sandbox: what a pod may use, what is said of it, its folders and its
 * log, and what a new start says and sorts. */
#include "tests/unit/local/server/world.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "local/server/kubelet/manifest.h"
#include "local/server/kubelet/run.h"
#include "tests/unit/engine/net/turns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char folder[64];

static int set_up(void **state)
{
	world_set_up(state);
	struct world *w = *state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-node-XXXXXX");
	assert_non_null(mkdtemp(folder));
	w->server.opts.state_dir = folder;
	return 0;
}

static int tear_down(void **state)
{
	world_tear_down(state);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	return 0;
}

static struct store_object *put_pod(
	struct world *w, const char *metadata, const char *container, const char *more)
{
	return world_put(w, KIND_POD,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','uid':'pod-1'%s},"
		"'spec':{'containers':[{'name':'c','image':'i'%s}]%s}}",
		metadata, container, more);
}

static struct kubelet_run run_of(struct world *w)
{
	struct kubelet_run r = {
		.c = w->c, .ns = (char[]){ "default" }, .name = (char[]){ "p" }
	};
	snprintf(r.uid, sizeof r.uid, "pod-1");
	return r;
}

/* ---- what it may use */

static void test_quantities(void **state)
{
	static const struct {
		const char *cpu;
		uint32_t milli;
		const char *memory;
		uint64_t bytes; /* 0: none, half of the machine's */
	} rows[] = {
		{ "'500m'", 500, "'256Mi'", 268435456 },
		{ "'2'", 2000, "'1k'", 1000 },
		{ "1.5", 1500, "2000", 2000 },
		{ "'0.25'", 250, "'1Ki'", 1024 },
		{ "'4294967'", 4294967000u, "'1M'", 1000000 },
		{ "'4294968'", 0, "'1G'", 1000000000 },
		{ "'0'", 0, "'1T'", 1000000000000 },
		{ "0", 0, "'1Gi'", 1073741824 },
		{ "'-1'", 0, "'1Ti'", 1099511627776 },
		{ "-1", 0, "'0.5Gi'", 536870912 },
		{ "''", 0, "'999T'", 999000000000000 },
		{ "'m'", 0, "'1000T'", 0 },
		{ "'1x'", 0, "'1Q'", 0 },
		{ "'1m '", 0, "'1gi'", 0 },
		{ "'1e13'", 0, "'1e12'", 1000000000000 },
		{ "[]", 0, "'nan'", 0 },
		{ "'inf'", 0, "1e15", 0 },
		{ "null", 0, "'0'", 0 },
	};
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char resources[200];
		snprintf(resources, sizeof resources,
			",'resources':{'limits':{'cpu':%s,'memory':%s}}", rows[i].cpu,
			rows[i].memory);
		struct kubelet_run r = run_of(w);
		kubelet_run_limits_read(&r, put_pod(w, "", resources, ""));
		if (r.limits.spawn.cpu_milli != rows[i].milli ||
			r.limits.is_memory_default != (rows[i].bytes == 0) ||
			(rows[i].bytes != 0 && r.limits.spawn.memory_bytes != rows[i].bytes) ||
			r.limits.spawn.memory_bytes == 0)
			fail_msg("row %zu: %u %llu", i, r.limits.spawn.cpu_milli,
				(unsigned long long)r.limits.spawn.memory_bytes);
	}
	/* half: pages of the machine, by two */
	struct kubelet_run r = run_of(w);
	kubelet_run_limits_read(&r, put_pod(w, "", "", ""));
	assert_int_equal(r.limits.spawn.memory_bytes,
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2);
}

static void test_counts_that_are_annotated(void **state)
{
	static const struct {
		const char *text;
		uint64_t pids, inodes, tmp_inodes;
	} rows[] = { { "1", 1, 1, 1 }, { "77", 77, 77, 77 },
		{ "2147483647", INT32_MAX, INT32_MAX, INT32_MAX },
		{ "2147483648", 1024, 1000000, 200000 }, { "0", 1024, 1000000, 200000 },
		{ "x", 1024, 1000000, 200000 }, { "", 1024, 1000000, 200000 } };
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char metadata[400];
		snprintf(metadata, sizeof metadata,
			",'annotations':{'" ANNOTATION_LIMIT_PIDS
			"':'%s','" ANNOTATION_LIMIT_INODES
			"':'%s','" ANNOTATION_LIMIT_TMP_INODES "':'%s'}",
			rows[i].text, rows[i].text, rows[i].text);
		struct kubelet_run r = run_of(w);
		kubelet_run_limits_read(&r, put_pod(w, metadata, "", ""));
		assert_int_equal(r.limits.spawn.pids, rows[i].pids);
		assert_int_equal(r.limits.disk_inodes, rows[i].inodes);
		assert_int_equal(r.limits.tmp_inodes, rows[i].tmp_inodes);
	}
}

#define TEN_GI ((uint64_t)10 << 30)
#define MOUNTED                                                                                \
	",'volumeMounts':[{'name':'other','mountPath':'/data'},"                               \
	"{'name':'v','mountPath':'/workspace'}]"

/* The claim that is the workspace says; without one the pod. */
static void test_the_disk(void **state)
{
	static const struct {
		const char *container, *more;
		uint64_t bytes;
	} rows[] = {
		{ "", "", TEN_GI },
		{ ",'resources':{'limits':{'ephemeral-storage':'1Mi'}}", "", 1 << 20 },
		{ ",'resources':{'limits':{'ephemeral-storage':'0.0001'}}", "", TEN_GI },
		{ ",'resources':{'limits':{'ephemeral-storage':'1'}}", "", 1 },
		{ ",'resources':{'limits':{'ephemeral-storage':'1Mi'}}" MOUNTED,
			",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'claim'}}]",
			3 << 20 },
		{ ",'resources':{'limits':{'ephemeral-storage':'1Mi'}}" MOUNTED,
			",'volumes':[{'name':'x','persistentVolumeClaim':{'claimName':'claim'}}]",
			1 << 20 },
		{ MOUNTED, ",'volumes':[{'name':'v','emptyDir':{}}]", TEN_GI },
		{ MOUNTED,
			",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'gone'}}]",
			TEN_GI },
		{ ",'volumeMounts':[{'name':'v','mountPath':'/work'}]",
			",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'claim'}}]",
			TEN_GI },
	};
	struct world *w = *state;
	world_put(w, KIND_PVC,
		"{'metadata':{'name':'claim','uid':'pvc-1'},'spec':{'resources':{'requests':{"
		"'storage':'3Mi'}}}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kubelet_run r = run_of(w);
		kubelet_run_limits_read(&r, put_pod(w, "", rows[i].container, rows[i].more));
		if (r.limits.disk_bytes != rows[i].bytes)
			fail_msg("row %zu: %llu", i, (unsigned long long)r.limits.disk_bytes);
	}
}

/* ---- what is said of it */

static const cJSON *status_of(struct world *w)
{
	return json_get(world_get(w, KIND_POD, "p")->json, "status", NULL);
}

static void test_phases(void **state)
{
	static const struct {
		enum kubelet_run_state state;
		int restarts, exit_code;
		bool is_evicted, is_stopping;
		const char *phase, *shown; /* of the container's state */
		bool is_ready;
	} rows[] = {
		{ RUN_STARTING, 0, 0, false, false, "Running", "running", false },
		{ RUN_READY, 0, 0, false, false, "Running", "running", true },
		{ RUN_READY, 0, 0, false, true, "Running", "running", false },
		{ RUN_UNREADY, 2, 0, false, false, "Running", "running", false },
		{ RUN_WAITING, 0, 0, false, false, "Pending", "waiting", false },
		{ RUN_WAITING, 1, 0, false, false, "Running", "waiting", false },
		{ RUN_ENDED, 0, 0, false, false, "Succeeded", "terminated", false },
		{ RUN_ENDED, 0, 1, false, false, "Failed", "terminated", false },
		{ RUN_ENDED, 0, 0, true, false, "Failed", "terminated", false },
	};
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		put_pod(w, "", "", "");
		struct kubelet_run r = run_of(w);
		r.state = rows[i].state;
		r.restarts = rows[i].restarts;
		r.exit_code = rows[i].exit_code;
		r.is_stopping = rows[i].is_stopping;
		r.stopped_for = rows[i].is_evicted ? "Evicted" : NULL;
		snprintf(r.stopped_why, sizeof r.stopped_why, "too much");
		r.waiting = "CrashLoopBackOff";
		snprintf(r.message, sizeof r.message, "words");
		snprintf(r.address, sizeof r.address, "127.1.2.3");
		snprintf(r.started_at, sizeof r.started_at, "2026-01-01T00:00:00Z");
		r.last_state = world_json("{'terminated':{'exitCode':%d}}", rows[i].exit_code);
		kubelet_run_write_status(&r);
		const cJSON *status = status_of(w);
		const cJSON *c = json_get(status, "containerStatuses", NULL)->child;
		assert_string_equal(json_str(status, "phase", NULL), rows[i].phase);
		assert_int_equal(json_str(status, "reason", NULL) != NULL, rows[i].is_evicted);
		if (rows[i].is_evicted) {
			assert_string_equal(json_str(status, "reason", NULL), "Evicted");
			assert_string_equal(json_str(status, "message", NULL), "too much");
		}
		assert_string_equal(json_get(c, "state", NULL)->child->string, rows[i].shown);
		assert_int_equal(cJSON_GetArraySize(json_get(c, "state", NULL)), 1);
		assert_int_equal(json_get(c, "lastState", "terminated", NULL) != NULL,
			rows[i].state != RUN_ENDED);
		assert_int_equal(json_bool(c, -1, "ready", NULL),
			rows[i].is_ready || rows[i].state == RUN_READY);
		assert_int_equal(json_bool(c, -1, "started", NULL), false);
		assert_int_equal(json_int(c, -1, "restartCount", NULL), rows[i].restarts);
		assert_string_equal(json_str(c, "name", NULL), "c");
		assert_string_equal(json_str(c, "image", NULL), "i");
		char id[100];
		snprintf(id, sizeof id, "sandmux://pod-1/%d", rows[i].restarts);
		assert_string_equal(json_str(c, "containerID", NULL), id);
		static const char *const types[] = { "ContainersReady", "Ready" };
		for (size_t t = 0; t < COUNT(types); t++) {
			const cJSON *is =
				k8s_condition_find(world_get(w, KIND_POD, "p")->json, types[t]);
			const char *reason = json_str(is, "reason", NULL);
			assert_string_equal(json_str(is, "status", NULL),
				rows[i].is_ready ? "True" : "False");
			assert_string_equal(reason ? reason : "none",
				rows[i].is_ready ? "none" : "ContainersNotReady");
			assert_string_equal(json_str(is, "message", NULL), "words");
		}
		bool has_address = rows[i].state != RUN_ENDED;
		assert_int_equal(json_str(status, "podIP", NULL) != NULL, has_address);
		if (has_address) {
			assert_string_equal(json_str(status, "podIP", NULL), "127.1.2.3");
			assert_string_equal(
				json_str(json_get(status, "podIPs", NULL)->child, "ip", NULL),
				"127.1.2.3");
		}
		assert_string_equal(json_str(status, "hostIP", NULL), "127.0.0.1");
		assert_string_equal(
			json_str(status, "startTime", NULL), "2026-01-01T00:00:00Z");
		if (rows[i].state == RUN_WAITING) {
			assert_string_equal(json_str(c, "state", "waiting", "reason", NULL),
				"CrashLoopBackOff");
			assert_string_equal(
				json_str(c, "state", "waiting", "message", NULL), "words");
		}
		/* the first start stays */
		snprintf(r.started_at, sizeof r.started_at, "2027-01-01T00:00:00Z");
		kubelet_run_write_status(&r);
		assert_string_equal(
			json_str(status_of(w), "startTime", NULL), "2026-01-01T00:00:00Z");
		cJSON_Delete(r.last_state);
		world_remove(w, KIND_POD, "p");
		kubelet_run_write_status(&r); /* it is gone: nothing to say */
	}
}

static void test_classes_of_service(void **state)
{
	static const struct {
		const char *resources, *class;
	} rows[] = {
		{ "{}", "BestEffort" },
		{ "{'limits':{'cpu':'1'}}", "Burstable" },
		{ "{'requests':{'memory':'1'}}", "Burstable" },
		{ "{'limits':{'cpu':'1','memory':'1'}}", "Guaranteed" },
		{ "{'limits':{'cpu':'1','memory':'1'},'requests':{'cpu':'1','memory':'1'}}",
			"Guaranteed" },
		{ "{'limits':{'cpu':'1','memory':'1'},'requests':{'memory':'2'}}",
			"Burstable" },
		{ "{'requests':{'cpu':'1','memory':'1'}}", "Burstable" },
	};
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char container[200];
		snprintf(container, sizeof container, ",'resources':%s", rows[i].resources);
		put_pod(w, "", container, "");
		struct kubelet_run r = run_of(w);
		r.state = RUN_STARTING;
		kubelet_run_write_status(&r);
		assert_string_equal(json_str(status_of(w), "qosClass", NULL), rows[i].class);
		/* no address yet, and no start */
		assert_null(json_str(status_of(w), "podIP", NULL));
		assert_null(json_str(status_of(w), "startTime", NULL));
		world_remove(w, KIND_POD, "p");
	}
}

/* ---- a new start */

static void test_what_a_start_says_of_the_pods_it_finds(void **state)
{
	static const struct {
		bool is_clean;
		const char *processes, *message;
		int64_t exit_code;
	} rows[] = {
		{ true, "bash, vim",
			"the local backend was stopped and was started again; processes that died: "
			"bash, vim",
			143 },
		{ false, "",
			"the local backend died and was started again; no process was running",
			137 },
		{ false, NULL,
			"the local backend died and was started again; no process was running",
			137 },
	};
	struct world *w = *state;
	struct store *s = w->server.store;
	for (size_t i = 0; i < COUNT(rows); i++) {
		world_put(w, KIND_POD,
			"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','uid':'pod-1'},"
			"'spec':{'containers':[{'name':'c','image':'i'}]},'status':{'phase':"
			"'Running','containerStatuses':[{'name':'c','restartCount':2,'ready':true}]}}");
		store_meta_set(s, "clean-stop", rows[i].is_clean ? "1" : NULL, NULL);
		store_meta_set(s, "procs/pod-1", rows[i].processes, NULL);
		kubelet_note_restart(w->c);
		const cJSON *c = json_get(status_of(w), "containerStatuses", NULL)->child;
		const cJSON *t = json_get(c, "lastState", "terminated", NULL);
		assert_string_equal(json_str(t, "message", NULL), rows[i].message);
		assert_string_equal(json_str(t, "reason", NULL), "BackendRestarted");
		assert_int_equal(json_int(t, -1, "exitCode", NULL), rows[i].exit_code);
		assert_int_equal(json_int(c, -1, "restartCount", NULL), 3);
		assert_int_equal(json_bool(c, true, "ready", NULL), false);
		char condition[300];
		snprintf(condition, sizeof condition, "True BackendRestarted %s",
			rows[i].message);
		assert_string_equal(
			world_condition(w, KIND_POD, "p", CONDITION_RESTARTED), condition);
		snprintf(condition, sizeof condition, "False ContainersNotReady %s",
			rows[i].message);
		assert_string_equal(world_condition(w, KIND_POD, "p", "Ready"), condition);
		assert_int_equal(world_events(w, "p", "BackendRestarted"), i + 1);
		assert_null(store_meta_get(s, "procs/pod-1"));
		assert_null(store_meta_get(s, "clean-stop"));
		world_remove(w, KIND_POD, "p");
	}
}

static void test_of_which_pods_it_says_nothing(void **state)
{
	static const char *const pods[] = {
		"{'metadata':{'name':'p','uid':'1'},'status':{'phase':'Succeeded'}}",
		"{'metadata':{'name':'p','uid':'2'},'status':{'phase':'Failed'}}",
		"{'metadata':{'name':'p','uid':'3','deletionTimestamp':'2026-01-01T00:00:00Z'}}",
	};
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(pods); i++) {
		world_put(w, KIND_POD, "%s", pods[i]);
		kubelet_note_restart(w->c);
		assert_int_equal(world_events(w, "p", "BackendRestarted"), 0);
		world_remove(w, KIND_POD, "p");
	}
	/* one that has no container yet is named in an event alone, and its Sandbox too */
	world_put(w, KIND_SANDBOX, "{'metadata':{'name':'s','uid':'box'},'spec':{}}");
	world_put(w, KIND_POD,
		"{'metadata':{'name':'p','uid':'4','ownerReferences':[{'uid':'box','name':'s',"
		"'kind':'Sandbox','controller':true}]},'status':{'phase':'Pending'}}");
	kubelet_note_restart(w->c);
	assert_int_equal(world_events(w, "p", "BackendRestarted"), 1);
	assert_int_equal(world_events(w, "s", "BackendRestarted"), 1);
	assert_string_equal(world_condition(w, KIND_POD, "p", "Ready"), "");
}

/* ---- folders */

static const char *at(const char *name)
{
	static char path[4][300];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

static bool is_there(const char *name)
{
	struct stat st;
	return lstat(at(name), &st) == 0;
}

static void put_file(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void put_dir(const char *name)
{
	struct err err = { 0 };
	assert_true(file_make_dirs(at(name), 0700, &err));
}

static bool is_empty(const char *name)
{
	DIR *d = opendir(at(name));
	struct dirent *e;
	size_t n = 0;
	while (d && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n == 0;
}

static void expect_folder(struct world *w, const char *kind, const char *uid)
{
	struct err err = { 0 };
	struct stat st;
	char name[100];
	char *path = kubelet_volumes_folder(&w->server, kind, uid, &err);
	if (!path)
		fail_msg("%s", err.msg);
	snprintf(name, sizeof name, "%s/%s", kind, uid);
	assert_string_equal(path, at(name));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	free(path);
}

static void test_folders_are_made_and_removed(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	assert_true(kubelet_volumes_open(&w->server, &err));
	world_put(w, KIND_PVC, "{'metadata':{'name':'v','uid':'vol-1'},'spec':{}}");
	expect_folder(w, "pods", "pod-1");
	expect_folder(w, "pods", "pod-1");
	expect_folder(w, "volumes", "vol-1");
	expect_folder(w, "volumes", "vol-1");
	expect_folder(w, "volumes", "unknown");
	/* whose it is stands beside it, where that is known */
	assert_true(is_there("volumes/vol-1.json"));
	assert_false(is_there("volumes/unknown.json"));
	assert_false(is_there("pods/pod-1.json"));
	/* a volume that vanished is not made anew, a pod's folder is */
	assert_int_equal(rmdir(at("volumes/vol-1")), 0);
	assert_null(kubelet_volumes_folder(&w->server, "volumes", "vol-1", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_non_null(strstr(err.msg, "is gone: put it back, or delete the claim"));
	assert_false(is_there("volumes/vol-1"));
	assert_int_equal(rmdir(at("pods/pod-1")), 0);
	expect_folder(w, "pods", "pod-1");
	put_dir("volumes/vol-1");
	expect_folder(w, "volumes", "vol-1");
	/* once removed it may be made again */
	put_file("volumes/vol-1/file");
	kubelet_volumes_remove(&w->server, "volumes", "vol-1");
	assert_false(is_there("volumes/vol-1"));
	assert_false(is_there("volumes/vol-1.json"));
	TURN_UNTIL(w->server.loop, is_empty("trash"));
	expect_folder(w, "volumes", "vol-1");
	kubelet_volumes_remove(&w->server, "pods", "never");
	char uid[5000];
	memset(uid, 'a', sizeof uid - 1);
	uid[sizeof uid - 1] = '\0';
	assert_null(kubelet_volumes_folder(&w->server, "pods", uid, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
}

static void test_strays_are_sorted(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	world_put(w, KIND_PVC, "{'metadata':{'name':'known','uid':'known'},'spec':{}}");
	world_put(w, KIND_PVC, "{'metadata':{'name':'deleted','uid':'deleted'},'spec':{}}");
	world_remove(w, KIND_PVC, "deleted");
	put_dir("volumes/known");
	put_dir("volumes/deleted");
	put_file("volumes/deleted/file");
	put_dir("volumes/lost");
	put_file("volumes/lost/file");
	put_dir("volumes/empty");
	put_dir("volumes/.hidden");
	put_file("volumes/known.json");
	put_file("volumes/nobody.json");
	put_dir("pods/lost-pod/workspace");
	put_file("pods/lost-pod/workspace/file");
	put_dir("pods/only-log");
	put_file("pods/only-log/log");
	put_dir("pods/empty-pod/workspace");
	put_dir("trash/old");
	put_file("trash/old/file");
	assert_true(kubelet_volumes_open(&w->server, &err));
	assert_true(is_there("volumes/known"));
	assert_true(is_there("volumes/known.json"));
	assert_true(is_there("volumes/.hidden"));
	assert_false(is_there("volumes/nobody.json"));
	assert_false(is_there("volumes/deleted"));
	assert_false(is_there("volumes/empty"));
	assert_false(is_there("volumes/lost"));
	assert_true(is_there("quarantine/volumes-lost/file"));
	assert_true(is_there("quarantine/pods-lost-pod/workspace/file"));
	assert_false(is_there("quarantine/volumes-deleted"));
	assert_false(is_there("quarantine/volumes-empty"));
	assert_false(is_there("quarantine/pods-only-log"));
	assert_true(is_empty("pods"));
	TURN_UNTIL(w->server.loop, is_empty("trash"));
	/* and once more: nothing is left to do */
	assert_true(kubelet_volumes_open(&w->server, &err));
	assert_true(is_there("quarantine/volumes-lost/file"));
	assert_true(is_there("volumes/known"));
}

#define OWNED_BY(kind, name, uid)                                                              \
	"'ownerReferences':[{'kind':'" kind "','name':'" name "','uid':'" uid                  \
	"','controller':true}]"

static const char *manifest_str(const cJSON *manifest, const char *key)
{
	const char *text = json_str(manifest, key, NULL);
	return text ? text : "none";
}

/* Whose a folder is stands beside it, with the objects that make it findable again. */
static void test_a_folder_says_whose_it_is(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	cJSON *manifest;
	assert_true(kubelet_volumes_open(&w->server, &err));
	struct store_object *claim = world_put(w, KIND_CLAIM,
		"{'metadata':{'name':'c','uid':'claim-1','generation':1},'spec':{}}");
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'s','uid':'box-1','generation':1," OWNED_BY(
			"SandboxClaim", "c", "claim-1") "},'spec':{}}");
	world_put(w, KIND_PVC,
		"{'metadata':{'name':'v','uid':'vol-1'," OWNED_BY(
			"Sandbox", "s", "box-1") "},'spec':{}}");
	world_put(w, KIND_POD,
		"{'metadata':{'name':'p','uid':'pod-1'," OWNED_BY(
			"Sandbox", "s", "box-1") "},'spec':{}}");
	expect_folder(w, "volumes", "vol-1");
	expect_folder(w, "pods", "pod-1");
	const cJSON *objects = kubelet_manifest_objects(folder, "volumes", "vol-1", &manifest);
	static const char *const kinds[] = { "c", "s", "v" };
	assert_int_equal(cJSON_GetArraySize(objects), 3);
	for (int i = 0; i < 3; i++)
		assert_string_equal(
			json_str(cJSON_GetArrayItem(objects, i), "metadata", "name", NULL),
			kinds[i]);
	assert_string_equal(manifest_str(manifest, "folder"), "volumes");
	assert_string_equal(manifest_str(manifest, "uid"), "vol-1");
	assert_string_equal(manifest_str(manifest, "namespace"), "default");
	assert_string_equal(manifest_str(manifest, "name"), "v");
	assert_string_equal(manifest_str(manifest, "claim"), "c");
	assert_string_equal(manifest_str(manifest, "sandbox"), "s");
	assert_string_not_equal(manifest_str(manifest, "written"), "none");
	cJSON_Delete(manifest);
	/* a pod is made anew by its Sandbox: its objects are not kept */
	assert_null(kubelet_manifest_objects(folder, "pods", "pod-1", &manifest));
	assert_string_equal(manifest_str(manifest, "folder"), "pods");
	assert_string_equal(manifest_str(manifest, "claim"), "c");
	cJSON_Delete(manifest);
	assert_null(kubelet_manifest_objects(folder, "pods", "none", &manifest));
	assert_null(manifest);
	/* it follows its owners, when their spec or owner changes and only then */
	struct store_object *before = store_object_ref(claim);
	claim = world_put(w, KIND_CLAIM,
		"{'metadata':{'name':'c','uid':'claim-1','generation':1,'labels':{'new':'1'}},"
		"'spec':{}}");
	struct store_change change = {
		.type = CHANGE_MODIFIED, .now = claim, .before = before
	};
	kubelet_manifest_on_change(&w->server, &change);
	objects = kubelet_manifest_objects(folder, "volumes", "vol-1", &manifest);
	assert_null(json_get(objects->child, "metadata", "labels", NULL));
	cJSON_Delete(manifest);
	claim = world_put(w, KIND_CLAIM,
		"{'metadata':{'name':'c','uid':'claim-1','generation':2,'labels':{'new':'1'}},"
		"'spec':{}}");
	change.now = claim;
	kubelet_manifest_on_change(&w->server, &change);
	objects = kubelet_manifest_objects(folder, "volumes", "vol-1", &manifest);
	assert_non_null(json_get(objects->child, "metadata", "labels", NULL));
	cJSON_Delete(manifest);
	/* not where there is none */
	kubelet_manifest_remove(folder, "volumes", "vol-1");
	kubelet_manifest_on_change(&w->server, &change);
	assert_false(is_there("volumes/vol-1.json"));
	store_object_unref(before);
	assert_null(kubelet_manifest_kind_of(KIND_CLAIM));
}

/* ---- the log */

static char *text_of(const char *name)
{
	size_t n;
	char *text = file_read(at(name), 1 << 20, &n, NULL);
	return text ? text : x_strdup("");
}

static size_t lines_of(const char *name)
{
	char *text = text_of(name);
	size_t n = 0;
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		n++;
	free(text);
	return n;
}

/* The lines without their times, which must be there. */
static void expect_lines(const char *name, const char *const *lines, size_t n)
{
	char *text = text_of(name);
	const char *p = text;
	for (size_t i = 0; i < n; i++) {
		const char *end = strchr(p, '\n'), *space = strchr(p, ' ');
		assert_true(end && space && space < end);
		assert_int_equal(space - p, strlen("2026-01-01T00:00:00.000000000Z"));
		assert_int_equal(space[-1], 'Z');
		assert_int_equal(end - space - 1, strlen(lines[i]));
		assert_memory_equal(space + 1, lines[i], strlen(lines[i]));
		p = end + 1;
	}
	assert_int_equal(*p, '\0');
	free(text);
}

static void test_a_log_has_a_time_in_each_line(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	struct net_loop *loop = w->server.loop;
	static char longest[16383 + 1], rest[] = "xyz";
	const char *const first[] = { "one", "", "two" };
	memset(longest, 'x', sizeof longest - 1);
	put_file("log");
	put_file("output"); /* of a daemon that was killed */
	struct kubelet_podlog *log = kubelet_podlog_open(&w->server, folder, &err);
	assert_non_null(log);
	assert_string_equal(kubelet_podlog_path(log), at("output"));
	assert_true(is_there("log.1"));
	int fd = open(kubelet_podlog_path(log), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one\n\ntwo\npart", 13), 13);
	TURN_UNTIL(loop, lines_of("log") == 3);
	expect_lines("log", first, 3);
	/* a new run: what had no end is the last line of the old one */
	net_loop_run_once(loop, 0);
	kubelet_podlog_rotate(log);
	const char *const old[] = { "one", "", "two", "part" };
	expect_lines("log.1", old, 4);
	assert_int_equal(lines_of("log"), 0);
	/* a line without an end is cut */
	assert_int_equal(write(fd, longest, sizeof longest - 1), sizeof longest - 1);
	assert_int_equal(write(fd, rest, 3), 3);
	TURN_UNTIL(loop, lines_of("log") == 1);
	close(fd);
	TURN_UNTIL(loop, lines_of("log") == 2);
	const char *const cut[] = { longest, rest };
	expect_lines("log", cut, 2);
	kubelet_podlog_close(log);
	kubelet_podlog_close(NULL);
	assert_null(kubelet_podlog_open(&w->server, at("nowhere"), &err));
	assert_int_equal(err.sys, ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_quantities),
		TEST(test_counts_that_are_annotated),
		TEST(test_the_disk),
		TEST(test_phases),
		TEST(test_classes_of_service),
		TEST(test_what_a_start_says_of_the_pods_it_finds),
		TEST(test_of_which_pods_it_says_nothing),
		TEST(test_folders_are_made_and_removed),
		TEST(test_strays_are_sorted),
		TEST(test_a_folder_says_whose_it_is),
		TEST(test_a_log_has_a_time_in_each_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

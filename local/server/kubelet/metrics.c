// SPDX-License-Identifier: Apache-2.0
/* What pods and the node use, as samples for metrics.k8s.io: a mean of processor time between two readings, and memory.
 *
 * Read from the pod's cgroup where it has one. Else from its processes (local/isolation/usage.h): their own time and that
 * of the children they have waited for. A child that its parent does not wait for takes its time with it. */
#include "local/server/kubelet/run.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"
#include "local/isolation/cgroup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_MS = 5000, FIRST_MS = 2000, LINE_BYTES = 512 };

/* One reading of a counter; the sample is told with the second one. */
static void add(struct kubelet_run_counter *counter, struct server *s, const char *uid,
	int64_t at_ms, uint64_t cpu_ns, struct store_sample sample)
{
	int64_t window_ms = at_ms - counter->at_ms;
	/* what is no longer seen was spent all the same */
	if (cpu_ns < counter->cpu_ns)
		cpu_ns = counter->cpu_ns;
	if (counter->at_ms > 0 && window_ms > 0) {
		sample.at_ns = clock_wall_ns() - (clock_mono_ms() - at_ms) * 1000000;
		sample.window_ms = window_ms;
		sample.cpu_nano = (cpu_ns - counter->cpu_ns) / (uint64_t)window_ms * 1000;
		store_samples_put(&s->samples, uid, &sample);
	}
	counter->at_ms = at_ms;
	counter->cpu_ns = cpu_ns;
}

static void add_of_run(
	struct kubelet_run *r, int64_t at_ms, uint64_t cpu_ns, uint64_t memory_bytes)
{
	struct store_sample sample = { .memory_bytes = memory_bytes,
		.disk_bytes = r->usage.last.bytes,
		.has_disk = r->usage.is_tree_known };
	add(&r->usage.counter, r->c->server, r->uid, at_ms, cpu_ns, sample);
}

static bool read_group(const struct kubelet_run *r, uint64_t *cpu_ns, uint64_t *memory_bytes)
{
	const struct isolation_cgroup *cgroup = isolation_spawn_cgroup(r->daemon);
	return isolation_cgroup_cpu_ns(cgroup, cpu_ns) &&
	       isolation_cgroup_memory_bytes(cgroup, memory_bytes);
}

int64_t kubelet_metrics_pause_ms(const struct kubelet_run *r, int64_t usual_ms)
{
	return store_samples_get(&r->c->server->samples, r->uid) ? usual_ms : FIRST_MS;
}

bool kubelet_metrics_needs_look(const struct kubelet_run *r)
{
	uint64_t cpu_ns, memory_bytes;
	return !read_group(r, &cpu_ns, &memory_bytes);
}

void kubelet_metrics_on_look(struct kubelet_run *r, const struct isolation_usage *usage)
{
	uint64_t cpu_ns, memory_bytes;
	if (!read_group(r, &cpu_ns, &memory_bytes))
		add_of_run(r, usage->began_ms, usage->cpu_ns, usage->memory_bytes);
}

/* ---- the node ---- */

/* "cpu  user nice system idle iowait irq softirq steal …" in ticks; guests are in user already. */
static bool node_cpu_ns(uint64_t *cpu_ns)
{
	char line[LINE_BYTES], *save = NULL;
	uint64_t busy = 0, value;
	FILE *f = fopen("/proc/stat", "re");
	bool ok = f != NULL && fgets(line, sizeof line, f) != NULL;
	if (f != NULL)
		fclose(f);
	char *word = ok ? strtok_r(line, " \n", &save) : NULL;
	ok = word != NULL && strcmp(word, "cpu") == 0;
	for (int i = 0; ok && i < 8; i++) {
		word = strtok_r(NULL, " \n", &save);
		ok = word != NULL && num_parse_u64(word, UINT64_MAX >> 1, &value);
		if (ok && i != 3 && i != 4) /* idle, waiting for a disk */
			busy += value;
	}
	*cpu_ns = busy * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	return ok;
}

static void sample_node(struct controller *c, uint64_t available_bytes)
{
	uint64_t cpu_ns;
	uint64_t all = kubelet_limits_machine_memory();
	struct store_sample sample = {
		.memory_bytes = all > available_bytes ? all - available_bytes : 0
	};
	if (node_cpu_ns(&cpu_ns))
		add(&c->kubelet->node, c->server, "", clock_mono_ms(), cpu_ns, sample);
}

void kubelet_metrics_tick(struct controller *c)
{
	struct kubelet_run *r, *next;
	int64_t now_ms = clock_mono_ms();
	if (c->kubelet->node.at_ms == 0 || now_ms - c->kubelet->node.at_ms >= SAMPLE_MS ||
		!store_samples_get(&c->server->samples, ""))
		sample_node(c, isolation_usage_free_memory());
	HASH_ITER(hh, c->kubelet->runs, r, next) {
		uint64_t cpu_ns, memory_bytes;
		int64_t at_ms = r->usage.counter.at_ms;
		if (!r->daemon ||
			(at_ms > 0 && now_ms - at_ms < kubelet_metrics_pause_ms(r, SAMPLE_MS)))
			continue;
		if (read_group(r, &cpu_ns, &memory_bytes))
			add_of_run(r, now_ms, cpu_ns, memory_bytes);
	}
}

// SPDX-License-Identifier: Apache-2.0
/* Messages of an API server against both wires of a port-forward. First byte: 1 = the tunnel, else channels.
 * Second byte: size of the messages. What the tunnel gives must not depend on where it is cut. */
#include "engine/kube/portforward_wire.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	struct str bytes, answers;
	int ends;
	enum kube_wire_end how;
};

static void on_bytes(void *arg, struct slice bytes)
{
	struct seen *seen = arg;
	if (seen->ends)
		abort();
	str_add_bytes(&seen->bytes, bytes.p, bytes.n);
}

static void on_answer(void *arg, struct slice bytes)
{
	struct seen *seen = arg;
	if (seen->ends || bytes.n > 12)
		abort();
	str_add_bytes(&seen->answers, bytes.p, bytes.n);
}

static void on_end(void *arg, enum kube_wire_end how, struct slice words)
{
	struct seen *seen = arg;
	if (seen->ends++ || (words.n > 0) != (how == WIRE_REFUSED || how == WIRE_PROTOCOL))
		abort();
	seen->how = how;
}

static struct seen run(bool is_tunnel, const char *bytes, size_t n, size_t piece)
{
	struct seen seen = { .ends = 0 };
	struct kube_wire wire;
	str_init(&seen.bytes, 1 << 20);
	str_init(&seen.answers, 1 << 20);
	kube_wire_init(&wire, 8080);
	wire.is_tunnel = is_tunnel;
	wire.on_bytes = on_bytes;
	wire.on_answer = on_answer;
	wire.on_end = on_end;
	wire.arg = &seen;
	for (size_t i = 0; i < n; i += piece)
		kube_wire_read(
			&wire, (struct slice){ bytes + i, n - i < piece ? n - i : piece });
	kube_wire_deinit(&wire);
	return seen;
}

static void forget(struct seen *seen)
{
	str_deinit(&seen->bytes);
	str_deinit(&seen->answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	bool is_tunnel = data[0] & 1;
	const char *bytes = (const char *)data + 2;
	struct seen one = run(is_tunnel, bytes, size - 2, (size_t)data[1] + 1);
	if (is_tunnel) {
		struct seen other = run(true, bytes, size - 2, size);
		if (one.ends != other.ends || one.how != other.how ||
			one.bytes.n != other.bytes.n || one.answers.n != other.answers.n ||
			memcmp(one.bytes.p, other.bytes.p, one.bytes.n) != 0)
			abort();
		forget(&other);
	}
	forget(&one);
	return 0;
}

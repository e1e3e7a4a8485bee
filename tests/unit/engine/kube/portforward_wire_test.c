// SPDX-License-Identifier: Apache-2.0
/* The two wires of pods/portforward, in bytes. */
#include "tests/unit/unit.h"

#include "engine/kube/portforward_wire.h"

#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define BYTES(text) ((struct slice){ text, sizeof(text) - 1 })

static struct kube_wire wire;
static struct str got, answers, words;
static int ends;
static enum kube_wire_end how;

static void on_bytes(void *arg, struct slice bytes)
{
	assert_ptr_equal(arg, &wire);
	assert_int_equal(ends, 0);
	str_add_bytes(&got, bytes.p, bytes.n);
}

static void on_answer(void *arg, struct slice bytes)
{
	(void)arg;
	str_add_bytes(&answers, bytes.p, bytes.n);
}

static void on_end(void *arg, enum kube_wire_end end, struct slice why)
{
	(void)arg;
	ends++;
	how = end;
	str_add_bytes(&words, why.p, why.n);
}

static void begin(bool is_tunnel)
{
	kube_wire_init(&wire, 8080);
	wire.is_tunnel = is_tunnel;
	wire.on_bytes = on_bytes;
	wire.on_answer = on_answer;
	wire.on_end = on_end;
	wire.arg = &wire;
	ends = 0;
	str_init(&got, 1 << 20);
	str_init(&answers, 1000);
	str_init(&words, 1 << 20);
}

static void over(void)
{
	kube_wire_deinit(&wire);
	str_deinit(&got);
	str_deinit(&answers);
	str_deinit(&words);
}

/* ---- what we send */

#define HEADERS(type_bytes, type)                                                              \
	"\0\0\0\3"                                                                             \
	"\0\0\0\12streamtype\0\0\0" type_bytes type "\0\0\0\4port\0\0\0\4"                     \
	"8080"                                                                                 \
	"\0\0\0\11requestid\0\0\0\1"                                                           \
	"0"

static void test_the_opening_of_a_tunnel(void **state)
{
	(void)state;
	/* RFC 1950 and 1951: header, a stored block, its length and the complement, an empty block */
	static const char expected[] =
		"\x80\3\0\1\1\0\0\x53"
		"\0\0\0\1\0\0\0\0\0\0"
		"\x78\1"
		"\0\x3d\0\xc2\xff" HEADERS("\5", "error") "\0\0\0\xff\xff"
							  "\x80\3\0\1\0\0\0\x50"
							  "\0\0\0\3\0\0\0\0\0\0"
							  "\0\x3c\0\xc3\xff" HEADERS("\4",
								  "data") "\0\0\0\xff\xff";
	unsigned char bytes[WIRE_OPENING_BYTES];
	begin(true);
	assert_int_equal(kube_wire_opening(&wire, bytes), sizeof expected - 1);
	assert_memory_equal(bytes, expected, sizeof expected - 1);
	over();
	begin(false);
	assert_int_equal(kube_wire_opening(&wire, bytes), 0);
	over();
}

static void test_the_head_of_our_bytes(void **state)
{
	(void)state;
	unsigned char bytes[WIRE_HEAD_BYTES];
	begin(true);
	assert_int_equal(kube_wire_put_head(&wire, bytes + sizeof bytes, 0x012345), 8);
	assert_memory_equal(bytes, "\0\0\0\3\0\x01\x23\x45", 8);
	over();
	begin(false);
	memset(bytes, 'x', sizeof bytes);
	assert_int_equal(kube_wire_put_head(&wire, bytes + sizeof bytes, 5), 1);
	assert_memory_equal(bytes, "xxxxxxx\0", 8);
	over();
}

/* ---- the tunnel */

#define REPLY(id) "\x80\3\0\2\0\0\0\x0a\0\0\0" id "zzzzzz"
#define PING(id) "\x80\3\0\6\0\0\0\4\0\0\0" id
#define RESET(id) "\x80\3\0\3\0\0\0\x08\0\0\0" id "\0\0\0\5"
#define GOAWAY "\x80\3\0\7\0\0\0\x08\0\0\0\3\0\0\0\0"

static void test_a_tunnel_cut_anywhere(void **state)
{
	(void)state;
	static const char all[] = REPLY("\1") REPLY("\3") "\0\0\0\3\0\0\0\5hello" PING("\2")
		PING("\1") "\0\0\0\3\0\0\0\0"
			   "\0\0\0\1\1\0\0\0" /* the stream of errors ends without a word */
		GOAWAY "\0\0\0\3\1\0\0\6 world"
			   "\0\0\0\3\0\0\0\1!"; /* after its end */
	for (size_t piece = 1; piece < sizeof all; piece++) {
		begin(true);
		for (size_t i = 0; i < sizeof all - 1; i += piece) {
			size_t left = sizeof all - 1 - i;
			kube_wire_read(
				&wire, (struct slice){ all + i, left < piece ? left : piece });
		}
		assert_string_equal(got.p, "hello world");
		assert_int_equal(answers.n, 12);
		assert_memory_equal(answers.p, PING("\2"), 12);
		assert_int_equal(ends, 1);
		assert_int_equal(how, WIRE_CLOSED);
		over();
	}
}

static const struct {
	struct slice bytes;
	enum kube_wire_end how;
	const char *words; /* NULL: any */
} tunnel_ends[] = {
	{ BYTES("\0\0\0\1\0\0\0\7refused"), WIRE_REFUSED, "refused" },
	{ BYTES("\0\0\0\1\1\0\0\7refused"), WIRE_REFUSED, "refused" },
	{ BYTES("\0\0\0\3\1\0\0\0"), WIRE_CLOSED, "" },
	{ BYTES("\x80\3\0\2\1\0\0\4\0\0\0\3"), WIRE_CLOSED, "" },
	{ BYTES(RESET("\3")), WIRE_BROKEN, "" },
	{ BYTES("\0\0\0\5\0\0\0\1x"), WIRE_PROTOCOL, NULL },          /* nobody opened it */
	{ BYTES("\x80\2\0\2\0\0\0\4\0\0\0\3"), WIRE_PROTOCOL, NULL }, /* SPDY/2 */
	{ BYTES("\x81\3\0\2\0\0\0\4\0\0\0\3"), WIRE_PROTOCOL, NULL }, /* SPDY/259 */
	{ BYTES("\x80\3\0\1\0\0\0\x0a\0\0\0\2\0\0\0\0\0\0"), WIRE_PROTOCOL, NULL },
	{ BYTES("\x80\3\0\2\0\x01\0\1"), WIRE_PROTOCOL, NULL }, /* 64 KiB and one */
};

static void test_ends_of_a_tunnel(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tunnel_ends); i++) {
		begin(true);
		kube_wire_read(&wire, BYTES("\0\0\0\3\0\0\0\2ok"));
		kube_wire_read(&wire, tunnel_ends[i].bytes);
		kube_wire_read(&wire, BYTES("\0\0\0\1\0\0\0\4more\0\0\0\3\0\0\0\2no"));
		if (ends != 1 || how != tunnel_ends[i].how)
			fail_msg("case %zu: %d ends, the last %d", i, ends, (int)how);
		if (tunnel_ends[i].words != NULL)
			assert_string_equal(words.p, tunnel_ends[i].words);
		else
			assert_true(words.n > 0);
		assert_string_equal(got.p, "ok");
		over();
	}
}

static void test_what_a_tunnel_takes_without_an_end(void **state)
{
	(void)state;
	static const struct slice cases[] = { BYTES(REPLY("\3")), BYTES(GOAWAY),
		BYTES(RESET("\1")), BYTES(PING("\3")),
		BYTES("\x80\3\0\4\0\0\0\4\0\0\0\0"), /* SETTINGS */
		BYTES("\x80\3\0\2\0\0\0\0"), BYTES("\x80\3\0\3\0\0\0\2xx"),
		BYTES("\x80\3\0\6\0\0\0\2xx"), BYTES("") };
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin(true);
		kube_wire_read(&wire, cases[i]);
		kube_wire_read(&wire, BYTES("\0\0\0\3\0\0\0\2ok"));
		assert_int_equal(ends, 0);
		assert_string_equal(got.p, "ok");
		assert_int_equal(answers.n, 0);
		over();
	}
}

static void test_words_have_a_limit(void **state)
{
	(void)state;
	begin(true);
	kube_wire_read(&wire, BYTES("\0\0\0\1\0\1\0\0"));
	for (int i = 0; i < 1 << 12; i++)
		kube_wire_read(&wire, BYTES("sixteen bytes of"));
	assert_int_equal(ends, 1);
	assert_int_equal(how, WIRE_REFUSED);
	assert_int_equal(words.n, WIRE_MAX_WORDS_BYTES);
	over();
}

/* ---- channels */

static void open_channels(void)
{
	begin(false);
	kube_wire_read(&wire, BYTES("\0\x90\x1f"));
	kube_wire_read(&wire, BYTES("\1\x90\x1f"));
}

static void test_channels(void **state)
{
	(void)state;
	open_channels();
	kube_wire_read(&wire, BYTES("\0hello"));
	kube_wire_read(&wire, BYTES("\0"));
	kube_wire_read(&wire, BYTES("\1"));
	kube_wire_read(&wire, BYTES(""));
	kube_wire_read(&wire, BYTES("\0 world"));
	assert_string_equal(got.p, "hello world");
	assert_int_equal(ends, 0);
	kube_wire_read(&wire, BYTES("\1refused"));
	kube_wire_read(&wire, BYTES("\0more"));
	kube_wire_read(&wire, BYTES("\1more"));
	assert_int_equal(ends, 1);
	assert_int_equal(how, WIRE_REFUSED);
	assert_string_equal(words.p, "refused");
	over();
}

static void test_channels_that_break_the_protocol(void **state)
{
	(void)state;
	static const struct slice cases[] = { BYTES("\0\x91\x1f"), BYTES("\0\x90"),
		BYTES("\0hello"), BYTES("\1oh"), BYTES("\2\x90\x1f"), BYTES("\377") };
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin(false);
		kube_wire_read(&wire, cases[i]);
		if (ends != 1 || how != WIRE_PROTOCOL)
			fail_msg("case %zu: %d ends", i, ends);
		over();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_opening_of_a_tunnel),
		cmocka_unit_test(test_the_head_of_our_bytes),
		cmocka_unit_test(test_a_tunnel_cut_anywhere),
		cmocka_unit_test(test_ends_of_a_tunnel),
		cmocka_unit_test(test_what_a_tunnel_takes_without_an_end),
		cmocka_unit_test(test_words_have_a_limit),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_channels_that_break_the_protocol),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

# SPDX-License-Identifier: Apache-2.0
"""What mistakes.py finds in a few lines, and that a mistake never changes the number of lines."""
import unittest

import mistakes
import mutate

SOURCE = '''#include <stdio.h>
enum { MOST = 63 };
static const char *const words[] = { "one", "two",
	"three" };
int f(int a, const char *b)
{
	int n = 0; /* if (a < b) */
	if (a < 3 && b != NULL)
		return -1;
	a->b = 4;
	call(a,
		"x < y");
	log_it(a);
	if (a)
		n = 1;
	else
		return 2;
	return n;
}
'''


def made(kind):
    return [m for m in mistakes.of(SOURCE) if m.kind == kind]


def texts(kind):
    return [SOURCE[m.start : m.end] for m in made(kind)]


class Mistakes(unittest.TestCase):
    def test_each_kind(self):
        self.assertEqual(texts("limit"), [" < "])
        self.assertEqual(texts("equal"), [" != "])
        self.assertEqual(texts("and_or"), [" && "])
        self.assertEqual(texts("inverted"), ["a < 3 && b != NULL", "a"])
        self.assertEqual(texts("dropped_check"), ["if (a < 3 && b != NULL)\n\t\treturn -1;"])
        self.assertEqual(texts("dropped_operand"), [" && b != NULL"])
        self.assertEqual(texts("dropped_assignment"), ["a->b = 4;", "n = 1;"])
        self.assertEqual(texts("dropped_call"), ['call(a,\n\t\t"x < y");'])
        self.assertEqual(texts("dropped_option"), ['"one", ', '"two",'])
        self.assertIn("63", texts("constant"))

    def test_lines_stay(self):
        for mistake in mistakes.of(SOURCE):
            changed = mistake.apply(SOURCE)
            self.assertEqual(changed.count("\n"), SOURCE.count("\n"))
            self.assertNotEqual(changed, SOURCE)

    def test_every_room_is_sampled(self):
        code = {p.parent.relative_to(mutate.ROOT).as_posix() for top in ("engine", "local", "tui", "cli")
                for p in (mutate.ROOT / top).rglob("*.c")}
        self.assertEqual({mutate.room_of(folder + "/a.c") for folder in code} - {None}, set(mutate.ROOMS))
        left_out = {"local/portproxy"}  # links nothing of ours: its tests run the program
        self.assertEqual({folder for folder in code if mutate.room_of(folder + "/a.c") is None}, left_out)
        self.assertEqual(set(mutate.LONGER), set(mutate.ROOMS))


if __name__ == "__main__":
    unittest.main()

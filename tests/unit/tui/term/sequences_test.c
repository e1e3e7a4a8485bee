// SPDX-License-Identifier: Apache-2.0
/* One table: what a program sends, what the screen is then, where the cursor, what it was answered.
 * The names are those of docs/terminal.md; the last test sees to it that each row there has a case. */
#include "tests/unit/tui/term/harness.h"

/* 20 columns, 6 rows, unless the input says otherwise. "-" = not looked at. */
struct row_case {
	const char *name;
	const char *input;
	const char *screen; /* lines joined by '|' */
	const char *output;
	int row;
	int col;
};

#define ROWS "1\r\n2\r\n3\r\n4\r\n5\r\n6"

static const struct row_case cases[] = {
	{ "text",
		"a\U0001F7E2"
		"b",
		"a\U0001F7E2"
		"b",
		"", 0, 4 },
	{ "text", "0123456789012345678\U0001F7E2", "0123456789012345678|\U0001F7E2", "", 1, 2 },
	{ "text",
		"a\u06DE"
		"b",
		"a\u06DE"
		"b",
		"", 0, 3 },
	{ "text", "hello", "hello", "", 0, 5 },
	{ "text", "01234567890123456789", "01234567890123456789", "", 0, 19 },
	{ "text", "01234567890123456789x", "01234567890123456789|x", "", 1, 1 },
	{ "text", "你好", "你好", "", 0, 4 },
	{ "text", "\x1b[1;20H你", "|你", "", 1, 2 },
	{ "text", "\x1b[1;19H你x", "                  你|x", "", 1, 1 },
	{ "text", "你\x1b[1;2Hx", " x", "", 0, 2 },
	{ "text", "你\x1b[1;1Hx", "x", "", 0, 1 },
	{ "text", "😀é", "😀é", "", 0, 3 },
	{ "invalid",
		"a\xff"
		"b\xe4\xbd"
		"c\xc0\x80",
		"a\xef\xbf\xbd"
		"b\xef\xbf\xbd"
		"c\xef\xbf\xbd\xef\xbf\xbd",
		"", 0, 7 },
	{ "invalid",
		"\x9b"
		"5n\x9d"
		"0;t\x9c",
		"\xef\xbf\xbd"
		"5n\xef\xbf\xbd"
		"0;t\xef\xbf\xbd",
		"", 0, 8 },
	{ "invalid", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "", 0, 3 },
	{ "combining",
		"\uAC00\uD7B0"
		"b",
		"\uAC00\uD7B0"
		"b",
		"", 0, 3 },
	{ "combining", "e\u0301x", "e\u0301x", "", 0, 2 },
	{ "combining", "\u0301x", "x", "", 0, 1 },
	{ "combining", "01234567890123456789\u0301", "01234567890123456789\u0301", "", 0, 19 },
	{ "combining", "你\u0301x", "你\u0301x", "", 0, 3 },
	{ "invisible",
		"a\u06DD"
		"b\U000110BD",
		"a\u06DD"
		"b\U000110BD",
		"", 0, 4 },
	{ "invisible",
		"a\u202e"
		"b\u2066\u200b\ufeff\u2028"
		"c",
		"abc", "", 0, 3 },
	{ "C1",
		"a\xc2\x85"
		"b\xc2\x9b"
		"c\xc2\x90",
		"abc", "", 0, 3 },
	{ "BEL", "a\ab", "ab", "", 0, 2 },
	{ "BS", "ab\bX\b\b\b\bY", "YX", "", 0, 1 },
	{ "HT", "01234567890123456789\tX", "01234567890123456789|X", "", 1, 1 },
	{ "HT", "a\tb\tc\td", "a       b       c  d", "", 0, 19 },
	{ "LF", "a\nb\vc\fd", "a| b|  c|   d", "", 3, 4 },
	{ "LF", ROWS "\r\n7", "2|3|4|5|6|7", "", 5, 1 },
	{ "CR", "abc\rX", "Xbc", "", 0, 1 },
	{ "SO", "\x1b)0a\x0eq\x0fq", "a─q", "", 0, 3 },
	{ "CAN",
		"a\x1b[31\x18"
		"b\x1b]0;x\x1a"
		"c",
		"abc", "", 0, 3 },
	{ "ENQ",
		"a\x05\x01\x7f"
		"b",
		"ab", "", 0, 2 },
	{ "DECSC",
		"01234567890123456789\x1b"
		"7\x1b[3;3H\x1b"
		"8X",
		"01234567890123456789|X", "", 1, 1 },
	{ "DECSC",
		"ab\x1b"
		"7\x1b[5;5H\x1b"
		"8c",
		"abc", "", 0, 3 },
	{ "DECRC",
		"\x1b[3;3H\x1b"
		"8x",
		"x", "", 0, 1 },
	{ "DECRC",
		"\x1b(0\x1b"
		"7\x1b(B\x1b[3;3H\x1b"
		"8q",
		"─", "", 0, 1 },
	{ "IND",
		"a\x1b"
		"Db",
		"a| b", "", 1, 2 },
	{ "IND",
		ROWS "\x1b"
		     "D",
		"2|3|4|5|6", "", 5, 1 },
	{ "NEL",
		"a\x1b"
		"Eb",
		"a|b", "", 1, 1 },
	{ "HTS", "\x1b[1;5H\x1bH\r\tx", "    x", "", 0, 5 },
	{ "RI", "\x1b[2;1Ha\x1bMb", " b|a", "", 0, 2 },
	{ "RI", "a\x1bMb", " b|a", "", 0, 2 },
	{ "SS2", "\x1b*0\x1b+0\x1bNqq\x1bOxx", "─q│x", "", 0, 4 },
	{ "SCS", "\x1b(0lqk\x1b(Bq\x1b(A#\x1b(B#", "┌─┐q£#", "", 0, 6 },
	{ "SCS", "\x1b(Xab", "ab", "", 0, 2 },
	{ "LS2", "\x1b*0\x1bnq\x0fq\x1b+0\x1box", "─q│", "", 0, 3 },
	{ "DECKPAM", "\x1b=\x1b>a", "a", "", 0, 1 },
	{ "RIS",
		"abc\x1b[3;5r\x1b[31mx\x1b"
		"cy",
		"y", "", 0, 1 },
	{ "DECALN", "\x1b[3;4Hx\x1b#8",
		"EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|"
		"EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE",
		"", 0, 0 },
	{ "ICH", "abcdef\x1b[2;3r\x1b[1;2H\x1b[2@", "a  bcdef", "", 0, 1 },
	{ "ICH", "abcdef\x1b[1;3H\x1b[2@", "ab  cdef", "", 0, 2 },
	{ "ICH", "abc\x1b[1;1H\x1b[@x", "xabc", "", 0, 1 },
	{ "CUU", "\x1b[3;5r\x1b[3;1H\x1b[A", "", "", 2, 0 },
	{ "CUU", "\x1b[3;5r\x1b[2;4H\x1b[A", "", "", 0, 3 },
	{ "CUU", "\x1b[4;4H\x1b[2A", "", "", 1, 3 },
	{ "CUU", "\x1b[3;5r\x1b[4;1H\x1b[9A", "", "", 2, 0 },
	{ "CUU", "\x1b[3;5r\x1b[2;1H\x1b[9A", "", "", 0, 0 },
	{ "CUD", "\x1b[3;5r\x1b[5;1H\x1b[B", "", "", 4, 0 },
	{ "CUD", "\x1b[3;5r\x1b[6;1H\x1b[B", "", "", 5, 0 },
	{ "CUD", "\x1b[2B", "", "", 2, 0 },
	{ "CUD", "\x1b[3;5r\x1b[4;1H\x1b[9B", "", "", 4, 0 },
	{ "CUF", "\x1b[3C\x1b[C", "", "", 0, 4 },
	{ "CUF", "\x1b[99999999999C", "", "", 0, 19 },
	{ "CUB", "abcd\x1b[2Dx", "abxd", "", 0, 3 },
	{ "CNL", "\x1b[3;5r\x1b[5;4H\x1b[E", "", "", 4, 0 },
	{ "CNL", "abc\x1b[2Ex", "abc||x", "", 2, 1 },
	{ "CPL", "\x1b[3;5r\x1b[3;4H\x1b[F", "", "", 2, 0 },
	{ "CPL", "\x1b[4;4H\x1b[2Fx", "|x", "", 1, 1 },
	{ "CHA", "abc\x1b[Gx\x1b[5Gy", "xbc y", "", 0, 5 },
	{ "CUP", "\x1b[3;4Hx\x1b[;2Hy\x1b[Hz", "zy||   x", "", 0, 1 },
	{ "CUP", "\x1b[99;99Hx", "|||||                   x", "", 5, 19 },
	/* in origin mode the margins hold the cursor, but erasing does not bring it back */
	{ "CHT", "\x1b[?69h\x1b[3;9s\x1b[?6h\x1b[2I", "", "", 0, 8 },
	{ "EL",
		"\x1b[?69h\x1b[3;9s\x1b[?6h\x1b"
		"E\x1b[K",
		"", "", 1, 0 },
	{ "CHT", "01234567890123456789\x1b[IX", "01234567890123456789|X", "", 1, 1 },
	{ "CHT", "\x1b[2Ix", "                x", "", 0, 17 },
	{ "ED", "01234567890123456789\x1b[3JX", "01234567890123456789|X", "", 1, 1 },
	{ "ED", "01234567890123456789\x1b[9JX", "01234567890123456789|X", "", 1, 1 },
	{ "ED", "01234567890123456789\x1b[J", "0123456789012345678", "", 0, 19 },
	{ "ED", ROWS "\x1b[3;1H\x1b[J", "1|2", "", 2, 0 },
	{ "ED", ROWS "\x1b[3;1H\x1b[1J", "|||4|5|6", "", 2, 0 },
	{ "ED", ROWS "\x1b[2J", "", "", 5, 1 },
	{ "ED", ROWS "\r\n7\x1b[3J", "2|3|4|5|6|7", "", 5, 1 },
	{ "DECSED", "\x1b[1\"qab\x1b[0\"qcd\r\n\x1b[1\"qe\x1b[\"qf\x1b[H\x1b[?J", "ab|e", "", 0,
		0 },
	{ "EL", "01234567890123456789\x1b[3KX", "01234567890123456789|X", "", 1, 1 },
	{ "EL", "01234567890123456789\x1b[9KX", "01234567890123456789|X", "", 1, 1 },
	{ "EL", "abcdef\x1b[1;3H\x1b[K", "ab", "", 0, 2 },
	{ "EL", "abcdef\x1b[1;3H\x1b[1K", "   def", "", 0, 2 },
	{ "EL", "abcdef\x1b[1;3H\x1b[2K", "", "", 0, 2 },
	{ "EL", "a你b\x1b[1;3H\x1b[K", "a", "", 0, 2 },
	{ "DECSEL", "\x1b[1\"qab\x1b[0\"qcd\x1b[1;1H\x1b[?K", "ab", "", 0, 0 },
	{ "IL", "ab\x1b[2;3r\x1b[1;2H\x1b[LX", "aX", "", 0, 2 },
	{ "IL", "abc\x1b[LX", "X|abc", "", 0, 1 },
	{ "IL", ROWS "\x1b[2;1H\x1b[2L", "1|||2|3|4", "", 1, 0 },
	{ "DL", "abc\x1b[MX", "X", "", 0, 1 },
	{ "DL", ROWS "\x1b[2;1H\x1b[2M", "1|4|5|6", "", 1, 0 },
	{ "DCH", "abcdef\x1b[2;3r\x1b[1;2H\x1b[2P", "adef", "", 0, 1 },
	{ "DCH", "abcdef\x1b[1;3H\x1b[2P", "abef", "", 0, 2 },
	{ "DCH", "a你bc\x1b[1;3H\x1b[P", "a bc", "", 0, 2 },
	{ "SU", "01234567890123456789\x1b[SX", "|X", "", 1, 1 },
	{ "SU", ROWS "\x1b[2S", "3|4|5|6", "", 5, 1 },
	{ "SU", ROWS "\x1b[2;4r\x1b[S", "1|3|4||5|6", "", 0, 0 },
	{ "SD", "01234567890123456789\x1b[TX", "|X1234567890123456789", "", 1, 1 },
	{ "SD", ROWS "\x1b[2T", "||1|2|3|4", "", 5, 1 },
	{ "ECH", "abcdef\x1b[1;2H\x1b[3X", "a   ef", "", 0, 1 },
	{ "CBT", "\x1b[1;20H\x1b[2Zx", "        x", "", 0, 9 },
	{ "HPA", "\x1b[5`x", "    x", "", 0, 5 },
	{ "HPR", "a\x1b[2ax", "a  x", "", 0, 4 },
	{ "REP", "ab\x1b[3b", "abbbb", "", 0, 5 },
	{ "REP", "x你\x1b[2b", "x你你你", "", 0, 7 },
	{ "REP", "\u0301\x1b[5bx", "x", "", 0, 1 },
	{ "REP", "a\r\x1b[5b", "a", "", 0, 0 },
	{ "REP", "a\x1b[31m\x1b[b", "aa", "", 0, 2 },
	{ "DA", "\x1b[c\x1b[0c\x1b[1c", "", "\x1b[?62;22c\x1b[?62;22c", 0, 0 },
	{ "DA2", "\x1b[>c", "", "\x1b[>0;100;0c", 0, 0 },
	{ "VPA", "ab\x1b[3dc", "ab||  c", "", 2, 3 },
	{ "VPR", "a\x1b[2eb", "a|| b", "", 2, 2 },
	{ "HVP", "\x1b[2;2fx", "| x", "", 1, 2 },
	{ "TBC", "\x1b[1;9H\x1b[g\r\tx", "                x", "", 0, 17 },
	{ "TBC", "\x1b[3g\tx", "                   x", "", 0, 19 },
	{ "SM", "abc\r\x1b[4hx\x1b[4ly", "xybc", "", 0, 2 },
	{ "DECSET", "\x1b[?25;7lx", "x", "", 0, 1 },
	{ "HPB", "abcd\x1b[2jx", "abxd", "", 0, 3 },
	{ "VPB", "\x1b[4;1H\x1b[2kx", "|x", "", 1, 1 },
	{ "SGR", "\x1b[1;31mx\x1b[>4;1m\x1b[?1m", "x", "", 0, 1 },
	{ "DSR", "\x1b[3;4H\x1b[5n\x1b[6n\x1b[?6n\x1b[?5n\x1b[7n", "",
		"\x1b[0n\x1b[3;4R\x1b[?3;4R", 2, 3 },
	{ "DSR", "\x1b[2;5r\x1b[?6h\x1b[2;3H\x1b[6n", "", "\x1b[2;3R", 2, 2 },
	{ "DECRQM", "\x1b[?7$p\x1b[?25l\x1b[?25$p\x1b[4$p\x1b[?4242$p\x1b[?2026$p", "",
		"\x1b[?7;1$y\x1b[?25;2$y\x1b[4;2$y\x1b[?4242;0$y\x1b[?2026;2$y", 0, 0 },
	{ "DECSTR", "01234567890123456789\x1b[!pX", "01234567890123456789|X", "", 1, 1 },
	{ "DECSTR", "\x1b[2;4r\x1b[?6h\x1b[4h\x1b[!p\x1b[?6$p\x1b[4$p", "",
		"\x1b[?6;2$y\x1b[4;2$y", 1, 0 },
	{ "DECSCUSR", "\x1b[4 q\x1bP$q q\x1b\\\x1b[5 q\x1bP$q q\x1b\\", "",
		"\x1bP1$r4 q\x1b\\\x1bP1$r5 q\x1b\\", 0, 0 },
	{ "DECSCA", "\x1b[1\"qa\x1b[2\"qb\x1b[?2J", "a", "", 0, 2 },
	{ "DECSTBM", "abc\x1b[2;2rX", "abcX", "", 0, 4 },
	{ "DECSTBM", ROWS "\x1b[2;4r\x1b[4;1H\nx", "1|3|4|x|5|6", "", 3, 1 },
	{ "DECSTBM", "\x1b[5;2rx\x1b[3;3rx", "xx", "", 0, 2 },
	{ "DECSTBM", ROWS "\x1b[2;99999r\x1b[6;1H\n", "1|3|4|5|6", "", 5, 0 },
	{ "DECSLRM", "abcdef\x1b[?69h\x1b[2;4s\x1b[1;2H\x1b[P", "acd ef", "", 0, 1 },
	{ "SCOSC", "ab\x1b[s\x1b[4;4H\x1b[uc", "abc", "", 0, 3 },
	{ "DECIC", "abc\r\ndef\x1b[1;2H\x1b[2'}", "a  bc|d  ef", "", 0, 1 },
	{ "DECDC", "abcd\r\nefgh\x1b[1;2H\x1b[2'~", "ad|eh", "", 0, 1 },
	{ "IRM", "abc\r\x1b[4h你\x1b[4l", "你abc", "", 0, 2 },
	{ "LNM", "ab\x1b[20h\ncd", "ab|cd", "", 1, 2 },
	{ "DECCKM", "\x1b[?1h\x1b[?1$p\x1b[?1l\x1b[?1$p", "", "\x1b[?1;1$y\x1b[?1;2$y", 0, 0 },
	{ "DECSCNM", "\x1b[?5h\x1b[?5$p", "", "\x1b[?5;1$y", 0, 0 },
	{ "DECOM", "\x1b[3;5r\x1b[?6hx\x1b[99;1Hy\x1b[?6lz", "z||x||y", "", 0, 1 },
	{ "DECAWM", "01234567890123456789\x1b[?7hX", "01234567890123456789|X", "", 1, 1 },
	{ "DECAWM", "\x1b[?7l0123456789012345678901234", "01234567890123456784", "", 0, 19 },
	{ "DECAWM", "\x1b[?7l\x1b[1;19Habc你", "                  ac", "", 0, 19 },
	{ "DECAWM", "\x1b[?7l\x1b[1;20H你x", "                   x", "", 0, 19 },
	{ "blink", "\x1b[?12l\x1b[?12$p\x1b[?12h\x1b[?12$p", "", "\x1b[?12;2$y\x1b[?12;1$y", 0,
		0 },
	{ "DECTCEM", "\x1b[?25l\x1b[?25$p", "", "\x1b[?25;2$y", 0, 0 },
	{ "DECLRMM", "abc\r\ndef\x1b[?69hX", "abc|defX", "", 1, 4 },
	{ "DECLRMM", "abc\r\ndef\x1b[?69lX", "abc|defX", "", 1, 4 },
	{ "DECLRMM", "\x1b[?69h\x1b[3;6s\x1b[1;3Habcdefg", "  abcd|  efg", "", 1, 5 },
	{ "DECLRMM", "\x1b[?69h\x1b[3;6s\x1b[1;8Habc\rX", "  X    abc", "", 0, 3 },
	{ "DECLRMM", "\x1b[?69h\x1b[?69$p\x1b[?69l\x1b[?69$p", "", "\x1b[?69;1$y\x1b[?69;2$y",
		0, 0 },
	{ "mouse", "\x1b[?1002h\x1b[?1002$p\x1b[?1000$p", "", "\x1b[?1002;1$y\x1b[?1000;2$y", 0,
		0 },
	{ "focus", "\x1b[?1004h\x1b[?1004$p", "", "\x1b[?1004;1$y", 0, 0 },
	{ "SGR mouse", "\x1b[?1006h\x1b[?1006$p", "", "\x1b[?1006;1$y", 0, 0 },
	{ "alternate scroll", "\x1b[?1007h\x1b[?1007$p", "", "\x1b[?1007;1$y", 0, 0 },
	{ "alternate", "01234567890123456789\x1b[?47h\x1b[?47lX", "01234567890123456789|X", "",
		1, 1 },
	{ "alternate", "01234567890123456789\x1b[?1047h\x1b[?1047lX", "01234567890123456789|X",
		"", 1, 1 },
	{ "alternate", "main\x1b[?1049h\x1b[Halt", "alt", "", 0, 3 },
	{ "alternate", "main\x1b[?1049h\x1b[5;5Halt\x1b[?1049l!", "main!", "", 0, 5 },
	{ "alternate", "ab\x1b[?47hX\x1b[?47lc\x1b[?47h", "  X", "", 0, 4 },
	{ "alternate", "ab\x1b[?1047hX\x1b[?1047lc\x1b[?1047h", "", "", 0, 4 },
	{ "alternate", "\x1b[?1049hA\x1b[?1049l\x1b[?1049h", "", "", 0, 0 },
	{ "1048", "ab\x1b[?1048h\x1b[4;4H\x1b[?1048lc", "abc", "", 0, 3 },
	{ "paste", "\x1b[?2004h\x1b[?2004$p", "", "\x1b[?2004;1$y", 0, 0 },
	{ "sync", "\x1b[?2026h\x1b[?2026$p\x1b[?2026l\x1b[?2026$p", "",
		"\x1b[?2026;1$y\x1b[?2026;2$y", 0, 0 },
	{ "attributes", "\x1b[1;2;3;9;53m\x1bP$qm\x1b\\\x1b[22;23;29;55m\x1bP$qm\x1b\\", "",
		"\x1bP1$r0;1;2;3;9;53m\x1b\\\x1bP1$r0m\x1b\\", 0, 0 },
	{ "underline", "\x1b[4:3m\x1bP$qm\x1b\\\x1b[21m\x1bP$qm\x1b\\\x1b[4:0m\x1bP$qm\x1b\\",
		"", "\x1bP1$r0;4:3m\x1b\\\x1bP1$r0;4:2m\x1b\\\x1bP1$r0m\x1b\\", 0, 0 },
	{ "colour 16", "\x1b[31;102m\x1bP$qm\x1b\\", "", "\x1bP1$r0;31;102m\x1b\\", 0, 0 },
	{ "colour 256", "\x1b[38;5;200;48:5:17m\x1bP$qm\x1b\\", "",
		"\x1bP1$r0;38:5:200;48:5:17m\x1b\\", 0, 0 },
	{ "colour 24 bit", "\x1b[38;2;1;2;3;48:2::4:5:6m\x1bP$qm\x1b\\", "",
		"\x1bP1$r0;38:2::1:2:3;48:2::4:5:6m\x1b\\", 0, 0 },
	{ "title", "\x1b]0;a title\ax\x1b]2;b\x1b\\y\x1b[21t", "xy", "", 0, 2 },
	{ "cwd", "\x1b]7;file://host/tmp\ax", "x", "", 0, 1 },
	{ "hyperlink", "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link", "", 0, 4 },
	{ "clipboard", "\x1b]52;c;aGk=\ax\x1b]52;c;?\a", "x", "", 0, 1 },
	{ "marks", "\x1b]133;A\a$ ", "$", "", 0, 2 },
	{ "DECRQSS", "\x1b[2;4r\x1bP$qr\x1b\\\x1bP$qs\x1b\\\x1bP$q\"q\x1b\\\x1bP$qx\x1b\\", "",
		"\x1bP1$r2;4r\x1b\\\x1bP1$r1;20s\x1b\\\x1bP1$r0\"q\x1b\\\x1bP0$r\x1b\\", 0, 0 },
	{ "other strings",
		"a\x1bPq#0!\x1b\\b\x1b_Gx\x1b\\c\x1b^p\x1b\\d\x1bXs\x1b\\e\x1b]1337;f\af",
		"abcdef", "", 0, 6 },
	{ "other strings", "a\x1b]2;never ends\x1b[1mb", "ab", "", 0, 2 },
	/* refused or unknown, and nothing may show */
	{ "-", "a\x1b[14t\x1b[18t\x1b[19t\x1b[20t\x1b[21t\x1b[x\x1b[1*yb", "ab", "", 0, 2 },
	{ "-", "a\x1b]12;?\a\x1b]4;1;?\a\x1bP+q544e\x1b\\\x1b[>q\x1b[21t\x1b[18t\x1b[20tb",
		"ab", "", 0, 2 },
	{ "colours", "\x1b]11;?\x1b\\", "", "\x1b]11;rgb:1010/2020/3030\x1b\\", 0, 0 },
	{ "colours", "\x1b]10;?\a", "", "\x1b]10;rgb:e0e0/f0f0/ffff\a", 0, 0 },
	{ "colours", "\x1b]10;?;?\a", "",
		"\x1b]10;rgb:e0e0/f0f0/ffff\a\x1b]11;rgb:1010/2020/3030\a", 0, 0 },
	{ "colours", "\x1b]11;#ff0000\a\x1b]10;rgb:1/2/3\a\x1b]11;?;?\a", "",
		"\x1b]11;rgb:1010/2020/3030\a", 0, 0 },
	{ "colours", "\x1b]11;?x\a\x1b]11\a\x1b]10;;\a\x1b]11;?\x18", "", "", 0, 0 },
	{ "XTWINOPS", "\x1b]2;one\a\x1b[22;0t\x1b]2;two\a\x1b[23;0tx", "x", "", 0, 1 },
	{ "-", "a\x1b[?u\x1b[=1u\x1b[>1u\x1b[<ub", "ab", "", 0, 2 },
	{ "-", "a\x1b[1;2;3;4;5Tb\x1b[ @c\x1b[1$}d\x1b%Ge\x1b Gf", "abcdef", "", 0, 6 },
	{ "-", "a\x1b[1?mb\x1b[<1<mc\x1b[1!2md\x1b[\xc3\xa9me", "abcde", "", 0, 5 },
	{ "-", "a\x1b[3\n1mb", "a| b", "", 1, 2 },
	{ "-", "a\x1b\x1b[1;1Hb", "b", "", 0, 1 },
	{ "-", "a\x1b#3b\x1b#4c\x1b#5d\x1b#6e", "abcde", "", 0, 5 },
};

static void expect_case(struct rig *rig, const struct row_case *c)
{
	const char *screen = rig_screen(rig);
	if (strcmp(screen, c->screen) != 0)
		print_error(
			"%s: screen \"%s\" instead of \"%s\"\n", c->name, screen, c->screen);
	assert_string_equal(screen, c->screen);
	if (strcmp(rig->output.p, c->output) != 0)
		print_error("%s: answered \"%s\"\n", c->name, rig->output.p + 1);
	assert_string_equal(rig->output.p, c->output);
	struct term_cursor cursor;
	term_get_cursor(rig->t, &cursor);
	if (cursor.row != c->row || cursor.col != c->col)
		print_error("%s (%s): cursor %d,%d instead of %d,%d\n", c->name, c->screen,
			cursor.row, cursor.col, c->row, c->col);
	assert_int_equal(cursor.row, c->row);
	assert_int_equal(cursor.col, c->col);
}

static void test_each_sequence(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rig rig;
		rig_init(&rig, 20, 6, 1 << 16);
		term_set_colors(rig.t, 0xe0f0ff, 0x102030);
		rig_feed(&rig, cases[i].input);
		expect_case(&rig, &cases[i]);
		rig_deinit(&rig);
	}
}

/* The same with the input cut at every place. */
static void test_each_sequence_in_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rig rig;
		rig_init(&rig, 20, 6, 1 << 16);
		term_set_colors(rig.t, 0xe0f0ff, 0x102030);
		for (const char *p = cases[i].input; *p != '\0'; p++)
			term_feed(rig.t, p, 1);
		expect_case(&rig, &cases[i]);
		rig_deinit(&rig);
	}
}

static bool has_case(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (strlen(cases[i].name) == n && memcmp(cases[i].name, name, n) == 0)
			return true;
	return false;
}

static void test_each_documented_row_has_a_case(void **state)
{
	(void)state;
	FILE *file = fopen("docs/terminal.md", "r");
	assert_non_null(file);
	char line[1024];
	int rows = 0;
	while (fgets(line, sizeof line, file) != NULL &&
		strcmp(line, "## Beside other terminals\n") != 0) {
		if (strncmp(line, "| ", 2) != 0)
			continue;
		const char *end = strstr(line + 2, " |");
		assert_non_null(end);
		size_t n = (size_t)(end - (line + 2));
		if (n == 4 && memcmp(line + 2, "name", 4) == 0)
			continue;
		rows++;
		if (!has_case(line + 2, n))
			print_error("no case for %.*s\n", (int)n, line + 2);
		assert_true(has_case(line + 2, n));
	}
	fclose(file);
	assert_true(rows > 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_sequence),
		cmocka_unit_test(test_each_sequence_in_pieces),
		cmocka_unit_test(test_each_documented_row_has_a_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

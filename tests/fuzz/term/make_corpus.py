#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed inputs of fuzz_term into corpus/ (see term_fuzz.c for the format).

Each known way to kill libvterm's state layer is one of them, resizes among the input included.
"""
import pathlib

OP = b"\xff"
SEEDS = {
    # libvterm: REP after a character without width never returns
    "rep_zero_width": "\u0301\x1b[5b",
    "rep_wide": "x你\x1b[99bz\x1b[3b",
    "rep_huge": "a\x1b[65535b\x1b[m\x1b[65535b",
    # libvterm: C1 as UTF-8 has width -1; then tab stops are written before their memory
    "c1_utf8": "\r\u0080\x1bH\u0085\u0085\x1b[g\u009b5n\u0090x\u009c",
    "c1_raw": b"\x9b5n\x9dfoo\x9c\x90q\x9c\x80\xc2",
    # libvterm: saved cursor and region keep the old bounds
    "saved_cursor_shrink": b"\x1b[40;100H\x1b7" + OP + b"r\x02\x01" + b"\x1b8x\n\x1b[u" + OP + b"r\x00\x00" + b"\x1b8yz\n\n",
    "saved_1049_shrink": b"\x1b[30;90Hab\x1b[?1049h\x1b[20;20Hvim" + OP + b"r\x05\x03" + b"\x1b[?1049l!\n\n" + OP + b"r\x50\x20" + b"x",
    "saved_1048_shrink": b"\x1b[30;90H\x1b[?1048h" + OP + b"r\x05\x03" + b"\x1b[?1048lx\n",
    "region_shrink": b"\x1b[10;40r\x1b[40;1H" + OP + b"r\x14\x08" + b"\n\n\x1b[5S\x1b[5T\x1bM\x1bD\x1b[L\x1b[M" + OP + b"r\x01\x00" + b"\n\x1bM",
    "margins_shrink": b"\x1b[?69h\x1b[30;80s\x1b[10;30r\x1b[?6h\x1b[1;1Hfoo" + OP + b"r\x10\x05" + b"bar\n\x1b[3S\x1b[2@\x1b[2P\x1b[2'}\x1b[2'~\x1b[99;99Hx",
    "decstbm_odd": "\x1b[0;0r\x1b[5;2r\x1b[1;1r\x1b[2;99999r\x1b[99999;99999r\n\n\x1b[r",
    "tabs": "\x1b[3g\x1b[5G\x1bH\x1b[1G\t\t\x1b[9I\x1b[99Z\x1b[g\t",
    "wrap_reflow": b"0123456789" * 30 + b"\r\nabc\r\n" + OP + b"r\x05\x10" + OP + b"x" + OP + b"r\x7f\x20" + OP + b"x" + OP + b"r\x00\x00" + OP + b"x",
    "wide_reflow": ("你好世界" * 20 + "e\u0301e\u0301\r\n").encode() * 3 + OP + b"r\x06\x03" + OP + b"x" + OP + b"r\x00\x05" + OP + b"x" + OP + b"r\x31\x05",
    "wide_edges": "\x1b[1;9H你\x1b[1;10Hx\x1b[1;9H你\x1b[1;9Hy\x1b[1;1H你你你\x1b[1;2H\x1b[P\x1b[1;2H\x1b[@\x1b[1;4H\x1b[K\x1b[2;1H你\x1b[1K",
    "marks": "a" + "\u0301" * 40 + "\u200d\u200b\ufe0f\u202e\u2066b\u1160\u11ff\u302e" + "\u0903" * 40 + "x\u1734",
    "marks_at_edge": "\x1b[1;10He\u0301\r\n" + "x" * 10 + "\u0308y",
    "sgr": "\x1b[1;2;3;4;5;7;8;9;53m\x1b[38;5;300;48;2;1;2m\x1b[38:2::1:2:3m\x1b[4:3;58:5:9mx\x1b[38m\x1b[48;5m\x1b[;;;m\x1b[0;" + ";".join(["1"] * 60) + "my",
    "styles_many": "".join(f"\x1b[38;2;{i % 256};{i // 256};7mx" for i in range(3000)),
    "alt": "main\x1b[?1049halt\x1b[2J\x1b[?1049l\x1b[?47hx\x1b[?47l\x1b[?1047hy\x1b[?1047l\x1b[?1049l",
    "modes": "\x1b[?1;5;6;7;9;12;25;69;1000;1002;1003;1004;1006;1007;2004;2026h\x1b[4;20h\x1b[?2026$p\x1b[?1049$p\x1b[4$p\x1b[?7$p\x1b[?99$p",
    "queries": "\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[14t\x1b[18t\x1b[21t\x1b[x\x05\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q q\x1b\\\x1bP$qz\x1b\\\x1bP+q544e\x1b\\",
    "osc": "\x1b]0;title\x07\x1b]2;bad\x01\u202e\x1b\\\x1b]8;;http://x\x1b\\link\x1b]8;;\x07\x1b]52;c;aGVsbG8=\x07\x1b]52;c;?\x07\x1b]7;file://h/a%20b\x07\x1b]133;A\x07$ \x1b]133;C\x07\x1b]133;D;3\x07\x1b]133;D;99999999999\x07",
    "osc_long": b"\x1b]2;" + b"x" * 5000 + b"\x07\x1b]52;c;" + b"QUFB" * 17000 + b"\x1b\\ok",
    "strings": "\x1bPq\x1b\\\x1b_G\x1b\\\x1b^x\x1b\\\x1bXy\x1b\\\x1b]2;no end\x1b[31mred\x18z\x1bP\x1aok",
    "decaln": "\x1b#8\x1b#3\x1b#6\x1b[2;3r\x1b#8",
    "insert_mode": "abc\x1b[1G\x1b[4hxy你\x1b[4l\x1b[2@\x1b[3P\x1b[4X",
    "origin": "\x1b[3;6r\x1b[?6h\x1b[99;99Ha\x1b[1;1Hb\x1b[6n\x1b[?6l\x1b[1;1H",
    "charsets": "\x1b(0lqqk\x0eab\x0f\x1b(B\x1b)0\x0eqx\x0f\x1bN\x1bOa\x1b*0\x1bNq\x1bnq\x1bo\x0f\x1b(A#",
    "protect": '\x1b[1"qAB\x1b[0"qCD\x1b[?2J\x1b[?K\x1b[1"qx\x1b[?1K',
    "autowrap": "\x1b[?7l" + "x" * 200 + "你\x1b[?7hyz",
    "soft_reset": "\x1b[2;4r\x1b[?6;1000;2004h\x1b[4h\x1b[31m\x1b[!p\x1bcx",
    "utf8_bad": b"\xc0\x80\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xf8\xc3(\xe4\xbd\xf0\x9f\x98",
    "history": b"".join(b"line %d \x1b[3%dmcolour\x1b[m\r\n" % (i, i % 8) for i in range(300)) + OP + b"x" + b"\x1b[3J" + OP + b"x",
    "history_reflow": b"".join(b"%d " % i * 30 + b"\r\n" for i in range(80)) + OP + b"r\x09\x05" + OP + b"x" + OP + b"r\x60\x30" + OP + b"x",
    "one_by_one": OP + b"s" + "é你\u0301\x1b[38;5;9mx\x1b]2;t\x1b\\\x1bP$qm\x1b\\😀".encode(),
    "input": b"\x1b[?1;1003;1006;1004;2004h\x1b=" + OP + b"k\x04\x00" + OP + b"k\x20\x07" + OP + b"k\x30\x05" + OP + b"c\x69\x04" + OP + b"m\x00\x01\x05\x05\x07" + OP + b"m\x02\x01\x06\x05\x00" + OP + b"m\x01\x01\x06\x05\x00" + OP + b"m\x00\x04\x01\x01\x00" + OP + b"f\x01" + OP + b"p\x10a\x1b[201~\x1b[20\x1b[201~1~" + OP + b"k\x2e\x01",
    # what libvterm is told before an operation, and nothing else may have told it
    "told_region": OP + b"s" + b"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[2;4r\x1b[3;1H\x1b[L\x1b[r\x1b[3;2H\x1b[M\x1b[2;5r\x1bM\x1b[5;1H\x1bD\x1bE\x1b[S\x1b[T",
    "told_margins": OP + b"s" + b"0123456789\r\n" * 4 + b"\x1b[?69h\x1b[3;7s\x1b[2;4H\x1b[2'}\x1b['~\x1b[L\x1b[?69l\x1b[M\x1b[S",
    "told_cursor": OP + b"s" + b"0123456789\r\n" * 5 + b"\x1b[2;4H\x1b[K\x1b[3;4H\x1b[1K\x1b[4;2H\x1b[J\x1b[1;3Hxy\x1b[?K\x1b[1;1Hx\tz\r\x1b[I\x1b[Zq",
    "told_tabs": OP + b"s" + b"\x1b[3g\x1b[1;4H\x1bH\x1b[1;7H\x1bH\x1b[1;1H\ta\tb\x1b[1;4H\x1b[g\r\tc",
    "told_keys": b"\x1b[?1h\x1b=" + OP + b"k\x04\x00" + OP + b"k\x10\x00" + b"\x1bc" + OP + b"k\x04\x00" + b"\x1b[?1h" + OP + b"k\x04\x00" + OP + b"r\x20\x10" + b"\x1b[!p" + OP + b"k\x04\x00",
    # found by this target: the two ways of writing did not agree, or rows were counted wrong
    "found_one_column": (b"\x00\x05", b"qm\x03" + "😀".encode()),
    "found_wide_at_edge": (b"\x05\x1b", b"[;9H" + "你".encode() + b"\x1b\xe4K"),
    "found_switch_pending": (b"\x01\x00", b"hl\x1b[?47hl"),
    "found_erase_pending": (b"\x01\x48", "你\x1b[K[".encode()),
    "found_insert_pending": (b"\x01\x00", b"99\x1b[4h\\"),
    "found_mode_pending": (b"\x01\x32", b"6h\x1b[20h\x95"),
    "found_nowrap_wide": (b"\x09\x05", b"\x1b[?7lxxxxx'xx" + "你".encode() + b"\x1byz"),
    "found_nowrap_mark": (b"\x09\x05", b"\x1b[?7lx\xef\t `\xe1\x9c\xb4"),
    "found_row_count": (b"\x00\x00", b"z)[" + OP + b"r\x02\x01" + OP + b"r"),
}


def main():
    folder = pathlib.Path(__file__).resolve().parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, body in SEEDS.items():
        if isinstance(body, str):
            body = body.encode()
        # 10 columns by 6 rows, except where the size is part of the case
        size = b"\x77\x31" if "shrink" in name else b"\x09\x05"
        if isinstance(body, tuple):
            size, body = body
        (folder / name).write_bytes(size + body)


if __name__ == "__main__":
    main()

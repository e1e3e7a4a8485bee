# SPDX-License-Identifier: Apache-2.0
"""libvterm's screen layer by ctypes: bytes in, cells out. Works with 0.1 to 0.3.

The struct layouts are those of vterm.h; the bit of each text attribute differs
between releases and is found once by trying it.
"""
import codecs
import ctypes
import ctypes.util
import re
from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_size_t, c_uint32, c_ubyte, c_void_p
from typing import NamedTuple, Optional, Union


class _Pos(ctypes.Structure):
    _fields_ = [("row", c_int), ("col", c_int)]


class _Rect(ctypes.Structure):
    _fields_ = [("start_row", c_int), ("end_row", c_int), ("start_col", c_int), ("end_col", c_int)]


class _Cell(ctypes.Structure):
    _fields_ = [("chars", c_uint32 * 6), ("width", c_char), ("attrs", c_uint32),
                ("fg", c_ubyte * 4), ("bg", c_ubyte * 4)]


_Damage = ctypes.CFUNCTYPE(c_int, _Rect, c_void_p)
_SetProp = ctypes.CFUNCTYPE(c_int, c_int, POINTER(c_int), c_void_p)
_Bell = ctypes.CFUNCTYPE(c_int, c_void_p)
_Output = ctypes.CFUNCTYPE(None, POINTER(c_char), c_size_t, c_void_p)


class _Callbacks(ctypes.Structure):
    # The last two exist in newer releases only; they stay empty.
    _fields_ = [("damage", c_void_p), ("moverect", c_void_p), ("movecursor", c_void_p), ("settermprop", _SetProp),
                ("bell", _Bell), ("resize", c_void_p), ("sb_pushline", c_void_p), ("sb_popline", c_void_p),
                ("sb_clear", c_void_p), ("sb_pushline4", c_void_p)]


def _load():
    lib = ctypes.CDLL(ctypes.util.find_library("vterm") or "libvterm.so.0")
    vt = c_void_p
    for name, result, args in (
        ("vterm_new", vt, [c_int, c_int]),
        ("vterm_free", None, [vt]),
        ("vterm_set_size", None, [vt, c_int, c_int]),
        ("vterm_set_utf8", None, [vt, c_int]),
        ("vterm_input_write", c_size_t, [vt, c_char_p, c_size_t]),
        ("vterm_output_set_callback", None, [vt, _Output, vt]),
        ("vterm_keyboard_key", None, [vt, c_int, c_int]),
        ("vterm_keyboard_start_paste", None, [vt]),
        ("vterm_keyboard_end_paste", None, [vt]),
        ("vterm_mouse_move", None, [vt, c_int, c_int, c_int]),
        ("vterm_mouse_button", None, [vt, c_int, ctypes.c_bool, c_int]),
        ("vterm_obtain_screen", vt, [vt]),
        ("vterm_obtain_state", vt, [vt]),
        ("vterm_state_get_cursorpos", None, [vt, POINTER(_Pos)]),
        ("vterm_screen_set_callbacks", None, [vt, POINTER(_Callbacks), vt]),
        ("vterm_screen_enable_altscreen", None, [vt, c_int]),
        ("vterm_screen_reset", None, [vt, c_int]),
        ("vterm_screen_get_text", c_size_t, [vt, c_char_p, c_size_t, _Rect]),
        ("vterm_screen_get_cell", c_int, [vt, _Pos, POINTER(_Cell)]),
    ):
        fn = getattr(lib, name)
        fn.restype, fn.argtypes = result, args
    return lib


_lib = None
_bits: dict = {}  # attribute name -> mask in _Cell.attrs

ATTRS = {"bold": b"1", "underline": b"4", "italic": b"3", "blink": b"5", "reverse": b"7", "strike": b"9"}
KEYS = {"Enter": 1, "Tab": 2, "Backspace": 3, "Escape": 4, "Up": 5, "Down": 6, "Left": 7, "Right": 8, "Insert": 9,
        "Delete": 10, "Home": 11, "End": 12, "PageUp": 13, "PageDown": 14, **{f"F{n}": 256 + n for n in range(1, 25)}}
SHIFT, ALT, CTRL = 1, 2, 4

_CURSOR_VISIBLE, _ALTSCREEN, _MOUSE = 1, 3, 8  # VTermProp
_CONT = 0xFFFFFFFF  # chars[0] of the right half of a wide character

_PARTIAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[ -/]+|[\]PX^_][^\x07\x18\x1a\x1b]{0,65536}\x1b?)?\Z")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_REPEAT = re.compile(r"\x1b\[(\d*)b")
_TITLE = re.compile(r"\x1b\][02];([^\x07\x1b]*)(?:\x07|\x1b\\)")

Color = Union[None, int, str]


class Cell(NamedTuple):
    """One cell. A colour is None (default), a palette index, or "#rrggbb"."""
    text: str  # "" where nothing was written, and on the right half of a wide character
    width: int  # 1, or 2 on the left half of a wide character, 0 on its right half
    fg: Color
    bg: Color
    attrs: frozenset  # of the names in ATTRS

    def __getattr__(self, name):
        if name in ATTRS:
            return name in self.attrs
        raise AttributeError(name)


def _color(c) -> Color:
    if c[0] & 6:
        return None
    return c[1] if c[0] & 1 else "#%02x%02x%02x" % (c[1], c[2], c[3])


class VTerm:
    """A terminal without a tty. `output` gets what the terminal itself sends (keys, replies)."""

    def __init__(self, rows: int, cols: int, output=lambda data: None):
        global _lib
        if _lib is None:
            _lib = _load()
            for name, sgr in ATTRS.items():
                probe = VTerm(1, 2)
                probe.feed(b"\x1b[" + sgr + b"mx")
                _bits[name] = probe._raw_cell(0, 0).attrs
                probe.free()
        self.rows, self.cols = rows, cols
        self.cursor_visible, self.altscreen, self.mouse_mode, self.bells, self.title = True, False, 0, 0, ""
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._held, self._last = "", " "
        self._vt = _lib.vterm_new(rows, cols)
        _lib.vterm_set_utf8(self._vt, 1)
        self._output = _Output(lambda p, n, _: output(ctypes.string_at(p, n)))
        _lib.vterm_output_set_callback(self._vt, self._output, None)
        self._screen = _lib.vterm_obtain_screen(self._vt)
        self._callbacks = _Callbacks(settermprop=_SetProp(self._on_prop), bell=_Bell(self._on_bell))
        _lib.vterm_screen_set_callbacks(self._screen, byref(self._callbacks), None)
        _lib.vterm_screen_enable_altscreen(self._screen, 1)
        _lib.vterm_screen_reset(self._screen, 1)

    def free(self):
        if self._vt:
            _lib.vterm_free(self._vt)
            self._vt = None

    def _on_prop(self, prop, value, _):
        if prop == _CURSOR_VISIBLE:
            self.cursor_visible = bool(value[0])
        elif prop == _ALTSCREEN:
            self.altscreen = bool(value[0])
        elif prop == _MOUSE:
            self.mouse_mode = value[0]
        return 1

    def _on_bell(self, _):
        self.bells += 1
        return 1

    def feed(self, data: bytes):
        # libvterm 0.1 corrupts memory on a repeat after a wide character and on
        # C1 controls in UTF-8, so neither reaches it. Sequences are passed whole:
        # resize() may then put its own between two feeds.
        s = self._held + self._decode(data)
        m = _PARTIAL.search(s)
        self._held = s[m.start():] if m else ""
        s = s[:m.start()] if m else s
        s = re.sub("[\x80-\x9f]", "\ufffd", s)
        for m in _TITLE.finditer(s):
            self.title = m[1]
        done = 0
        for m in _REPEAT.finditer(s):
            self._write(s[done:m.start()])
            self._write(self._last * min(int(m[1] or 1) or 1, self.rows * self.cols))
            done = m.end()
        self._write(s[done:])

    def _write(self, s):
        if s:
            plain = _SEQUENCE.sub("", s[-4096:]).rstrip("".join(map(chr, range(32))) + "\x7f")
            self._last = plain[-1:] or self._last
            b = s.encode("utf-8", "surrogateescape")
            _lib.vterm_input_write(self._vt, b, len(b))

    def resize(self, rows: int, cols: int):
        # libvterm 0.1 keeps the old scrolling region and saved cursor, and later
        # writes outside the smaller screen: reset the one, set the other anew.
        row, col = self.cursor
        self._write("\x1b[r")
        _lib.vterm_set_size(self._vt, rows, cols)
        self.rows, self.cols = rows, cols
        self._write("\x1b[%d;%dH\x1b7" % (min(row, rows - 1) + 1, min(col, cols - 1) + 1))

    @property
    def cursor(self):
        pos = _Pos()
        _lib.vterm_state_get_cursorpos(_lib.vterm_obtain_state(self._vt), byref(pos))
        return pos.row, pos.col

    def _raw_cell(self, row, col):
        cell = _Cell()
        _lib.vterm_screen_get_cell(self._screen, _Pos(row, col), byref(cell))
        return cell

    def cell(self, row: int, col: int) -> Cell:
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise IndexError(f"cell {row},{col} is outside {self.rows}x{self.cols}")
        c = self._raw_cell(row, col)
        if c.chars[0] == _CONT:
            text, width = "", 0
        else:
            text, width = "", ord(c.width)
            for ch in c.chars:
                if not ch:
                    break
                text += chr(ch)
        attrs = frozenset(n for n, bit in _bits.items() if c.attrs & bit)
        return Cell(text, width, _color(c.fg), _color(c.bg), attrs)

    def row_cells(self, row: int):
        return [self.cell(row, col) for col in range(self.cols)]

    def lines(self):
        """All rows as text, without the blanks at their ends."""
        return self._text(0, self.rows)

    def row(self, row: int) -> str:
        return self._text(row, row + 1)[0]

    def _text(self, start, end):
        rect = _Rect(start, end, 0, self.cols)
        buf = ctypes.create_string_buffer((end - start) * (self.cols * 24 + 1))
        n = _lib.vterm_screen_get_text(self._screen, buf, len(buf), rect)
        return [line.rstrip(" ") for line in buf.raw[:n].decode("utf-8", "replace").split("\n")]

    def key(self, name: str, mods: int = 0):
        _lib.vterm_keyboard_key(self._vt, KEYS[name], mods)

    def paste(self, text: str):
        _lib.vterm_keyboard_start_paste(self._vt)
        self._output(ctypes.create_string_buffer(text.encode()), len(text.encode()), None)
        _lib.vterm_keyboard_end_paste(self._vt)

    def mouse_move(self, row, col, mods=0):
        _lib.vterm_mouse_move(self._vt, row, col, mods)

    def mouse_button(self, button, pressed, mods=0):
        _lib.vterm_mouse_button(self._vt, button, pressed, mods)


def find_column(cells, text: str) -> Optional[int]:
    """The column where text begins in a row of cells, or None."""
    joined, columns = "", []
    for col, cell in enumerate(cells):
        if cell.width == 0:
            continue
        t = cell.text or " "
        joined += t
        columns += [col] * len(t)
    at = joined.find(text)
    return None if at < 0 else columns[at]

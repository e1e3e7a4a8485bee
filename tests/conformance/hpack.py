# SPDX-License-Identifier: Apache-2.0
"""Header blocks read by libnghttp2's decoder."""
import ctypes

_lib = ctypes.CDLL("libnghttp2.so.14")


class _Field(ctypes.Structure):
    _fields_ = [("name", ctypes.POINTER(ctypes.c_char)), ("value", ctypes.POINTER(ctypes.c_char)),
                ("name_n", ctypes.c_size_t), ("value_n", ctypes.c_size_t), ("flags", ctypes.c_uint8)]


_lib.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
_lib.nghttp2_hd_inflate_hd2.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Field), ctypes.POINTER(ctypes.c_int),
                                        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_lib.nghttp2_hd_inflate_new.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
_lib.nghttp2_hd_inflate_end_headers.argtypes = [ctypes.c_void_p]
_lib.nghttp2_hd_inflate_del.argtypes = [ctypes.c_void_p]
FINAL, EMIT = 1, 2


class Decoder:
    """One direction of one connection."""

    def __init__(self):
        self._inflater = ctypes.c_void_p()
        if _lib.nghttp2_hd_inflate_new(ctypes.byref(self._inflater)) != 0:
            raise MemoryError

    def decode(self, block):
        """[(name, value)]; ValueError for a broken block."""
        fields, field, flags = [], _Field(), ctypes.c_int()
        while True:
            flags.value = 0
            used = _lib.nghttp2_hd_inflate_hd2(self._inflater, ctypes.byref(field), ctypes.byref(flags), block, len(block), 1)
            if used < 0:
                raise ValueError(f"bad header block ({used})")
            block = block[used:]
            if flags.value & EMIT:
                fields.append((field.name[:field.name_n].decode("latin-1"), field.value[:field.value_n].decode("latin-1")))
            if flags.value & FINAL:
                _lib.nghttp2_hd_inflate_end_headers(self._inflater)
                return fields
            if not flags.value and not block:
                return fields

    def __del__(self):
        _lib.nghttp2_hd_inflate_del(self._inflater)

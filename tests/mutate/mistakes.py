# SPDX-License-Identifier: Apache-2.0
"""Small mistakes in C source: where they can be made, and what each makes of the text.

The sources are formatted (a binary operator has a space on both sides, a statement its own line), so the text
is enough: strings, characters and comments are blanked first, at the same offsets. A mistake never changes the
number of lines, so that two compilations of the file differ only by what the code does.
"""
import re
from dataclasses import dataclass

MASK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
STATEMENT = re.compile(r"^[ \t]+(?P<text>(?!(?:if|for|while|else|switch|case|do)\b)[^\s#{}][^;{}]*;)[ \t]*$", re.M)
TARGET = r"\**\(?[a-z_][\w]*\)?(?:(?:->|\.)\w+|\[[^\]=]*\])*"
ASSIGNMENT = re.compile(rf"^{TARGET} (?:[-+|&*/]|<<|>>)?= ")
CALL = re.compile(r"^[a-z_]\w*\(")
# what a call that is taken away would only make quieter, or is no call
QUIET_CALLS = re.compile(r"^(?:log_\w+|assert\w*|return|sizeof|if|while|for|switch|va_end|va_start|static_assert)\b")
LEAVING = r"(?:return\b[^;{}]*|continue|break|goto \w+);"
DROPPED_CHECK = re.compile(rf"^[ \t]+if (?P<open>\()", re.M)
NUMBER = re.compile(r"(?<![\w.])(?P<n>0|[1-9][0-9]*)(?![\w.])")
LISTED_STRING = re.compile(r'(?<=[{,\s])" *", ?')
# One more or less of these is nothing that anybody could notice: pauses, sizes of buffers, large tuning numbers …
TUNED = re.compile(r"_MS\b|_ms\b|_S\b|SECONDS|BYTES|_bytes|SIZE|CHUNK|BUFFER|TIMEOUT|_NS\b|_ns\b|1000|sizeof")
LEAST_TUNED = 256
# … and descriptor 0 is always taken.
DESCRIPTOR = re.compile(r"(?:fd|fds\[\w+\]|parent|null|pid)\w*$")
SWAPS = {
    "limit": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "},
    "equal": {" == ": " != ", " != ": " == "},
    "and_or": {" && ": " || ", " || ": " && ", " &&\n": " ||\n", " ||\n": " &&\n"},
}


@dataclass(frozen=True)
class Mistake:
    kind: str
    start: int
    end: int
    text: str

    def apply(self, source):
        gone = source[self.start : self.end]
        missing = gone.count("\n") - self.text.count("\n")
        return source[: self.start] + self.text + "\n" * missing + source[self.end :]


def masked(source):
    """The source with comments, strings and characters blanked, and the lines of the preprocessor too."""

    def blank(match):
        text = match.group()
        inner = re.sub(r"[^\n]", " ", text)
        return text[0] + inner[1:-1] + text[-1] if text[0] in "\"'" else inner

    text = MASK.sub(blank, source)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)


def closing(text, at):
    """The offset of the parenthesis that closes the one at `at`, or -1."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


def swaps(text):
    for kind, table in SWAPS.items():
        for old, new in table.items():
            for match in re.finditer(re.escape(old), text):
                if kind == "limit" and text.startswith("0", match.end()) and DESCRIPTOR.search(text[: match.start()][-40:]):
                    continue
                yield Mistake(kind, match.start(), match.end(), new)


def conditions(text, source):
    """Conditions turned around, and checks that leave the function or the loop taken away."""
    for match in DROPPED_CHECK.finditer(text):
        start, end = match.start("open") + 1, closing(text, match.start("open"))
        if end < 0:
            continue
        yield Mistake("inverted", start, end, f"!({source[start:end]})")
        leaving = re.compile(rf"\)\s+{LEAVING}").match(text, end)
        is_else = text[: match.start()].rstrip().endswith("else")
        if leaving and not is_else and not re.match(r"\s+else\b", text[leaving.end() :]):
            yield Mistake("dropped_check", match.start("open") - 3, leaving.end(), ";")


def operands(text):
    """`a && b` and `a || b` without b."""
    for match in re.finditer(r" (?:&&|\|\|)[ \n]", text):
        depth = 0
        for i in range(match.end(), len(text)):
            depth += {"(": 1, ")": -1}.get(text[i], 0)
            stop = depth < 0 or (depth == 0 and (text[i] in ";?{}," or text.startswith((" && ", " || ", " &&\n", " ||\n"), i)))
            if stop:
                yield Mistake("dropped_operand", match.start(), i, "")
                break


def statements(text):
    for match in STATEMENT.finditer(text):
        body = match.group("text")
        start, end = match.span("text")
        before = text[:start].rstrip()
        if not before.endswith((";", "{", "}", ")", "else", ":")):
            continue  # the rest of a statement that began above
        if ASSIGNMENT.match(body) and not before.endswith("(") and text.rfind("for (", 0, start) <= before.rfind(";"):
            yield Mistake("dropped_assignment", start, end, ";")
        elif CALL.match(body) and not QUIET_CALLS.match(body):
            yield Mistake("dropped_call", start, end, ";")


def constants(text, source):
    for match in NUMBER.finditer(text):
        n = int(match.group("n"))
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        whole = text[match.start() - len(line) : text.find("\n", match.end())]
        if line.lstrip().startswith("case ") or "[" in line and "=" not in line:
            continue
        if n >= LEAST_TUNED or TUNED.search(whole):
            continue
        yield Mistake("constant", *match.span("n"), str(n + 1))
        if n > 0:
            yield Mistake("constant", *match.span("n"), str(n - 1))
    for match in re.finditer(r"^#define \w+ \(?(?P<n>[0-9]+)\b.*", source, re.M):
        for step in (1, -1):
            if int(match.group("n")) < LEAST_TUNED and not TUNED.search(match.group()):
                yield Mistake("constant", *match.span("n"), str(int(match.group("n")) + step))


def options(text):
    """One string fewer in an array of strings."""
    for array in re.finditer(r"^[^\n;]*\[\w*\] = \{[^;]*?\};", text, re.M):
        for match in LISTED_STRING.finditer(array.group()):
            before = array.group()[: match.start()]
            if before.count("{") - before.count("}") != 1:
                continue  # of a row of an array of structs
            yield Mistake("dropped_option", array.start() + match.start(), array.start() + match.end(), "")


def of(source):
    """All mistakes that can be made in one file, in the order of the text."""
    text = masked(source)
    found = [
        *swaps(text),
        *conditions(text, source),
        *operands(text),
        *statements(text),
        *constants(text, source),
        *options(text),
    ]
    return sorted(set(found), key=lambda m: (m.start, m.end, m.kind, m.text))

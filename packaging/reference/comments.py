#!/usr/bin/env python3
"""Turns the plain comments of a public header into those that Doxygen reads; a filter of Doxygen.

The headers have comments for people who read them with an editor.  Their rules, which this file
knows and the reference relies on:

- The first comment of a file, "model.h - what it is.", is the text of the whole header.
- "/* ---- ranking */" begins a section.
- A comment before a declaration belongs to it and to those that follow without a blank line or
  another comment between, but for those that have a comment behind them.  Of members of structs
  only operations share a comment.
- A comment before a blank line belongs to the section.
- A comment behind a declaration belongs to it.
- Lines that are indented within a comment keep their layout.

usage: comments.py HEADER > text for Doxygen
       comments.py --shared HEADER...    names of the declarations that share a comment
"""

from __future__ import annotations

import pathlib
import re
import sys

SECTION = re.compile(r"---- (.+)")
STATUS = re.compile(r"X\((\w+),\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\)")
STATUS_LIST = re.compile(r"/\* name, text \*/\n#define OLTR_STATUS_LIST.*?\n\n", re.S)
STATUS_ENUM = re.compile(r"#define OLTR_STATUS_ENUM.*?#undef OLTR_STATUS_ENUM\n\s*", re.S)
FUNCTION = re.compile(r"\b(oltr_\w+)\(")
RESERVED = re.compile(r"\breserved(?:32)?(?:\[\w+\])?(?:\)\(void\))?;")
OPERATION = re.compile(r"^    \w[\w \*]*\(\*(\w+)\)\(", re.M)  # in a struct
MEMBERS = re.compile(r"^(    (?:const )?\w+ )(\*?\w+(?:,\s+\*?\w+)+)(;)(\s*/\*.*?\*/)?", re.M | re.S)
DECLARES = re.compile(r"^(OLTR_API|static inline)\b", re.M)


def escape(text: str) -> str:
    """Words as they are, `code` as code; nothing in them is a command of Doxygen."""
    text = re.sub(r"([\\@&<>#%])", r"\\\1", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"--", r"\\--", text)


def lines_of(comment: str) -> list[str]:
    """The lines between /* and */ without the stars."""
    lines = comment[2:-2].split("\n")
    return [lines[0].strip()] + [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines[1:]]


def described(lines: list[str]) -> str:
    """Paragraphs; lines that begin with two blanks keep their layout."""
    out: list[str] = []
    inside = False
    for line in lines:
        layout = line.startswith("  ")
        if layout and not inside:
            out.append("@verbatim")
        elif inside and not layout:
            out.append("@endverbatim")
        inside = layout
        out.append(line[2:] if layout else escape(line))
    if inside:
        out.append("@endverbatim")
    return "\n".join(out).strip("\n")


def words_of(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower()).strip("_")


def split(text: str) -> list[tuple[str, str]]:
    """The text as pieces: ("comment", ...) and ("code", ...)."""
    pieces, at = [], 0
    for match in re.finditer(r"/\*.*?\*/", text, re.S):
        pieces += [("code", text[at:match.start()]), ("comment", match.group(0))]
        at = match.end()
    return [piece for piece in pieces + [("code", text[at:])] if piece[1]]


class Reference:
    """Writes one header for Doxygen; `shared` collects who shares whose comment."""

    def __init__(self, path: pathlib.Path):
        self.name = path.name
        self.group = words_of(path.name)
        self.out: list[str] = []
        self.in_section = False
        self.opened = 0  # where in `out` the section is opened, and its text belongs
        self.last = ""  # the comment that the next declarations share
        self.attached = False  # it belongs to the declaration that follows
        self.shared: list[tuple[str, str]] = []

    def head(self, comment: str) -> None:
        lines = lines_of(comment)
        lines[0] = re.sub(r"^\S+\.h - ", "", lines[0])
        lines[0] = lines[0][0].upper() + lines[0][1:]
        sentence = re.split(r"(?<=[.:])\s", " ".join(lines), maxsplit=1)[0].rstrip(".:")
        title = f"oltr/{self.name}"
        self.out.append(f"/** @defgroup {self.group} {title}\n{described(lines)}\n*/\n"
                        f"/** @file {self.name}\n{escape(sentence)}. The text is in @ref "
                        f"{self.group}.\n*/\n/** @addtogroup {self.group}\n@{{ */\n")

    def section(self, title: str) -> None:
        if self.in_section:
            self.out.append("/** @} */\n")
        self.in_section = True
        self.opened = len(self.out)
        self.out.append(f"/** @defgroup {self.group}_{words_of(title)} "
                        f"{title[0].upper()}{title[1:]} */\n/** @{{ */\n")

    def close(self) -> str:
        return "/** @} */\n" * (2 if self.in_section else 1)

    def comment(self, comment: str, before: str, after: str) -> None:
        section = SECTION.fullmatch(comment[2:-2].strip())
        text = described(lines_of(comment))
        self.attached = False
        if section:
            self.last = ""
            self.section(section.group(1))
        elif behind_code(before):
            self.out.append(f"/**< {text} */")
        elif after.startswith("\n\n"):
            self.last = ""
            self.out[self.opened] = self.out[self.opened].replace("*/", f"\n{text}\n*/", 1)
        else:
            self.last, self.attached = text, True
            self.out.append(f"/** {text} */")

    def code(self, code: str, has_own: bool) -> None:
        """Repeats the last comment before every further function of its paragraph.  has_own: the
        last declaration has a comment behind it."""
        parts = re.split(r"(?<=;)(?=\n)|(?<=\n)(?=\n)", code)
        for i, part in enumerate(parts):
            if RESERVED.search(part) and not (has_own and i == len(parts) - 1):
                part = RESERVED.sub(r"\g<0> /**< room for later versions: 0 */", part)
            declared = DECLARES.search(part) or OPERATION.search(part)
            if self.last and not self.attached and (not part.strip() or "\n\n" in part):
                self.last = ""
            own = has_own and not "".join(parts[i + 1:]).strip()
            if declared and self.last and not self.attached and not own:
                name = FUNCTION.search(part) or OPERATION.search(part)
                self.shared.append((name.group(1) if name else part, self.last))
                part = part[:declared.start()] + f"/** {self.last} */\n" + part[declared.start():]
            self.attached = self.attached and not part.strip()
            self.out.append(part)


def behind_code(before: str) -> bool:
    """Does a comment after this text stand behind code, on the same line?"""
    return bool(before.rsplit("\n", 1)[-1].strip())


def status_values(text: str) -> str:
    """The enumerators of oltr_status with their texts, in place of the macro that lists them."""
    found = STATUS_LIST.search(text)
    if not found:
        return text
    values = []
    for name, strings in STATUS.findall(found.group(0).replace("\\\n", " ")):
        words = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", strings))
        values.append(f"    OLTR_{name}, /* {words} */\n")
    text = STATUS_LIST.sub("/* What a call returns; oltr_strerror() has the texts. */\n", text)
    return STATUS_ENUM.sub(lambda _: "".join(values).lstrip(), text)


def one_by_one(text: str) -> str:
    """`double mean, sd;` as two members, each with the comment behind them."""
    def each(match: re.Match[str]) -> str:
        names = re.split(r",\s+", match.group(2))
        return "\n".join(f"{match.group(1)}{name};{match.group(4) or ''}" for name in names)
    return MEMBERS.sub(each, text)


def reference(path: pathlib.Path) -> Reference:
    text = one_by_one(status_values(path.read_text(encoding="utf-8")))
    # Nothing of the guard and of C++ concerns a reader.
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#if defined\(__GNUC__\)\n.*?#endif\n", "", text, flags=re.S)
    out = Reference(path)
    pieces = split(text) + [("code", "")]
    for i, (kind, piece) in enumerate(pieces[:-1]):
        before, after = pieces[i - 1][1] if i > 0 else "", pieces[i + 1][1]
        if i == 0:
            out.head(piece)
        elif kind == "comment":
            out.comment(piece, before if pieces[i - 1][0] == "code" else "", after)
        else:
            out.code(piece, pieces[i + 1][0] == "comment" and behind_code(piece))
    end = out.out.pop()
    out.out += [end[:end.rindex("#endif")], out.close(), "#endif\n"]
    return out


def main() -> int:
    if sys.argv[1] == "--shared":
        for name in sys.argv[2:]:
            for function, text in reference(pathlib.Path(name)).shared:
                print(f"{function}: {text[:100]!r}")
    else:
        sys.stdout.write("".join(reference(pathlib.Path(sys.argv[1])).out))
    return 0


if __name__ == "__main__":
    sys.exit(main())

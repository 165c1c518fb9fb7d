"""Lengths of files and lines, white space, markers of unfinished work.

Paths come on the standard input, one a line. Formatters do not see all of this: clang-format leaves
a long string or URL alone, and no tool formats CMake files and shell scripts.
"""

import pathlib
import re
import sys

MAX_LINES = 600
LINE_LENGTH = {".cpp": 100, ".h": 100, ".in": 100, ".py": 120, ".cmake": 120, ".txt": 120, "": 120}
TABULAR = {".json", ".md", ".svg", ".mlir", ".html"}
"""Lines as long as their content needs."""
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
"""C++'s; a text in another language has that language's lines."""
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def problems(path: pathlib.Path, text: str) -> list[str]:
    if path.suffix in {".cpp", ".h"}:
        text = RAW_STRING.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)
    lines = text.split("\n")
    found = []
    if path.suffix not in TABULAR:
        if len(lines) > MAX_LINES + 1:
            found.append(f"{path}: {len(lines) - 1} lines, at most {MAX_LINES}: split it")
        limit = LINE_LENGTH.get(path.suffix, 120)
        found += [
            f"{path}:{number}: {len(line)} characters, at most {limit}"
            for number, line in enumerate(lines, 1)
            if len(line) > limit
        ]
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            found.append(f"{path}:{number}: white space at the end")
        if "\t" in line:
            found.append(f"{path}:{number}: a tab")
        if UNFINISHED.search(line):
            found.append(f"{path}:{number}: a marker of unfinished work; finish it or file an issue")
    if text and not text.endswith("\n"):
        found.append(f"{path}: no newline at the end")
    return found


def main() -> int:
    found = []
    for name in sys.stdin.read().splitlines():
        path = pathlib.Path(name)
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # not text
        if path.name != "LICENSE":
            found += problems(path, text)
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

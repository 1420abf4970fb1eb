#!/usr/bin/env python3
"""Checks the text of the tree for what must not be in it: paths of one machine, hosts of package registries, and notes
about work to be done, which belong in the issue tracker. A line that must hold one says `check_text: allow`. And for
loops over what is gone before the first round (CONTRIBUTING.md, "Rules")."""

import argparse
import re
import sys
from pathlib import Path

from tracked_files import ROOT, tracked_files

# In parts, so that this file passes its own check.
FORBIDDEN = {
    "machine path": r"(?<![\w.}])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "ho" + "me")) + r")/",
    "registry host": "|".join(
        (
            r"\bpypi" + r"\.(?:org|python)",
            r"\bfiles\.python" + r"hosted",
            r"\bregistry" + r"\.(?:npmjs|hub)",
            r"\bproxy\.go" + r"lang",
            r"\bcrates" + r"\.io",
            r"\bdeb" + r"\.debian\.org",
            r"\brepo1?\.maven",
            r"https?://[^\s/]*(?:arti" + r"factory|nex" + r"us)",
        )
    ),
    "note of work to do": r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b",
}
LOOP = re.compile(r"\bfor \([^;{}]*?[\w\]] :\s+([*(]*)DELENDA_TRY\(")
ALLOW = "check_text: allow"
# Data written by other engines, and the licence, are what they are.
EXCLUDED = ("tests/fixtures/", "fuzz/corpus/", "fuzz/crashes/", "LICENSE")


def loops_over_temporaries(text: str) -> list[int]:
    """Line numbers of loops over a part of a value that nothing holds: `for (x : DELENDA_TRY(f())->rows())`."""
    lines = []
    for loop in LOOP.finditer(text):
        depth, end = 1, loop.end()
        while depth > 0 and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if loop[1] or re.match(r"\s*(\.|->|\[)", text[end:]):
            lines.append(text.count("\n", 0, loop.start()) + 1)
    return lines


def check(root: Path) -> list[str]:
    rules = {name: re.compile(pattern) for name, pattern in FORBIDDEN.items()}
    breaches = []
    for path in tracked_files(root):
        relative = path.relative_to(root).as_posix()
        if relative.startswith(EXCLUDED):
            continue
        content = path.read_bytes()
        if b"\0" in content:
            continue
        text = content.decode("utf-8", errors="replace")
        if path.suffix in (".cc", ".h"):
            breaches += [f"{relative}:{number}: a loop over a temporary" for number in loops_over_temporaries(text)]
        for number, line in enumerate(text.splitlines(), start=1):
            for name, rule in rules.items():
                if (match := rule.search(line)) and ALLOW not in line:
                    breaches.append(f"{relative}:{number}: {match[0]!r} [{name}]")
    return breaches


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    breaches = check(parser.parse_args().root)
    for line in breaches:
        print(line)
    print(f"text: {len(breaches)} breaches", file=sys.stderr)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())

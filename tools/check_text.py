#!/usr/bin/env python3
"""Checks the text of the tree for what must not be in it: paths of one machine, hosts of package registries, and notes
about work to be done, which belong in the issue tracker. A line that must hold one says `check_text: allow`."""

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
ALLOW = "check_text: allow"
# Data written by other engines, and the licence, are what they are.
EXCLUDED = ("tests/fixtures/", "fuzz/corpus/", "fuzz/crashes/", "LICENSE")


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
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), start=1):
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

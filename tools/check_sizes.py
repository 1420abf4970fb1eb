#!/usr/bin/env python3
"""Checks that no file grew too long to be about one subject: over 600 lines warns, over 900 fails (tests: 1,200)."""

import argparse
import sys
from pathlib import Path

from tracked_files import ROOT, tracked_files

WARN_LINES = 600
MAX_LINES = 900
MAX_TEST_LINES = 1200
SUFFIXES = {".cc", ".h", ".py"}


def check(root: Path) -> tuple[list[str], list[str]]:
    """The warnings and the failures, one line each."""
    warnings, failures = [], []
    for path in tracked_files(root):
        relative = path.relative_to(root)
        if path.suffix not in SUFFIXES or relative.parts[:2] == ("tests", "fixtures"):
            continue
        lines = path.read_bytes().count(b"\n")
        is_test = relative.parts[0] == "tests"
        limit = MAX_TEST_LINES if is_test else MAX_LINES
        if lines > limit:
            failures.append(f"{relative}:1: {lines} lines, {limit} allowed [size]")
        elif lines > (MAX_LINES if is_test else WARN_LINES):
            warnings.append(f"{relative}:1: {lines} lines: split it by subject soon [size]")
    return warnings, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    warnings, failures = check(parser.parse_args().root)
    for line in warnings:
        print(f"warning: {line}")
    for line in failures:
        print(line)
    print(f"sizes: {len(failures)} breaches, {len(warnings)} warnings", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

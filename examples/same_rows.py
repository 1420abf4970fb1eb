#!/usr/bin/env python3
"""Compares two files of JSON lines as bags of rows: the order of rows and of keys does not matter, everything else does."""

import json
import sys
from collections import Counter


def rows(path: str) -> Counter:
    with open(path, encoding="utf-8") as file:
        return Counter(json.dumps(json.loads(line), sort_keys=True) for line in file if line.strip())


def main() -> int:
    left, right = rows(sys.argv[1]), rows(sys.argv[2])
    for name, extra in ((sys.argv[1], left - right), (sys.argv[2], right - left)):
        for row in list(extra)[:3]:
            print(f"only in {name}: {row}")
    return 0 if left == right else 1


if __name__ == "__main__":
    sys.exit(main())

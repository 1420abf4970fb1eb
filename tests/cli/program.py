"""Starts the program under test and reads the expected rows of the fixtures."""

import collections
import fcntl
import json
import math
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

CLI = os.environ["DELENDA_CLI"]
ICEBERG = Path(os.environ["DELENDA_FIXTURES"]) / "iceberg"
MAP = ["--map-location", f"/warehouse={ICEBERG}"]

# A column of a type that cannot be read.
VARIANT = {"v3_variant"}


def readable_tables() -> list[Path]:
    """The tables that the program must read, each with its folder of expectations beside it."""
    tables = []
    for expected in sorted(ICEBERG.glob("*.expected")):
        table = expected.with_suffix("")
        name = table.name
        if not table.is_dir() or name.startswith(("invalid_", "unsupported_")) or name in VARIANT:
            continue
        tables.append(table)
    return tables


def expected(table: Path) -> Path:
    return table.with_name(table.name + ".expected")


def run(*arguments, timeout=300, **options) -> subprocess.CompletedProcess:
    """One run; arguments are texts or paths. Nothing is interpreted by a shell."""
    command = [CLI, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=timeout, **{"text": True, **options})


def terminal(columns: int) -> tuple[int, int]:
    """A pseudo-terminal of 24 lines: our end, and the program's."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, theirs


def read_terminal(ours: int) -> str:
    """All that comes out until the other end is closed, which is the program's alone by then."""
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    return text.decode()


def scan(table, *arguments) -> list[dict]:
    done = run("scan", table, *MAP, "--format", "jsonl", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"scan {table} {arguments}: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def select(names) -> list[str]:
    """The --select option for any column names."""
    return ["--select", ",".join('"' + name.replace('"', '""') + '"' for name in names)]


def value(item):
    """Numbers compare by value, and -0.0 differs from 0.0; the order of an object's members means nothing."""
    if isinstance(item, bool) or item is None or isinstance(item, str):
        return item
    if isinstance(item, (int, float)):
        return ("-0.0",) if item == 0 and math.copysign(1, item) < 0 else item
    if isinstance(item, list):
        return ("list", *map(value, item))
    return ("object", *sorted((key, value(member)) for key, member in item.items()))


def bag(rows) -> collections.Counter:
    return collections.Counter(value(row) for row in rows)

"""Rows as each engine reads them, in the form in which `delenda scan` prints them (tests/fixtures/README.md)."""

import datetime
import decimal
import json
import math
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

DUCKDB_READER = Path(__file__).with_name("duckdb_reader.py")


def plain(value, kind=None):
    """A Python value of any engine as JSON has it. `kind`: its Arrow type, which tells maps from lists."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        zone = value.tzinfo is not None
        if zone:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return value.isoformat(timespec="microseconds") + ("Z" if zone else "")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return {name: plain(value[name], kind and kind.field(name).type) for name in value}
    if kind is not None and str(kind).startswith("map<"):
        pairs = [[plain(key, kind.key_type), plain(item, kind.item_type)] for key, item in value]
        return sorted(pairs, key=lambda pair: json.dumps(pair[0]))
    return [plain(item, kind and kind.value_type) for item in value]


def of_arrow(table) -> list[dict]:
    kinds = {field.name: field.type for field in table.schema}
    return [{name: plain(value, kinds[name]) for name, value in row.items()} for row in table.to_pylist()]


def of_pyiceberg(metadata_file: str, columns: list[str] | None = None) -> list[dict]:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(metadata_file)
    return of_arrow(table.scan(selected_fields=tuple(columns or ["*"])).to_arrow())


class Refused(Exception):
    """An engine gave no rows: what it said, or how it ended."""


class DuckDb:
    """DuckDB in a process of its own, which some tables end: then the next one starts anew."""

    def __init__(self):
        self._process = None
        self._said = tempfile.TemporaryFile("w+")

    def rows(self, metadata_file: str) -> list[dict]:
        if self._process is None:
            command = [sys.executable, "-B", str(DUCKDB_READER)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._said}
            self._process = subprocess.Popen(command, text=True, **pipes)
        self._process.stdin.write(json.dumps(metadata_file) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line:
            answer = json.loads(line)
            if "error" in answer:
                raise Refused(answer["error"][:1000])
            return answer["rows"]
        code, self._process = self._process.wait(), None
        self._said.seek(0)
        said = self._said.read()
        self._said.truncate(0)
        raise Refused(f"the process ended by signal {-code}: {said[:1000]}")

    def stop(self) -> None:
        if self._process:
            self._process.stdin.close()
            self._process.wait()

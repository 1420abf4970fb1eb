"""Copies of fixture tables that tests may change."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from program import ICEBERG, MAP, expected, read_lines, run


class Table:
    """A copy of a fixture that may be changed."""

    def __init__(self, folder: str, name: str):
        self.path = Path(folder) / name
        shutil.copytree(ICEBERG / name, self.path)
        self.map = ["--map-location", f"/warehouse/{name}={self.path}"]
        self.rows = read_lines(expected(ICEBERG / name) / "current.jsonl")

    def run(self, command, *arguments, **options):
        return run(command, self.path, *self.map, *arguments, **options)

    def change(self, command, *arguments, **options) -> dict:
        """The report of one change."""
        done = self.run(command, *arguments, "--json", **options)
        if done.returncode != 0:
            raise AssertionError(f"{command} {arguments}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)

    def scan(self, *arguments) -> list[dict]:
        done = self.run("scan", "--format", "jsonl", *arguments)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def files(self) -> set[str]:
        return {str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file()}


class ChangedTables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def table(self, name: str) -> Table:
        return Table(self.folder.name, name)

    def put(self, name: str, text: str) -> Path:
        path = Path(self.folder.name) / name
        path.write_text(text)
        return path

    def verify(self, table: Table, *also: str):
        """Nothing is wrong that was not wrong before."""
        before = run("verify", ICEBERG / table.path.name, *MAP, "--deep", "--errors-only", *also)
        after = table.run("verify", "--deep", "--errors-only", *also)
        wrong = [{json.loads(line)["check"] for line in done.stdout.splitlines()} for done in (before, after)]
        self.assertLessEqual(wrong[1], wrong[0], after.stdout + after.stderr)

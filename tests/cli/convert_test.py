"""delenda convert: equality deletes of tables that Spark wrote become deletion vectors, and no row changes."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from program import ICEBERG, bag, expected, read_lines, run

V3 = ("eq_v3", "eq_v3_global", "upsert_v3")
V2 = ("eq_int", "eq_types", "eq_partitioned_global", "eq_dropped_key", "eq_renamed", "eq_composite_null")


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def table(self, name: str):
        path = Path(self.folder.name) / name
        shutil.copytree(ICEBERG / name, path)

        def delenda(command, *arguments):
            return run(command, path, "--map-location", f"/warehouse/{name}={path}", *arguments)

        return delenda

    def lines(self, done) -> list[dict]:
        self.assertEqual(0, done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def report(self, done) -> dict:
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def equality_deletes(self, delenda) -> list[dict]:
        deletes = self.lines(delenda("inspect", "deletes", "--format", "jsonl"))
        return [delete for delete in deletes if "equality" in json.dumps(delete)]

    def test_rows_stay_and_no_equality_delete(self):
        for name in V3 + V2:
            with self.subTest(name):
                delenda = self.table(name)
                if name in V2:
                    refused = delenda("convert")
                    self.assertEqual(5, refused.returncode, refused.stderr)
                    self.assertIn("delenda upgrade", refused.stderr)
                    self.assertEqual(0, delenda("upgrade", "--to", "3").returncode)
                pending = len(self.equality_deletes(delenda))
                self.assertGreater(pending, 0)
                planned = self.report(delenda("convert", "--dry-run", "--json"))
                self.assertEqual(pending, len(self.equality_deletes(delenda)), "a dry run changes nothing")
                report = self.report(delenda("convert", "--json"))
                self.assertEqual(pending, report["delete-files-converted"])
                for key in ("rows-converted", "delete-files-converted", "deletion-vectors", "files-dropped"):
                    self.assertEqual(planned[key], report[key], key)
                self.assertEqual((0, 0, 0), (report["rows-added"], report["rows-deleted"], report["rows-updated"]))
                self.assertEqual([], self.equality_deletes(delenda))
                rows = self.lines(delenda("scan", "--format", "jsonl"))
                self.assertEqual(bag(read_lines(expected(ICEBERG / name) / "current.jsonl")), bag(rows))
                verified = delenda("verify", "--deep", "--errors-only")
                self.assertEqual(0, verified.returncode, verified.stdout + verified.stderr)
                changes = self.lines(delenda("changes", "--from", "main", "--from-inclusive", "--format", "jsonl"))
                self.assertEqual([], changes, "nothing has changed")
                again = delenda("convert")
                self.assertEqual("turned 0 delete files into deletion vectors: 0 rows; no snapshot was made\n", again.stdout)

    def test_says_what_it_did_in_one_line(self):
        delenda = self.table("eq_v3")
        done = delenda("convert")
        self.assertRegex(done.stdout, r"^turned 3 delete files into deletion vectors: \d+ rows in \d+ files \(\d+ new deletion vectors\); snapshot \d+\n$")  # fmt: skip


if __name__ == "__main__":
    unittest.main()

"""The rows of real tables, as the engine that wrote them reads them: current ones, and those of older snapshots, branches
and tags; counts; the positions that are missing."""

import collections
import json
import unittest

from program import MAP, bag, expected, read_lines, readable_tables, run, scan, select


class Rows(unittest.TestCase):
    def assert_rows(self, table, file, *arguments):
        wanted = read_lines(file)
        columns = select(wanted[0]) if wanted else []
        found = scan(table, *arguments, *columns)
        missing, extra = bag(wanted) - bag(found), bag(found) - bag(wanted)
        self.assertEqual(([], []), (list(missing)[:3], list(extra)[:3]), f"{table.name} {file.name}")

    def test_current_rows_equal_the_peers(self):
        tables = readable_tables()
        self.assertGreaterEqual(len(tables), 30)
        for table in tables:
            with self.subTest(table.name):
                self.assert_rows(table, expected(table) / "current.jsonl")

    def test_rows_of_older_snapshots_equal_the_peers(self):
        seen = 0
        for table in readable_tables():
            for file in sorted(expected(table).glob("snapshot-*.jsonl")):
                with self.subTest(table.name, snapshot=file.stem):
                    self.assert_rows(table, file, "--snapshot", file.stem.removeprefix("snapshot-"))
                    seen += 1
        self.assertGreaterEqual(seen, 100)

    def test_rows_of_branches_and_tags_equal_the_peers(self):
        seen = 0
        for table in readable_tables():
            for file in sorted(expected(table).glob("ref-*.jsonl")):
                with self.subTest(table.name, ref=file.stem):
                    self.assert_rows(table, file, "--ref", file.stem.removeprefix("ref-"))
                    seen += 1
        self.assertGreaterEqual(seen, 3)

    def test_a_point_in_time_gives_the_snapshot_that_was_current_then(self):
        table = next(t for t in readable_tables() if t.name == "mor_dv")
        snapshots = json.loads(run("inspect", table, "--json").stdout)["snapshots"]
        older = snapshots[6]
        for time in (older["committed-at"], older["committed-at"].replace("Z", "+00:00")):
            file = expected(table) / f"snapshot-{older['snapshot-id']}.jsonl"
            self.assert_rows(table, file, "--as-of", time)
        done = run("scan", table, *MAP, "--as-of", "1999-12-31")
        self.assertEqual((2, ""), (done.returncode, done.stdout))

    def test_counts_equal_the_number_of_rows(self):
        for table in readable_tables():
            with self.subTest(table.name):
                rows = len(read_lines(expected(table) / "current.jsonl"))
                done = run("count", table, *MAP)
                self.assertEqual((0, f"{rows}\n"), (done.returncode, done.stdout), done.stderr)

    def test_one_thread_gives_the_rows_of_many_in_the_order_of_ordered(self):
        table = next(t for t in readable_tables() if t.name == "mor_dv")
        one = scan(table, "--threads", "1", "--with-metadata")
        self.assertEqual(one, scan(table, "--threads", "4", "--ordered", "--with-metadata"))
        self.assertEqual(bag(one), bag(scan(table, "--threads", "4", "--split-size", "4000", "--with-metadata")))


class Positions(unittest.TestCase):
    def test_missing_positions_equal_the_peers(self):
        seen = 0
        for table in readable_tables():
            file = expected(table) / "deleted-positions.jsonl"
            if not file.exists():
                continue
            with self.subTest(table.name):
                live = collections.defaultdict(set)
                for row in scan(table, "--select", "_file,_pos"):
                    self.assertNotIn(row["_pos"], live[row["_file"]], "a row came twice")
                    live[row["_file"]].add(row["_pos"])
                for wanted in read_lines(file):
                    deleted = sorted(set(range(wanted["records"])) - live.pop(wanted["path"], set()))
                    self.assertEqual(wanted["deleted"], deleted, wanted["path"])
                    seen += len(deleted)
                self.assertEqual({}, dict(live), "rows of files that the peer does not read")
        self.assertGreater(seen, 1000)


if __name__ == "__main__":
    unittest.main()

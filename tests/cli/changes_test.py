"""What snapshots inserted, deleted and updated: against Spark's reads, in every dialect and form."""

import csv
import io
import json
import re
import tempfile
import unittest
from pathlib import Path

import pyarrow.parquet

from program import ICEBERG, MAP, bag, expected, read_lines, run

CHANGE_COLUMNS = ["_change_type", "_change_ordinal", "_commit_snapshot_id", "_commit_timestamp"]
REFUSED = json.loads((ICEBERG / "changes-refused.json").read_text())


def changes(table, *arguments) -> list[dict]:
    done = run("changes", table, *MAP, "--format", "jsonl", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"changes {table} {arguments}: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def fixtures(pattern):
    """(table, from, to, file) of the expectations whose name is `pattern` with both snapshots."""
    for file in sorted(ICEBERG.glob("*.expected/*.jsonl")):
        match = re.fullmatch(pattern + r"-(start|\d+)-(\d+)\.jsonl", file.name)
        if match:
            yield file.parent.with_suffix(""), match[1], match[2], file


def range_of(start, end) -> list[str]:
    return ["--to", end, *([] if start == "start" else ["--from", start])]


def is_refused(table, start, end) -> bool:
    return [start, end] in REFUSED.get(table.name, [])


class Fixtures(unittest.TestCase):
    def compare(self, table, wanted, found):
        keys = set(wanted[0]) if wanted else set()
        found = [{key: row[key] for key in row if key in keys} for row in found] if wanted else found
        missing, extra = bag(wanted) - bag(found), bag(found) - bag(wanted)
        self.assertEqual(([], []), (list(missing)[:3], list(extra)[:3]), table)

    def test_raw_changes_are_the_differences_of_the_peers_states(self):
        seen = 0
        for table, start, end, file in fixtures("changes"):
            with self.subTest(f"{table.name} {file.name}"):
                resolve = ["--resolve-deletes"] if is_refused(table, start, end) else []
                found = changes(table, *range_of(start, end), "--raw", "--updates", "none", "--with-metadata", *resolve)
                self.compare(table, read_lines(file), found)
                seen += 1
        self.assertGreater(seen, 40)

    def test_changes_without_carried_over_rows(self):
        seen = 0
        for table, start, end, file in fixtures("changes-net"):
            with self.subTest(f"{table.name} {file.name}"):
                resolve = ["--resolve-deletes"] if is_refused(table, start, end) else []
                found = changes(table, *range_of(start, end), "--updates", "none", "--with-metadata", *resolve)
                self.compare(table, read_lines(file), found)
                seen += 1
        self.assertGreater(seen, 40)

    def test_the_peers_own_changelog_of_a_table_without_deletes(self):
        for pattern, how in (("peer-changes", ["--raw"]), ("peer-changelog-view", [])):
            for table, start, end, file in fixtures(pattern):
                with self.subTest(file.name):
                    found = changes(table, *range_of(start, end), "--updates", "none", *how)
                    self.compare(table, read_lines(file), found)

    def test_ranges_with_other_deletes_than_vectors_are_refused(self):
        for name, ranges in REFUSED.items():
            for start, end in ranges:
                with self.subTest(f"{name} {start} {end}"):
                    done = run("changes", ICEBERG / name, *MAP, *range_of(start, end))
                    self.assertEqual((5, ""), (done.returncode, done.stdout))
                    if name == "cl_v2_range":
                        wanted = "Delete files are only supported in changelog scans of format version 3 tables"
                    else:
                        wanted = "deletion vectors"
                    self.assertIn(wanted, done.stderr)

    def test_filtered_changes(self):
        folder = expected(ICEBERG / "cl_partitioned")
        filters = {"p9": "p = 'p9'", "p_eq_p1": "p = 'p1'", "id_lt_20": "id < 20"}
        for name, text in filters.items():
            with self.subTest(name):
                (file,) = folder.glob(f"changes-*.where-{name}.jsonl")
                start, end = re.match(r"changes-(\d+)-(\d+)\.", file.name).groups()
                found = changes(ICEBERG / "cl_partitioned", *range_of(start, end), "--raw", "--updates", "none",
                                "--with-metadata", "--where", text)
                self.compare(file, read_lines(file), found)

    def test_rows_come_by_snapshot_and_deletes_before_inserts(self):
        for table, start, end, _ in fixtures("changes"):
            with self.subTest(f"{table.name} {start} {end}"):
                rows = changes(table, *range_of(start, end), "--resolve-deletes")
                side = {"DELETE": 0, "UPDATE_BEFORE": 1, "UPDATE_AFTER": 1, "INSERT": 2}
                order = [(row["_change_ordinal"], side[row["_change_type"]]) for row in rows]
                self.assertEqual(sorted(order), order)
                for before, after in zip(rows, rows[1:] + [{"_change_type": None}]):
                    self.assertEqual(before["_change_type"] == "UPDATE_BEFORE", after["_change_type"] == "UPDATE_AFTER")

    def test_applied_to_the_first_state_they_give_the_last(self):
        for table, start, end, file in fixtures("changes"):
            if start != "start":
                continue
            state = expected(table) / f"snapshot-{end}.jsonl"
            if not state.exists() or not (wanted := read_lines(state)):
                continue
            names = [name for name in read_lines(file)[0] if not name.startswith("_")]
            for how in (["--raw", "--updates", "none"], ["--updates", "none"], [], ["--net"]):
                with self.subTest(f"{table.name} {end} {how}"):
                    if how == ["--net"] and not has_lineage(table):
                        continue
                    found = bag([])
                    for row in changes(table, *range_of(start, end), "--resolve-deletes", *how):
                        image = bag([{name: row[name] for name in names}])
                        if row["_change_type"] in ("DELETE", "UPDATE_BEFORE"):
                            self.assertTrue(image <= found, row)
                            found -= image
                        else:
                            found += image
                    self.assertEqual(bag({name: row[name] for name in names} for row in wanted), found)


def has_lineage(table) -> bool:
    rows = changes(table, "--raw", "--updates", "none", "--with-metadata", "--resolve-deletes")
    return all(row["_row_id"] is not None for row in rows)


class Forms(unittest.TestCase):
    table = ICEBERG / "cl_basic"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_an_update_is_two_rows_with_one_row_id(self):
        rows = [row for row in changes(self.table, "--with-metadata") if row["_change_type"].startswith("UPDATE")]
        self.assertEqual(4, len(rows))
        for before, after in zip(rows[::2], rows[1::2]):
            self.assertEqual(("UPDATE_BEFORE", "UPDATE_AFTER"), (before["_change_type"], after["_change_type"]))
            self.assertEqual((before["_row_id"], before["id"]), (after["_row_id"], after["id"]))
            self.assertEqual("u", after["v"])
        by_key = [row for row in changes(self.table, "--with-metadata", "--updates", "key:id")
                  if row["_change_type"].startswith("UPDATE")]
        self.assertEqual(rows, by_key)

    def test_columns_that_were_asked_for_come_in_their_order_before_those_of_changes(self):
        row = changes(self.table, "--select", "v,_row_id,id")[0]
        self.assertEqual(["v", "_row_id", "id", *CHANGE_COLUMNS], list(row))
        row = changes(self.table, "--with-metadata", "--raw", "--updates", "none")[0]
        self.assertEqual(["id", "p", "v", "_file", "_pos", "_row_id", *CHANGE_COLUMNS], list(row))

    def test_a_selection_changes_columns_only(self):
        # Without lineage, rows are told apart by all columns, whichever are selected.
        for table in (self.table, ICEBERG / "cl_cow_peer", ICEBERG / "pyiceberg_v2"):
            with self.subTest(table.name):
                whole = changes(table, "--resolve-deletes")
                name = next(iter(whole[0]))
                keys = [name, "_change_type", "_commit_snapshot_id"]
                part = changes(table, "--resolve-deletes", "--select", name)
                self.assertEqual([{key: row[key] for key in keys} for row in whole],
                                 [{key: row[key] for key in keys} for row in part])

    def test_delta_dialect(self):
        sequence = {row["snapshot-id"]: row["sequence-number"]
                    for row in json.loads(run("inspect", self.table, *MAP, "--json").stdout)["snapshots"]}
        words = {"INSERT": "insert", "DELETE": "delete", "UPDATE_BEFORE": "update_preimage",
                 "UPDATE_AFTER": "update_postimage"}
        wanted = []
        for row in changes(self.table):
            row["_change_type"] = words[row["_change_type"]]
            del row["_change_ordinal"]
            row["_commit_version"] = sequence[row.pop("_commit_snapshot_id")]
            wanted.append(row)
        found = changes(self.table, "--dialect", "delta")
        self.assertEqual(wanted, found)
        self.assertEqual(["id", "p", "v", "_change_type", "_commit_version", "_commit_timestamp"], list(found[0]))

    def test_debezium_dialect(self):
        done = run("changes", self.table, *MAP, "--dialect", "debezium", "--with-metadata")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        envelopes = [json.loads(line) for line in done.stdout.splitlines()]
        ops = {"INSERT": "c", "DELETE": "d", "UPDATE_AFTER": "u"}
        before = None
        for row in changes(self.table, "--with-metadata"):
            image = {name: row[name] for name in ("id", "p", "v")}
            if row["_change_type"] == "UPDATE_BEFORE":
                before = image
                continue
            envelope = envelopes.pop(0)
            self.assertEqual(["before", "after", "source", "op", "ts_ms"], list(envelope))
            op = ops[row["_change_type"]]
            self.assertEqual(op, envelope["op"])
            self.assertEqual(image if op == "d" else before if op == "u" else None, envelope["before"])
            self.assertEqual(None if op == "d" else image, envelope["after"])
            source = envelope["source"]
            self.assertEqual("delenda", source["connector"])
            self.assertEqual((row["_commit_snapshot_id"], row["_change_ordinal"], row["_file"], row["_pos"],
                              row["_row_id"]),
                             tuple(source[name] for name in ("snapshot_id", "change_ordinal", "file", "pos", "row_id")))
            self.assertEqual(envelope["ts_ms"], source["ts_ms"])
        self.assertEqual([], envelopes)

    def test_files_in_every_format_hold_the_same_rows(self):
        wanted = changes(self.table)
        for name in ("c.parquet", "c.jsonl", "c.csv"):
            done = run("changes", self.table, *MAP, "-o", self.folder / name)
            self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertEqual(wanted, read_lines(self.folder / "c.jsonl"))
        table = pyarrow.parquet.read_table(self.folder / "c.parquet")
        ids = {field.name: (field.metadata or {}).get(b"PARQUET:field_id") for field in table.schema}
        self.assertEqual((b"2147483543", b"2147483542", b"2147483541"), tuple(ids[name] for name in CHANGE_COLUMNS[:3]))
        self.assertEqual([row["_change_type"] for row in wanted], table.column("_change_type").to_pylist())
        self.assertEqual([row["_commit_snapshot_id"] for row in wanted],
                         table.column("_commit_snapshot_id").to_pylist())
        rows = list(csv.DictReader(io.StringIO((self.folder / "c.csv").read_bytes().decode())))
        self.assertEqual([row["_change_type"] for row in wanted], [row["_change_type"] for row in rows])

    def test_shards_together_give_the_raw_changes(self):
        for table in (self.table, ICEBERG / "cl_partitioned", ICEBERG / "upsert_v3"):
            for count in (1, 3):
                with self.subTest(f"{table.name} {count}"):
                    texts = run("plan", "--changes", table, *MAP, "--resolve-deletes", "--with-metadata", "--shards",
                                count).stdout.splitlines()
                    self.assertEqual(count, len(texts))
                    found = []
                    for text in texts:
                        done = run("changes", "--shard", "-", *MAP, "--format", "jsonl", input=text)
                        self.assertEqual((0, ""), (done.returncode, done.stderr))
                        found += [json.loads(line) for line in done.stdout.splitlines()]
                    wanted = changes(table, "--raw", "--updates", "none", "--resolve-deletes", "--with-metadata")
                    self.assertEqual(bag(wanted), bag(found))

    def test_wrong_uses(self):
        table = str(self.table)
        for arguments, text in [
            ((table, "--updates", "key:nope"), "nope"),
            ((table, "--updates", "key:"), "--updates"),
            ((table, "--updates", "sometimes"), "none, lineage, or key"),
            ((table, "--dialect", "debezium", "--format", "csv"), "JSON"),
            ((table, "--from", "nope"), "nope"),
            ((table, "--from", "12345"), "12345"),
            ((table, "--poll", "5s"), "--follow"),
            ((table, "--follow", "--poll", "5"), "no duration"),
            ((table, "--follow", "--poll", "0s"), "no duration"),
            ((table, "--follow", "--net"), "--net"),
            ((table, "--follow", "--to", "main"), "--to"),
            ((table, "--follow", "--format", "parquet"), "jsonl or csv"),
            ((table, "--shard", "x.json"), "TABLE"),
            ((), "TABLE"),
        ]:
            with self.subTest(arguments):
                done = run("changes", *arguments, *MAP)
                self.assertEqual((2, ""), (done.returncode, done.stdout), done.stderr)
                self.assertIn(text, done.stderr)

    def test_net_changes_need_lineage_or_a_key(self):
        table = ICEBERG / "pyiceberg_v2"
        done = run("changes", table, *MAP, "--net")
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn("row ids", done.stderr)


if __name__ == "__main__":
    unittest.main()

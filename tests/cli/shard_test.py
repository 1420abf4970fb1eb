"""Scans in parts: the rows of the shards together are the rows of the scan, on a worker that has nothing but its shard."""

import collections
import json
import random
import shutil
import tempfile
import unittest
from pathlib import Path

from program import ICEBERG, MAP, bag, expected, read_lines, readable_tables, run, scan, select


def shards(table, count, *arguments) -> list[str]:
    done = run("plan", table, *MAP, "--shards", count, *arguments)
    if done.returncode != 0:
        raise AssertionError(f"plan {table} {arguments}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def scan_shard(text: str, *arguments) -> list[dict]:
    done = run("scan", "--shard", "-", *MAP, "--format", "jsonl", *arguments, input=text)
    if done.returncode != 0:
        raise AssertionError(f"scan --shard: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Shards(unittest.TestCase):
    def assert_same(self, wanted, found, message=None):
        missing, extra = bag(wanted) - bag(found), bag(found) - bag(wanted)
        self.assertEqual(([], []), (list(missing)[:3], list(extra)[:3]), message)

    def test_together_they_give_the_rows_of_the_peer(self):
        for table in readable_tables():
            with self.subTest(table.name):
                wanted = read_lines(expected(table) / "current.jsonl")
                columns = select(wanted[0]) if wanted else []
                found = []
                for text in shards(table, 3, "--split-size", "10000", *columns):
                    found += scan_shard(text)
                self.assert_same(wanted, found)

    def test_random_scans_cut_into_shards_are_the_scans(self):
        seed = 20261130
        chance = random.Random(seed)
        tables = readable_tables()
        filters = {
            "mor_dv": ["id BETWEEN 30 AND 400", "s LIKE 'row-1%' OR li IS NULL", "d > 20.5 AND NOT b", "st.a < 100"],
            "mor_dv_partitioned": ["region = 'us' AND v > 3", "region IS NULL OR id < 100"],
            "mor_mrg_part": ["id < 700", "region IN ('eu', 'us')"],
            "mor_mrg_pos_v2": ["id > 5000 OR id < 100"],
        }
        for _ in range(40):
            table = chance.choice(tables)
            choices = []
            if chance.random() < 0.7 and table.name in filters:
                choices += ["--where", chance.choice(filters[table.name])]
            if chance.random() < 0.5:
                choices += ["--split-size", chance.choice([1000, 20000])]
            choices += ["--with-metadata"]
            count = chance.choice([1, 2, 7])
            with self.subTest(seed=seed, table=table.name, choices=choices, count=count):
                found = []
                for text in shards(table, count, *choices):
                    found += scan_shard(text)
                self.assert_same(scan(table, *choices), found)

    def test_older_snapshots_keep_their_schema(self):
        table = ICEBERG / "schema_evo"
        for file in sorted(expected(table).glob("snapshot-*.jsonl")):
            with self.subTest(file.stem):
                wanted = read_lines(file)
                texts = shards(table, 2, "--snapshot", file.stem.removeprefix("snapshot-"), *select(wanted[0]))
                self.assert_same(wanted, [row for text in texts for row in scan_shard(text)])

    def test_metadata_columns_come_through(self):
        names = "_file,_pos,_row_id,_last_updated_sequence_number,_spec_id,_partition,_deleted"
        for name in ("mor_dv_partitioned", "row_lineage", "upsert_v3", "mor_mixed"):
            with self.subTest(name):
                texts = shards(ICEBERG / name, 2, "--select", names)
                self.assert_same(scan(ICEBERG / name, "--select", names), [row for text in texts for row in scan_shard(text)])

    def test_a_worker_needs_no_metadata(self):
        text, *_ = shards(ICEBERG / "mor_dv_partitioned", 1)
        wanted = read_lines(expected(ICEBERG / "mor_dv_partitioned") / "current.jsonl")
        with tempfile.TemporaryDirectory() as folder:
            # The data and nothing else.
            shutil.copytree(ICEBERG / "mor_dv_partitioned" / "data", Path(folder) / "mor_dv_partitioned" / "data")
            done = run("scan", "--shard", "-", "--map-location", f"/warehouse={folder}", input=text)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(len(wanted), len(done.stdout.splitlines()))

    def test_the_plan_as_json_is_a_shard_too(self):
        table = ICEBERG / "mor_dv"
        plan = run("plan", table, *MAP, "--json", "--where", "id < 200").stdout
        self.assert_same(scan(table, "--where", "id < 200"), scan_shard(plan))

    def test_each_has_every_task_once_and_every_delete_once(self):
        table = ICEBERG / "mor_mixed"
        whole = json.loads(run("plan", table, *MAP, "--json").stdout)
        parts = [json.loads(text) for text in shards(table, 2)]
        paths = [file["path"] for part in parts for file in part["dataFiles"]]
        self.assertEqual(sorted(file["path"] for file in whole["dataFiles"]), sorted(paths))
        for part in parts:
            keys = [(d["path"], d.get("contentOffset")) for d in part["deleteFiles"]]
            self.assertEqual(len(keys), len(set(keys)))
            used = set()
            for file in part["dataFiles"]:
                used.update([*file["positionDeletes"], *file["equalityDeletes"]])
                used.update([file["deletionVector"]] if file["deletionVector"] is not None else [])
            self.assertEqual(set(range(len(keys))), used)
            for delete in part["deleteFiles"]:
                if delete["content"] == "deletionVector":
                    for key in ("contentOffset", "contentSize", "cardinality", "referencedDataFile", "fileSize"):
                        self.assertIn(key, delete)

    def test_there_are_as_many_as_were_asked_for_always_the_same(self):
        table = ICEBERG / "mor_dv"
        for count in (1, 2, 5, 9):
            texts = shards(table, count)
            self.assertEqual(count, len(texts))
            self.assertEqual(texts, shards(table, count, "--threads", "1"))
            empty = [text for text in texts if not json.loads(text)["dataFiles"]]
            self.assertEqual(max(0, count - 5), len(empty))
            for text in empty:
                self.assertEqual([], scan_shard(text))

    def test_limit_order_and_threads_belong_to_the_worker(self):
        text, *_ = shards(ICEBERG / "mor_dv", 1, "--with-metadata")
        self.assertEqual(3, len(scan_shard(text, "--limit", "3")))
        self.assertEqual(scan(ICEBERG / "mor_dv", "--with-metadata", "--threads", "1"), scan_shard(text, "--ordered"))
        done = run("scan", "--shard", "-", *MAP, "--stats", "--verify-footers", input=text)
        self.assertIn("rows: 702\ndata-files: 5\n", done.stderr)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, count, *arguments):
        return run("plan", ICEBERG / "mor_dv", *MAP, "--shards", count, "-o", self.folder / "new" / "parts", *arguments)

    def test_a_folder_gets_one_file_for_each(self):
        self.assertEqual((0, "", ""), (lambda d: (d.returncode, d.stdout, d.stderr))(self.write(3)))
        files = sorted((self.folder / "new" / "parts").iterdir())
        self.assertEqual(["shard-0.json", "shard-1.json", "shard-2.json"], [file.name for file in files])
        rows = collections.Counter()
        for file in files:
            done = run("scan", "--shard", file, *MAP)
            rows.update(done.stdout.splitlines())
        self.assertEqual(702, rows.total())

    def test_old_shards_are_kept_or_replaced_all(self):
        self.assertEqual(0, self.write(5).returncode)
        parts = self.folder / "new" / "parts"
        (parts / "other.txt").write_text("mine")
        before = {file.name: file.read_bytes() for file in parts.iterdir()}
        done = self.write(2)
        self.assertEqual(2, done.returncode)
        self.assertIn("--overwrite", done.stderr)
        self.assertEqual(before, {file.name: file.read_bytes() for file in parts.iterdir()})
        self.assertEqual(0, self.write(2, "--overwrite").returncode)
        self.assertEqual(["other.txt", "shard-0.json", "shard-1.json"], sorted(file.name for file in parts.iterdir()))


class Refusals(unittest.TestCase):
    def refuse(self, code, text, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
        self.assertIn(text, done.stderr)

    def test_what_the_shard_decides_cannot_be_said_again(self):
        for option in (["--select", "id"], ["--where", "id = 1"], ["--snapshot", "1"], ["--ref", "main"], ["--with-metadata"],
                       ["--as-of", "2024-01-01"], ["--split-size", "1"], ["--allow-dangling-dvs"]):  # fmt: skip
            self.refuse(2, option[0], "scan", "--shard", "x", *option)
        self.refuse(2, "TABLE", "scan", ICEBERG / "mor_dv", "--shard", "x")
        self.refuse(2, "TABLE", "scan")
        for count in ("0", "x", "-1", "65537"):
            self.refuse(2, "--shards", "plan", ICEBERG / "mor_dv", *MAP, "--shards", count)
        self.refuse(2, "--shards", "plan", ICEBERG / "mor_dv", *MAP, "-o", "x")
        self.refuse(2, "--shards", "plan", ICEBERG / "mor_dv", *MAP, "--shards", "2", "--format", "table")

    def test_another_version_or_anything_missing_is_refused(self):
        text, *_ = shards(ICEBERG / "mor_mixed", 1)
        whole = json.loads(text)
        self.refuse(5, "version 2", "scan", "--shard", "-", *MAP, input=json.dumps({**whole, "version": 2}))
        for key in whole.keys() - {"metrics"}:
            self.refuse(1, key, "scan", "--shard", "-", *MAP, input=json.dumps({k: v for k, v in whole.items() if k != key}))
        for name in ("dataFiles", "deleteFiles"):
            for key in whole[name][0].keys() - {"partition", "firstRowId"}:
                broken = json.loads(text)
                del broken[name][0][key]
                if name == "deleteFiles" and key not in ("path", "content") and broken[name][0]["content"] != "deletionVector":
                    continue
                self.refuse(1, f"$.{name}[0]", "scan", "--shard", "-", *MAP, input=json.dumps(broken))
        self.refuse(1, "JSON", "scan", "--shard", "-", *MAP, input=text[:-2])
        self.refuse(4, "/nothing", "scan", "--shard", "/nothing")

    def test_what_is_not_known_is_ignored(self):
        text, *_ = shards(ICEBERG / "mor_mixed", 1)
        more = json.loads(text)
        more["new"] = {"a": 1}
        for file in (*more["dataFiles"], *more["deleteFiles"]):
            file["new"] = [None]
        self.assertEqual(bag(scan(ICEBERG / "mor_mixed")), bag(scan_shard(json.dumps(more))))


if __name__ == "__main__":
    unittest.main()

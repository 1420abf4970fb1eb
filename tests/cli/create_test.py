"""delenda create and upgrade: the tables that they make."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from program import ICEBERG, MAP, bag, expected, read_lines, read_terminal, run, terminal, CLI
import subprocess


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("DELENDA_CATALOG", "DELENDA_CONFIG"))}
        self.environment["HOME"] = str(self.folder)

    def run(self, *arguments, **options):
        if not arguments or not isinstance(arguments[0], str):
            return super().run(*arguments, **options)  # unittest's own
        return run(*arguments, env=self.environment, cwd=self.folder, **options)

    def ok(self, *arguments, **options) -> str:
        done = self.run(*arguments, **options)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def report(self, *arguments, **options) -> dict:
        return json.loads(self.ok(*arguments, "--json", **options))

    def rows(self, table, *arguments) -> list[dict]:
        return [json.loads(line) for line in self.ok("scan", table, "--format", "jsonl", *arguments).splitlines()]

    def put(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


class Create(Tables):
    def test_a_table_in_a_folder(self):
        report = self.report("create", "orders", "--columns", "id long NOT NULL, region string, ts timestamptz, v double",
                             "--partition-by", "region, day(ts)", "--key", "id", "--property", "owner=me")  # fmt: skip
        path = str((self.folder / "orders").resolve())
        self.assertEqual((True, path, path + "/metadata/v1.metadata.json", 3),
                         (report["created"], report["location"], report["metadata-file"], report["format-version"]))  # fmt: skip
        self.assertEqual([(1, "id", "long", True, True), (2, "region", "string", False, False),
                          (3, "ts", "timestamptz", False, False), (4, "v", "double", False, False)],
                         [tuple(column.values()) for column in report["columns"]])  # fmt: skip
        self.assertEqual([(1000, "region", "identity", "region"), (1001, "ts_day", "day", "ts")],
                         [tuple(field.values()) for field in report["partition-fields"]])  # fmt: skip
        metadata = json.loads(Path(report["metadata-file"]).read_text())
        self.assertEqual([1], metadata["schemas"][0]["identifier-field-ids"])
        self.assertEqual(report["table-uuid"], metadata["table-uuid"])
        self.assertEqual({"owner": "me", "write.parquet.compression-codec": "zstd"}, metadata["properties"])
        self.assertEqual([], self.rows("orders"))
        lines = self.put("a.jsonl", '{"id": 1, "region": "eu", "ts": "2024-02-29T12:00:00Z", "v": 1.5}\n{"id": 2}\n')
        self.assertEqual(2, self.report("append", "orders", lines)["rows-added"])
        self.assertEqual(1, self.report("delete", "orders", "--where", "id = 1")["rows-deleted"])
        self.assertEqual([2], [row["id"] for row in self.rows("orders")])
        self.ok("verify", "orders", "--deep", "--all-snapshots")

    def test_tables_in_catalogs(self):
        config = self.put("catalogs.toml", f'[catalog.lake]\nuri = "sqlite:///{self.folder}/lake.db"\nwarehouse = "w"\n'
                                           '[catalog.dirs]\nwarehouse = "dirs"\n')  # fmt: skip
        for name in ("lake.sales.eu.orders", "dirs.sales.orders"):
            with self.subTest(name):
                given = ("--config", config)
                report = self.report("create", name, *given, "--columns", "id long, s string")
                root = self.folder.resolve() / ("w/sales/eu/orders" if name.startswith("lake") else "dirs/sales/orders")
                self.assertEqual(str(root), report["location"])
                self.assertTrue(Path(report["metadata-file"]).is_file())
                self.ok("append", name, *given, self.put("a.csv", "id,s\n1,a\n2,b\n"))
                self.ok("update", name, *given, "--set", "s = 'x'", "--where", "id = 2")
                self.assertEqual({1: "a", 2: "x"}, {row["id"]: row["s"] for row in self.rows(name, *given)})
                self.ok("verify", name, *given, "--deep", "--all-snapshots")
                done = self.run("create", name, *given, "--columns", "id long")
                self.assertEqual(2, done.returncode)
                self.assertIn("already exists: ", done.stderr)
        report = self.report("create", "lake.sales.far", "--config", config, "--columns", "id long", "--location", "far")
        self.assertEqual(str(self.folder.resolve() / "far"), report["location"])
        self.assertEqual("0\n", self.ok("count", "lake.sales.far", "--config", config))

    def test_columns_come_from_files(self):
        source = "mor_dv"
        wanted = read_lines(expected(ICEBERG / source) / "current.jsonl")
        schema = json.loads((ICEBERG / source / "metadata/v1.metadata.json").read_text())["schemas"][0]
        types = [(field["name"], field["type"]) for field in schema["fields"]]
        (self.folder / "schema.json").write_text(json.dumps(schema))
        for name in ("rows.parquet", "rows.arrow"):
            self.ok("scan", ICEBERG / source, *MAP, "-o", name)
        for way in (("--like", "rows.parquet"), ("--like", "rows.arrow"), ("--schema", "schema.json")):
            with self.subTest(way):
                table = "t" + way[1].replace(".", "")
                made = json.loads(Path(self.report("create", table, *way)["metadata-file"]).read_text())
                self.assertEqual(types, [(field["name"], field["type"]) for field in made["schemas"][0]["fields"]])
                self.ok("append", table, "rows.parquet")
                self.assertEqual(bag(wanted), bag(self.rows(table)))

    def test_columns_come_from_json_lines(self):
        rows = ['{"id": 1, "name": "a", "tags": ["x"], "at": {"lat": 1.5, "ok": true}}', '{"id": 2, "price": 3}', '{"price": 0.5}']
        lines = self.put("rows.jsonl", "\n".join(rows))
        report = self.report("create", "t", "--like", lines, "--key", "id")
        self.assertEqual(["long", "string", "list<string>", "struct<7: lat: optional double, 8: ok: optional boolean>", "double"],
                         [column["type"] for column in report["columns"]])  # fmt: skip
        done = self.run("append", "t", lines)
        self.assertEqual(2, done.returncode)  # the third row has no id, and a key is never null
        self.assertIn("column id is required", done.stderr)
        self.ok("append", "t", self.put("two.jsonl", "\n".join(rows[:2])))
        self.assertEqual(2, len(self.rows("t")))

    def test_a_terminal_shows_the_columns(self):
        ours, theirs = terminal(100)
        program = subprocess.Popen([CLI, "create", "t", "--columns", "id long NOT NULL, region string", "--key", "id",
                                    "--partition-by", "bucket(4, id), region"],
                                   stdout=theirs, stderr=theirs, cwd=self.folder, env=self.environment)  # fmt: skip
        os.close(theirs)
        text = read_terminal(ours).replace("\r\n", "\n")
        self.assertEqual(0, program.wait(timeout=60))
        self.assertEqual("id  column  type\n--  ------  ------  --------  ---\n 1  id      long    NOT NULL  key\n 2  region  string\n"
                         f"created the table {self.folder.resolve()}/t (format version 3, partitioned by bucket[4](id), region)\n",
                         "\n".join(line.rstrip() for line in text.split("\n")))  # fmt: skip

    def test_what_exists_stays(self):
        self.ok("create", "t", "--columns", "id long")
        self.ok("append", "t", self.put("a.csv", "id\n1\n"))
        before = sorted(path.name for path in (self.folder / "t/metadata").iterdir())
        self.assertEqual(2, self.run("create", "t", "--columns", "id long").returncode)
        self.assertEqual(2, self.run("create", "t", "--columns", "id long", "--dry-run").returncode)
        report = self.report("create", "t", "--columns", "other string", "--if-not-exists")
        self.assertEqual((False, "id"), (report["created"], report["columns"][0]["name"]))
        self.assertEqual(before, sorted(path.name for path in (self.folder / "t/metadata").iterdir()))
        self.assertTrue(self.report("create", "new", "--columns", "other string", "--if-not-exists")["created"])

    def test_a_dry_run_makes_nothing(self):
        report = self.report("create", "t", "--columns", "id long", "--dry-run")
        self.assertEqual((True, False, None), (report["dry-run"], report["created"], report["metadata-file"]))
        self.assertFalse((self.folder / "t").exists())

    def test_what_no_table_can_have_is_refused(self):
        self.put("rows.csv", "id\n1\n")
        self.put("broken.json", '{"type": "struct"}')
        for code, arguments in (
            (2, ()),
            (2, ("--columns", "id long", "--like", "rows.csv")),
            (2, ("--columns", "id text")),
            (2, ("--columns", "id long, id int")),
            (2, ("--like", "rows.csv")),
            (4, ("--like", "nothing.parquet")),
            (2, ("--schema", "broken.json")),
            (4, ("--schema", "nothing.json")),
            (2, ("--columns", "id long", "--partition-by", "day(id)")),
            (2, ("--columns", "id long", "--partition-by", "colour")),
            (2, ("--columns", "id double", "--key", "id")),
            (2, ("--columns", "id long", "--key", "colour")),
            (2, ("--columns", "id long", "--property", "x")),
            (2, ("--columns", "id long", "--property", "format-version=2")),
            (2, ("--columns", "id long", "--property", "write.target-file-size-bytes=big")),
            (2, ("--columns", "id long", "--format-version", "1")),
            (2, ("--columns", "id timestamp_ns", "--format-version", "2")),
            (2, ("--columns", "id long", "--location", "elsewhere")),
        ):
            with self.subTest(arguments):
                done = self.run("create", "t", *arguments)
                self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
                self.assertIn("error: ", done.stderr)
                self.assertFalse((self.folder / "t").exists())
        self.assertEqual(2, self.run("create", "nowhere.db.t", "--columns", "id long").returncode)

    def test_changes_are_told_whole_where_every_commit_merges_its_manifests(self):
        self.ok("create", "t", "--columns", "id long, v long", "--key", "id", "--property", "commit.manifest.min-count-to-merge=1")
        for first in (0, 10, 20):
            rows = "".join(f"{i},{i}\n" for i in range(first, first + 10))
            self.ok("append", "t", self.put("a.csv", "id,v\n" + rows))
            self.ok("delete", "t", "--where", f"id = {first + 3}")
            self.ok("update", "t", "--set", "v = v + 100", "--where", f"id >= {first + 7}")
        self.ok("delete", "t", "--where", "id < 10")  # whole files
        self.ok("append", "t", self.put("a.csv", "id,v\n0,7\n"))
        table = {}
        for line in self.ok("changes", "t", "--format", "jsonl").splitlines():
            row = json.loads(line)
            if row["_change_type"] in ("DELETE", "UPDATE_BEFORE"):
                self.assertEqual(row["v"], table.pop(row["id"]))
            else:
                self.assertNotIn(row["id"], table)
                table[row["id"]] = row["v"]
        self.assertEqual(table, {row["id"]: row["v"] for row in self.rows("t")})
        snapshots = [json.loads(line) for line in self.ok("inspect", "t", "--format", "jsonl").splitlines()]
        for snapshot in snapshots:
            rows = self.rows("t", "--snapshot", str(snapshot["snapshot-id"]))
            self.assertEqual(len(rows), len({row["id"] for row in rows}))
        self.ok("verify", "t", "--deep", "--all-snapshots")

    def test_defaults_fill_what_rows_lack(self):
        self.ok("create", "t", "--columns", "id long, state string DEFAULT 'new', n int NOT NULL DEFAULT 7")
        self.ok("append", "t", self.put("a.csv", "id\n1\n"))
        self.assertEqual([{"id": 1, "state": "new", "n": 7}], self.rows("t"))


class Upgrade(Tables):
    def copy(self, name: str, last_version=None) -> tuple:
        """A table of its own, as it was at a version of its metadata."""
        path = self.folder / name
        shutil.copytree(ICEBERG / name, path)
        if last_version:
            for file in (path / "metadata").glob("v*.metadata.json"):
                if int(file.name[1:].split(".")[0]) > last_version:
                    file.unlink()
            (path / "metadata/version-hint.text").write_text(str(last_version))
        return path, "--map-location", f"/warehouse/{name}={path}"

    def merge_manifests(self, path: Path):
        """From now on every commit merges all small manifests."""
        hint = (path / "metadata/version-hint.text").read_text().strip()
        file = path / f"metadata/v{hint}.metadata.json"
        metadata = json.loads(file.read_text())
        metadata["properties"]["commit.manifest.min-count-to-merge"] = "1"
        file.write_text(json.dumps(metadata))

    def test_rows_stay_and_can_be_deleted_afterwards(self):
        for name, version, has_id in (("mor_pos_v2_file", None, True), ("mor_pos_v2_partition", None, True), ("pos_v2_edge", None, True),
                                      ("cl_v2_range", None, True), ("eq_int", None, False), ("eq_partitioned_global", None, False),
                                      ("upgraded_v1", 7, True), ("upgraded_v1", 5, True), ("upgraded_v1", 2, True)):  # fmt: skip
            for merges in (False, True):
                with self.subTest(name, version=version, merges=merges):
                    self.change_after_upgrade(name, version, has_id, merges)

    def change_after_upgrade(self, name, version, has_id, merges):
        table = self.copy(name, version)
        if merges:
            self.merge_manifests(table[0])
        rows = self.rows(*table)
        report = self.report("upgrade", *table, "--to", "3")
        self.assertEqual((1 if version in (2, 5) else 2, 3), (report["from"], report["to"]))
        self.assertEqual(bag(rows), bag(self.rows(*table)))
        if has_id:
            ids = sorted(row["id"] for row in rows)
            for gone in (ids[0], ids[-1]):
                self.assertEqual(1, self.report("delete", *table, "--where", f"id = {gone}")["rows-deleted"])
            self.report("update", *table, "--where", f"id = {ids[1]}", "--set", f"id = {ids[1]} + 0")
            rows = [row for row in rows if row["id"] not in (ids[0], ids[-1])]
            row_ids = [row["_row_id"] for row in self.rows(*table, "--select", "_row_id")]
            self.assertEqual(len(rows), len(set(row_ids)))
            self.assertNotIn(None, row_ids)
        self.assertEqual(bag(rows), bag(self.rows(*table)))
        done = self.run("verify", *table, "--deep", "--errors-only", "--format", "jsonl")
        self.assertEqual("", done.stdout)
        shutil.rmtree(table[0])

    def test_version_1_to_2_as_java_does(self):
        table = self.copy("upgraded_v1", 5)
        self.assertEqual("upgraded from format version 1 to 2\n", self.ok("upgrade", *table, "--to", "2"))
        ours = json.loads((table[0] / "metadata/v6.metadata.json").read_text())
        java = json.loads((ICEBERG / "upgraded_v1/metadata/v6.metadata.json").read_text())
        for other in (ours, java):
            del other["last-updated-ms"], other["properties"]  # Spark changed one with it
        self.assertEqual(java, ours)
        self.assertEqual(5, self.run("delete", *table, "--where", "id = 1").returncode)
        self.assertEqual("upgraded from format version 2 to 3\n", self.ok("upgrade", *table))

    def test_version_2_to_3_as_java_does(self):
        table = self.copy("upgraded_v1", 7)
        self.ok("upgrade", *table)
        ours = json.loads((table[0] / "metadata/v8.metadata.json").read_text())
        java = json.loads((ICEBERG / "upgraded_v1/metadata/v8.metadata.json").read_text())
        for other in (ours, java):
            del other["last-updated-ms"]
        self.assertEqual(java, ours)

    def test_nothing_to_do(self):
        table = self.copy("mor_dv")
        files = sorted(table[0].rglob("*"))
        self.assertEqual("the table has format version 3 already; nothing was changed\n", self.ok("upgrade", *table))
        for version in ("2", "1", "4"):
            done = self.run("upgrade", *table, "--to", version)
            self.assertEqual((2, ""), (done.returncode, done.stdout), done.stderr)
        self.assertEqual(files, sorted(table[0].rglob("*")))
        table = self.copy("mor_pos_v2_file")
        files = sorted(table[0].rglob("*"))
        self.assertEqual("would upgrade from format version 2 to 3; dry run: nothing was changed\n",
                         self.ok("upgrade", *table, "--dry-run"))  # fmt: skip
        self.assertEqual(files, sorted(table[0].rglob("*")))

    def test_refused_writes_say_how_to_upgrade(self):
        table = self.copy("mor_pos_v2_file")
        for command in (("delete", *table, "--where", "id = 1"), ("update", *table, "--where", "id = 1", "--set", "v = 'x'")):
            done = self.run(*command)
            self.assertEqual(5, done.returncode)
            self.assertIn("run delenda upgrade --to 3", done.stderr)
        table = self.copy("upgraded_v1", 5)
        done = self.run("append", *table, self.put("a.csv", "id\n1\n"))
        self.assertEqual(5, done.returncode)
        self.assertIn("run delenda upgrade --to 3", done.stderr)


if __name__ == "__main__":
    unittest.main()

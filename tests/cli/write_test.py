"""delenda delete, append, update: what they report, and what a scan gives afterwards."""

import json
import subprocess
import unittest
from pathlib import Path

from changed_table import ChangedTables
from program import CLI, ICEBERG, bag, run


class Write(ChangedTables):
    def test_delete(self):
        for name in ("mor_dv", "mor_dv_partitioned", "mor_mixed", "eq_v3", "schema_evo", "upgraded_v1", "imported"):
            with self.subTest(name):
                table = self.table(name)
                gone = [row for row in table.rows if row["id"] is not None and row["id"] % 7 in (1, 3)]
                ids = ", ".join(str(row["id"]) for row in gone)
                report = table.change("delete", "--where", f"id IN ({ids})")
                self.assertEqual(len(gone), report["rows-deleted"])
                self.assertEqual((0, 0, 0), (report["rows-added"], report["rows-updated"], report["files-added"]))
                self.assertGreater(report["deletion-vectors"] + report["files-dropped"], 0)
                left = [row for row in table.rows if row not in gone]
                self.assertEqual(bag(left), bag(table.scan()))
                self.assertEqual(report["snapshot-id"], json.loads(table.run("inspect", "--format", "jsonl").stdout.splitlines()[-1])["snapshot-id"])  # fmt: skip
                self.verify(table)
                count = table.run("count")
                self.assertEqual(f"{len(left)}\n", count.stdout)

    def test_delete_says_what_it_did_in_one_line(self):
        table = self.table("mor_dv")
        done = table.run("delete", "--where", "id <= 2 OR id >= 800")
        self.assertEqual(0, done.returncode, done.stderr)
        gone = [row for row in table.rows if row["id"] <= 2 or row["id"] >= 800]
        self.assertRegex(done.stdout, rf"^deleted {len(gone)} rows in 2 files \(1 new deletion vector, 1 file dropped\); snapshot \d+\n$")  # fmt: skip
        done = table.run("delete", "--where", "id <= 2")
        self.assertEqual("deleted 0 rows; no snapshot was made\n", done.stdout)

    def test_a_dry_run_changes_nothing(self):
        table = self.table("mor_dv")
        files = table.files()
        rows = self.put("rows.csv", "id,s\n9001,x\n")
        for command, arguments, text in (
            ("delete", ("--where", "id <= 2"), "would delete 2 rows in 1 file (1 new deletion vector)"),
            ("update", ("--where", "id <= 2", "--set", "s = 'x'"), "would update 2 rows in 1 file (1 new deletion vector)"),
            ("append", (rows,), "would append 1 row"),
        ):
            with self.subTest(command):
                done = table.run(command, *arguments, "--dry-run")
                self.assertEqual((0, text + "; dry run: nothing was changed\n"), (done.returncode, done.stdout), done.stderr)  # fmt: skip
                report = table.change(command, *arguments, "--dry-run")
                self.assertEqual((True, None), (report["dry-run"], report["snapshot-id"]))
                self.assertEqual(files, table.files())

    def test_update(self):
        for name, column, value in (("mor_dv", "i", 7), ("mor_dv_partitioned", "region", "new"), ("row_lineage", "v", "new")):  # fmt: skip
            with self.subTest(name):
                table = self.table(name)
                row_ids = {row["id"]: row["_row_id"] for row in table.scan("--select", "id,_row_id")}
                changed = [row["id"] for row in table.rows][::3]
                literal = f"'{value}'" if isinstance(value, str) else str(value)
                report = table.change("update", "--where", f"id IN ({', '.join(map(str, changed))})", "--set", f"{column} = {literal}")  # fmt: skip
                self.assertEqual((len(changed), 0), (report["rows-updated"], report["rows-deleted"]))
                for row in table.rows:
                    if row["id"] in changed:
                        row[column] = value
                self.assertEqual(bag(table.rows), bag(table.scan()))
                self.assertEqual(row_ids, {row["id"]: row["_row_id"] for row in table.scan("--select", "id,_row_id")})
                self.verify(table)
                changes = table.run("changes", "--from", "main", "--from-inclusive", "--format", "jsonl")
                self.assertEqual(0, changes.returncode, changes.stderr)
                kinds = [json.loads(line)["_change_type"] for line in changes.stdout.splitlines()]
                self.assertEqual(["UPDATE_BEFORE", "UPDATE_AFTER"] * len(changed), kinds)

    def test_append(self):
        table = self.table("mor_dv_partitioned")
        csv = self.put("a.csv", "id,region,ts,s,v\n9001,eu,2024-02-29T12:00:00Z,x,\n")
        lines = self.put("b.jsonl", '{"id": 9002, "ts": "2024-02-29T12:00:00Z", "v": 0.5}\n')
        parquet = Path(self.folder.name) / "c.parquet"
        self.assertEqual(0, table.run("scan", "--where", "id = 1", "-o", parquet).returncode)
        done = table.run("append", csv, lines, parquet)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"^appended 3 rows \(3 files added, \d+\.\d kB\); snapshot \d+\n$")
        one = next(row for row in table.rows if row["id"] == 1)
        table.rows += [
            {"id": 9001, "region": "eu", "ts": "2024-02-29T12:00:00.000000Z", "s": "x", "v": None},
            {"id": 9002, "region": None, "ts": "2024-02-29T12:00:00.000000Z", "s": None, "v": 0.5},
            one,
        ]
        self.assertEqual(bag(table.rows), bag(table.scan()))
        self.verify(table)

    def test_append_reads_standard_input(self):
        table = self.table("mor_dv_partitioned")
        report = table.change("append", "-", "--format", "csv", input="id\n9001\n9002\n")
        self.assertEqual(2, report["rows-added"])
        self.assertEqual(len(table.rows) + 2, len(table.scan()))

    def test_one_command_after_the_other(self):
        table = self.table("mor_dv_partitioned")
        table.change("append", self.put("a.csv", "id,region\n9001,eu\n9002,eu\n9003,us\n"))
        table.change("update", "--where", "id > 9000", "--set", "v = id * 2", "--set", "s = region || '!'")
        table.change("delete", "--where", "id = 9002 OR id = 1")
        table.change("delete", "--where", "id = 9001")
        rows = [row for row in table.rows if row["id"] != 1]
        rows.append({"id": 9003, "region": "us", "ts": None, "s": "us!", "v": 18006.0})
        self.assertEqual(bag(rows), bag(table.scan()))
        self.verify(table, "--all-snapshots")

    def test_what_is_wrong_changes_nothing(self):
        table = self.table("mor_dv_partitioned")
        files = table.files()
        text = self.put("text.csv", "id\nx\n")
        unknown = self.put("unknown.csv", "id,colour\n1,red\n")
        for code, arguments in (
            (2, ("delete",)),
            (2, ("delete", "--where", "colour = 1")),
            (2, ("delete", "--where", "id = 1", "--branch", "nowhere")),
            (2, ("update", "--where", "id = 1")),
            (2, ("update", "--where", "id = 1", "--set", "v")),
            (2, ("update", "--where", "id = 1", "--set", "colour = 1")),
            (2, ("update", "--where", "id = 1", "--set", "id = 1.5")),
            (2, ("append",)),
            (2, ("append", text)),
            (2, ("append", unknown)),
            (4, ("append", "/nothing/here.csv")),
        ):
            with self.subTest(arguments):
                done = table.run(*arguments)
                self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
                self.assertIn("error: ", done.stderr)
                self.assertEqual(files, table.files())

    def test_only_branches_that_are_there_can_be_changed(self):
        table = self.table("branches_tags")
        files = table.files()
        rows = self.put("rows.csv", "id,v\n9001,x\n")
        for branch, why in (("v1", "'v1' is a tag: only branches can be changed"), ("vv", "no branch 'vv'")):
            for command, arguments in (
                ("append", (rows,)),
                ("convert", ()),
                ("convert", ("--position-deletes",)),
                ("delete", ("--where", "id = 1")),
                ("delete", ("--keys", rows, "--key", "id")),
                ("merge", (rows, "--key", "id", "--matched-delete", "true")),
                ("update", ("--where", "id = 1", "--set", "v = 'x'")),
                ("upsert", (rows, "--key", "id")),
                ("upsert", (rows, "--key", "id", "--via", "equality")),
            ):
                for dry in ((), ("--dry-run",)):
                    with self.subTest(branch=branch, command=command, arguments=arguments, dry=dry):
                        done = table.run(command, *arguments, "--branch", branch, *dry)
                        self.assertEqual((2, ""), (done.returncode, done.stdout))
                        self.assertIn(why, done.stderr)
                        self.assertEqual(files, table.files())

    def test_version_2_takes_appends_only(self):
        table = self.table("mor_pos_v2_file")
        self.assertEqual(5, table.run("delete", "--where", "id = 2").returncode)
        self.assertEqual(5, table.run("update", "--where", "id = 2", "--set", "v = 'x'").returncode)
        table.change("append", self.put("a.csv", "id,v\n9001,x\n"))
        self.assertEqual(len(table.rows) + 1, len(table.scan()))
        self.verify(table)

    def test_one_version_of_a_table_cannot_be_changed(self):
        table = self.table("mor_dv")
        metadata = sorted((table.path / "metadata").glob("*.json"))[-1]
        done = run("delete", metadata, *table.map, "--where", "id = 1")
        self.assertEqual(2, done.returncode, done.stderr)

    def test_names_with_signs_are_quoted(self):
        table = self.table("mor_dv")
        done = table.run("update", "--where", "id = 1", "--set", '"no=such" = 1')
        self.assertIn("no=such", done.stderr)
        table.change("update", "--where", "id = 1", "--set", '"s" = \'a=b\'')
        self.assertEqual(["a=b"], [row["s"] for row in table.scan("--where", "id = 1")])

    def test_writers_at_the_same_time_lose_nothing(self):
        table = self.table("mor_dv")
        ids = [row["id"] for row in table.rows if row["id"] < 800][:40]
        programs = [
            subprocess.Popen([CLI, "delete", table.path, *table.map, "--where", f"id = {id}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
            for id in ids[:8]
        ]
        for program in programs:
            out, err = program.communicate(timeout=120)
            self.assertEqual(0, program.returncode, err)
            self.assertTrue(out.startswith("deleted 1 row "), out)
        self.assertEqual(bag(row for row in table.rows if row["id"] not in ids[:8]), bag(table.scan()))
        self.verify(table, "--all-snapshots")


if __name__ == "__main__":
    unittest.main()

"""Rows as CSV, Arrow and Parquet, read back by another program's readers; output files appear whole or not at all."""

import csv
import io
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from program import CLI, ICEBERG, MAP, readable_tables, run, scan

TABLE = ICEBERG / "mor_dv"


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, table, *arguments):
        done = run("scan", table, *MAP, "-o", self.folder / name, *arguments)
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertEqual([name], [file.name for file in self.folder.iterdir()])
        return self.folder / name

    def test_arrow_and_parquet_files_hold_the_same_rows(self):
        for table in readable_tables():
            with self.subTest(table.name):
                done = run("scan", table, *MAP, "--ordered", "--format", "jsonl")
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                arrow = self.write("t.arrow", table, "--ordered")
                with pa.ipc.open_file(str(arrow)) as reader:
                    batches = reader.read_all()
                batches.validate(full=True)
                arrow.unlink()
                file = self.write("t.parquet", table, "--ordered")
                rows = pa.parquet.read_table(file)
                file.unlink()
                self.assertEqual(len(lines), batches.num_rows)
                self.assertTrue(rows.schema.equals(batches.schema), f"{rows.schema}\n{batches.schema}")
                self.assertTrue(rows.equals(batches) or rows.to_pylist().__repr__() == batches.to_pylist().__repr__())
                # Values of types that JSON has as they are.
                for name in batches.column_names:
                    if pa.types.is_integer(batches.schema.field(name).type) or pa.types.is_string(batches.schema.field(name).type):
                        self.assertEqual([line[name] for line in lines], batches.column(name).to_pylist(), name)

    def test_fields_keep_their_ids_and_files_are_compressed(self):
        file = self.write("t.parquet", TABLE, "--select", "id,st,_pos")
        parquet = pa.parquet.ParquetFile(file)
        self.assertEqual("ZSTD", parquet.metadata.row_group(0).column(0).compression)
        ids = [field.metadata[b"PARQUET:field_id"] for field in parquet.schema_arrow]
        self.assertEqual([b"1", b"2147483645"], [ids[0], ids[2]])
        file.unlink()
        with pa.ipc.open_file(str(self.write("t.arrow", TABLE, "--select", "id,st,_pos"))) as reader:
            self.assertEqual(ids, [field.metadata[b"PARQUET:field_id"] for field in reader.schema])
            for field in reader.schema.field("st").type:
                self.assertIn(b"PARQUET:field_id", field.metadata)

    def test_uuids_are_uuids(self):
        table = ICEBERG / "mor_mrg_dv"
        file = self.write("t.parquet", table, "--limit", "3")
        schema = pa.parquet.ParquetFile(file).schema
        types = {str(schema.column(i).logical_type) for i in range(len(schema))}
        self.assertIn("UUID", types)

    def test_a_stream_is_what_standard_output_gets(self):
        done = run("scan", TABLE, *MAP, "--format", "arrow", "--select", "id", text=None)
        rows = pa.ipc.open_stream(io.BytesIO(done.stdout)).read_all()
        self.assertEqual(702, rows.num_rows)
        done = run("scan", TABLE, *MAP, "--format", "parquet", "--select", "id", text=None)
        self.assertEqual(702, pa.parquet.read_table(io.BytesIO(done.stdout)).num_rows)

    def test_no_rows_are_a_file_too(self):
        for name, read in (("t.parquet", lambda p: pa.parquet.read_table(p)),
                           ("t.arrow", lambda p: pa.ipc.open_file(str(p)).read_all())):  # fmt: skip
            file = self.write(name, TABLE, "--limit", "0")
            self.assertEqual((0, True), (read(file).num_rows, len(read(file).column_names) > 10))
            file.unlink()
        self.assertEqual(b"", self.write("t.jsonl", TABLE, "--limit", "0").read_bytes())

    def test_csv_tells_null_from_empty_text(self):
        file = self.write("t.csv", TABLE, "--select", "id,s,dec9,st,li", "--where", "id IN (38, 40)", "--ordered")
        wanted = (
            'id,s,dec9,st,li\r\n'
            '38,row-38-mmm,-252.50,"{""a"": 38, ""b"": ""n38"", ""c"": {""x"": 9.5}}","[38, null, -38]"\r\n'
            '40,row-40-,,"{""a"": 40, ""b"": ""n40"", ""c"": {""x"": 10.0}}",[]\r\n'
        )
        found = file.read_bytes().decode()
        self.assertEqual([line.split(",")[:3] for line in wanted.split("\r\n")], [line.split(",")[:3] for line in found.split("\r\n")])
        self.assertTrue(found.endswith(",[]\r\n"), found)

    def test_csv_reads_back_whatever_the_values_are(self):
        for name in ("names", "mor_dv", "mor_mrg_part", "schema_evo"):
            with self.subTest(name):
                file = self.write("t.csv", ICEBERG / name, "--ordered")
                with open(file, newline="") as lines:
                    header, *rows = list(csv.reader(lines))
                file.unlink()
                wanted = scan(ICEBERG / name, "--ordered")
                self.assertEqual(list(wanted[0]), header)
                self.assertEqual(len(wanted), len(rows))
                for row, line in zip(rows, wanted):
                    for cell, value in zip(row, line.values()):
                        if isinstance(value, str):
                            self.assertEqual(value, cell)
                        elif value is None:
                            self.assertEqual("", cell)

    def test_lines_go_to_a_file_too(self):
        file = self.write("t.jsonl", TABLE, "--ordered")
        self.assertEqual(run("scan", TABLE, *MAP, "--ordered").stdout, file.read_text())

    def test_shards_can_be_written(self):
        text, *_ = run("plan", TABLE, *MAP, "--shards", "2").stdout.splitlines()
        done = run("scan", "--shard", "-", *MAP, "-o", self.folder / "s.parquet", input=text)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(len(run("scan", "--shard", "-", *MAP, input=text).stdout.splitlines()),
                         pa.parquet.read_table(self.folder / "s.parquet").num_rows)  # fmt: skip

    def test_an_existing_file_is_replaced_only_on_request(self):
        file = self.folder / "t.csv"
        file.write_text("mine")
        done = run("scan", TABLE, *MAP, "-o", file)
        self.assertEqual((2, "mine"), (done.returncode, file.read_text()))
        self.assertIn("--overwrite", done.stderr)
        self.write("t.csv", TABLE, "--overwrite", "--select", "id", "--where", "id = 1")
        self.assertEqual(b"id\r\n1\r\n", file.read_bytes())

    def test_an_error_leaves_no_file_and_the_old_one_as_it_was(self):
        table = Path(shutil.copytree(TABLE, self.folder / "in" / "mor_dv"))
        data = sorted((table / "data").glob("*.parquet"))[-1]
        data.write_bytes(data.read_bytes()[:-1000])
        out = self.folder / "out"
        out.mkdir()
        for name in ("t.csv", "t.arrow", "t.parquet", "t.jsonl"):
            options = ("scan", table, "--map-location", f"/warehouse={self.folder / 'in'}", "-o", out / name)
            done = run(*options)
            self.assertEqual(1, done.returncode, done.stderr)
            self.assertEqual([], os.listdir(out))
            (out / name).write_text("old")
            self.assertEqual(1, run(*options, "--overwrite").returncode)
            self.assertEqual("old", (out / name).read_text())
            (out / name).unlink()

    def test_a_stream_that_breaks_off_cannot_pass_for_whole(self):
        table = Path(shutil.copytree(ICEBERG / "mor_mrg_dv", self.folder / "mor_mrg_dv"))
        files = json.loads(run("plan", table, "--map-location", f"/warehouse={self.folder}", "--json").stdout)["dataFiles"]
        data = self.folder / Path(files[-1]["path"]).relative_to("/warehouse")
        data.write_bytes(data.read_bytes()[:-1000])
        for kind in ("arrow", "parquet"):
            done = run("scan", table, "--map-location", f"/warehouse={self.folder}", "--ordered", "--threads", "1",
                       "--format", kind, text=None)  # fmt: skip
            self.assertEqual(1, done.returncode)
            with self.assertRaises((pa.ArrowInvalid, OSError)):
                if kind == "parquet":
                    pa.parquet.read_table(io.BytesIO(done.stdout))
                elif not done.stdout.endswith(b"\xff\xff\xff\xff\0\0\0\0"):
                    raise pa.ArrowInvalid("no end of stream")

    def test_names_and_places_that_do_not_fit_are_refused(self):
        for path, code in ((self.folder / "t.txt", 2), (self.folder / "t", 2), (self.folder / "no" / "t.csv", 4),
                           ("/dev/null", 2)):  # fmt: skip
            done = run("scan", TABLE, *MAP, "-o", path)
            self.assertEqual((code, ""), (done.returncode, done.stdout), (path, done.stderr))
        done = run("scan", TABLE, *MAP, "-o", self.folder / "t", "--format", "csv")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(2, run("scan", TABLE, *MAP, "--overwrite").returncode)

    def test_a_terminal_gets_no_bytes(self):
        import pty
        import subprocess

        ours, theirs = pty.openpty()
        for kind in ("arrow", "parquet"):
            done = subprocess.run([CLI, "scan", str(TABLE), *MAP, "--format", kind], stdout=theirs, stderr=subprocess.PIPE)
            self.assertEqual(2, done.returncode)
            self.assertIn(b"-o FILE", done.stderr)
        os.close(theirs)
        os.close(ours)


if __name__ == "__main__":
    unittest.main()

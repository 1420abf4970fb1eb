"""Broken, unsupported and missing input: the exit code, what is said, and that no row passes for all of them."""

import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from pathlib import Path

from program import CLI, ICEBERG, MAP, run

INVALID = {
    "invalid_dv_bitmap": (1, "CRC"),
    "invalid_dv_cardinality": (1, "cardinality"),
    "invalid_dv_crc": (1, "CRC"),
    "invalid_dv_missing": (4, "No such file"),
    "invalid_dv_wrong_range": (1, "length"),
    "invalid_two_dvs": (1, "two deletion vectors"),
}


class Refusals(unittest.TestCase):
    def refuse(self, code, text, *arguments):
        done = run(*arguments)
        self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.assertIn(text, done.stderr)
        return done.stderr

    def test_every_broken_table_is_refused_without_a_row(self):
        self.assertEqual(set(INVALID), {p.name for p in ICEBERG.glob("invalid_*") if p.suffix != ".expected"})
        for name, (code, text) in INVALID.items():
            for options in ((), ("--ordered", "--threads", "1"), ("--format", "table"), ("--split-size", "1000")):
                with self.subTest(name, options=options):
                    message = self.refuse(code, text, "scan", ICEBERG / name, *MAP, *options)
                    self.assertRegex(message, r"\.puffin")

    def test_every_unsupported_table_is_refused_by_name(self):
        for path in sorted(ICEBERG.glob("unsupported_*")):
            if path.suffix == ".expected":
                continue
            with self.subTest(path.name):
                message = self.refuse(5, "not supported", "scan", path, *MAP)
                self.assertRegex(message, r"\.(avro|orc)")

    def test_usage_is_2(self):
        table = ICEBERG / "mor_dv"
        cases = (
            ("scan",), ("nothing",), (), ("scan", table, "--nothing"), ("scan", table, "--limit", "x"),
            ("scan", table, "--format", "xml"), ("scan", table, "--snapshot", "1", "--ref", "main"),
            ("scan", table, "--as-of", "yesterday"), ("scan", table, "--select", "a,,b"),
            ("scan", table, "--select", '"a'), ("scan", table, "--map-location", "nothing"),
            ("scan", table, "--threads", "-1"), ("inspect", table, "nothing"), ("inspect", table, "dv"),
            ("inspect", table, "files", "x"), ("scan", table, *MAP, "--snapshot", "5"),
            ("scan", table, *MAP, "--ref", "nothing"), ("scan", table, *MAP, "--select", "nothing"),
            ("scan", table, *MAP, "--select", "id,id"), ("scan", table, *MAP, "--where", "id ="),
            ("scan", table, *MAP, "--where", "nothing = 1"), ("scan", table, *MAP, "--where", "id = 'x'"),
        )  # fmt: skip
        for arguments in cases:
            with self.subTest(arguments):
                self.refuse(2, "error: ", *arguments)

    def test_missing_storage_is_4(self):
        self.refuse(4, "not found", "scan", "/nothing/here")
        message = self.refuse(4, "not found", "scan", ICEBERG / "mor_dv")
        self.assertIn(f"--map-location /warehouse/mor_dv={ICEBERG / 'mor_dv'}", message)

    def test_refused_access_is_4(self):
        # The administrator may read everything: the program then runs as nobody.
        options = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            can_start = run("--version", **options).returncode == 0
        except PermissionError:
            can_start = False
        if not can_start:
            self.skipTest("nobody may not start the program here")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            table = Path(shutil.copytree(ICEBERG / "mor_dv", Path(folder) / "t"))
            (table / "metadata" / "version-hint.text").chmod(0)
            done = run("scan", table, **options)
            self.assertEqual((4, ""), (done.returncode, done.stdout), done.stderr)
            self.assertIn("error: permission denied", done.stderr)

    def test_broken_metadata_is_1(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(shutil.copytree(ICEBERG / "mor_dv", Path(folder) / "t"))
            version = (table / "metadata" / "version-hint.text").read_text().strip()
            file = table / "metadata" / f"v{version}.metadata.json"
            file.write_bytes(file.read_bytes()[:-10])
            self.refuse(1, file.name, "scan", table)

    def test_a_truncated_data_file_is_1(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(shutil.copytree(ICEBERG / "mor_dv", Path(folder) / "mor_dv"))
            file = sorted((table / "data").glob("*.parquet"))[0]
            file.write_bytes(file.read_bytes()[:-1000])
            # Rows of other files may have been printed before: the exit code says that they are not all.
            done = run("scan", table, "--map-location", f"/warehouse={folder}")
            self.assertEqual(1, done.returncode, done.stderr)
            self.assertIn(file.name, done.stderr)

    def test_json_errors_are_one_object(self):
        done = run("scan", ICEBERG / "invalid_dv_crc", *MAP, "--json")
        error = json.loads(done.stderr)["error"]
        self.assertEqual("corrupt", error["kind"])
        self.assertTrue(error["context"]["file"].endswith(".puffin"))
        for arguments in (("scan", ICEBERG / "mor_dv", "--as-of", "x", "--json"), ("scan", "/nothing", "--json"),
                          ("scan", ICEBERG / "mor_dv", "--json", "--format", "table")):  # fmt: skip
            self.assertIn("message", json.loads(run(*arguments).stderr)["error"])

    def test_a_dangling_vector_is_let_through_only_on_request(self):
        # A flag of a scan that has none changes nothing.
        table = ICEBERG / "mor_dv"
        plain = run("count", table, *MAP)
        self.assertEqual(plain.stdout, run("count", table, *MAP, "--allow-dangling-dvs").stdout)


class Endings(unittest.TestCase):
    def test_a_reader_that_goes_away_ends_the_program_quietly(self):
        scan = [CLI, "scan", str(ICEBERG / "mor_dv"), *MAP]
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            done = subprocess.run(scan, stdout=pipe, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((4, b""), (done.returncode, done.stderr))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CLI, "scan", str(ICEBERG / "mor_dv"), *MAP], stdout=full, stderr=subprocess.PIPE,
                                  timeout=60)  # fmt: skip
        self.assertEqual(4, done.returncode)
        self.assertIn(b"error: i/o", done.stderr.lower())

    def blocked_scan(self):
        """A scan whose output fills a pipe that nobody reads."""
        read_end, write_end = os.pipe()
        rows = ["scan", str(ICEBERG / "mor_mrg_dv"), *MAP]
        program = subprocess.Popen([CLI, *rows], stdout=write_end, stderr=subprocess.PIPE)
        os.close(write_end)
        self.addCleanup(os.close, read_end)
        # Wait until the pipe is full: no more bytes come.
        available, before = -1, -2
        for _ in range(300):
            time.sleep(0.1)
            before, available = available, struct.unpack("i", fcntl.ioctl(read_end, termios.FIONREAD, b"\0" * 4))[0]
            if available > 0 and available == before:
                break
        self.assertIsNone(program.poll())
        return program

    def test_ctrl_c_cancels_with_130(self):
        program = self.blocked_scan()
        program.send_signal(signal.SIGINT)
        _, message = program.communicate(timeout=60)
        self.assertEqual(130, program.returncode, message)
        self.assertIn(b"error: cancelled", message)

    def test_sigterm_cancels_too(self):
        program = self.blocked_scan()
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=60)
        self.assertEqual(130, program.returncode)


if __name__ == "__main__":
    unittest.main()

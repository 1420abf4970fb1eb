"""Which files a scan opens, as the operating system sees it."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import CLI, ICEBERG, MAP, run


@unittest.skipIf(shutil.which("strace") is None, "strace is not installed")
class Opens(unittest.TestCase):
    def opened(self, table: Path, *arguments) -> list[str]:
        """The files of the table that were opened, in order, each as often as it was."""
        with tempfile.NamedTemporaryFile("r") as trace:
            command = ["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", trace.name, CLI, *map(str, arguments)]
            environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
            self.assertEqual(0, done.returncode, done.stderr)
            lines = trace.read().splitlines()
        # Calls that are split in two by other threads have their path in the first half.
        paths = [match[1] for line in lines if (match := re.search(r'open(?:at2?)?\(.*?"([^"]*)"', line))]
        return [path for path in paths if path.startswith(f"{table}/")]

    def test_a_snapshot_without_deletes_opens_metadata_list_manifests_and_data_files_only(self):
        table = ICEBERG / "mor_dv"
        snapshot = json.loads(run("inspect", table, "--json").stdout)["snapshots"][3]
        at = ["--snapshot", snapshot["snapshot-id"]]
        plan = json.loads(run("plan", table, *MAP, *at, "--json").stdout)
        self.assertEqual((0, 4), (plan["metrics"]["deleteManifests"], plan["metrics"]["dataManifests"]))
        opened = self.opened(table, "scan", table, *MAP, *at)
        self.assertEqual(len(opened), len(set(opened)), "a file was opened twice")
        names = [Path(path).name for path in opened]
        self.assertEqual({Path(f["path"]).name for f in plan["dataFiles"]}, {n for n in names if n.endswith(".parquet")})
        self.assertEqual(1, sum(name.startswith("snap-") for name in names))
        self.assertEqual(4, sum(name.endswith(".avro") and not name.startswith("snap-") for name in names))
        rest = [name for name in names if not name.endswith((".avro", ".parquet"))]
        self.assertEqual(["version-hint.text", "metadata.json"], [re.sub(r"^v\d+\.", "", name) for name in rest])

    def test_vectors_of_one_puffin_file_are_read_with_one_open(self):
        table = ICEBERG / "mor_dv_partitioned"
        deletes = json.loads(run("plan", table, *MAP, "--json").stdout)["deleteFiles"]
        opened = [path for path in self.opened(table, "scan", table, *MAP) if path.endswith(".puffin")]
        self.assertEqual(sorted({Path(d["path"]).name for d in deletes}), sorted(Path(path).name for path in opened))
        self.assertLess(len(opened), len(deletes))

    def test_a_count_with_vectors_opens_neither_data_nor_puffin_files(self):
        table = ICEBERG / "mor_dv"
        opened = self.opened(table, "count", table, *MAP)
        self.assertEqual([], [path for path in opened if path.endswith((".parquet", ".puffin"))])


if __name__ == "__main__":
    if shutil.which("strace") is None:
        print("requests_test is skipped: strace is not installed")
    unittest.main()

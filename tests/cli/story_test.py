"""The life of a table that the examples tell ends with the rows that Spark reads from it."""

import os
import subprocess
import unittest
from pathlib import Path

from program import CLI, ICEBERG

SOURCE = Path(os.environ.get("DELENDA_SOURCE_DIR", ICEBERG.parents[2]))


class Story(unittest.TestCase):
    def test_every_command_succeeds_and_the_rows_are_those_of_spark(self):
        done = subprocess.run([SOURCE / "examples/story.sh", CLI], capture_output=True, text=True, timeout=120)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        self.assertIn("RIGHT: 39 rows", done.stdout)
        self.assertIn("upserted 10 rows: 6 updated, 2 inserted, 2 deleted", done.stdout)
        self.assertIn("no findings", done.stdout)


if __name__ == "__main__":
    unittest.main()

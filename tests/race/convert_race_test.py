"""Short races of conversions on each kind of catalog; `make races` runs the long ones."""

import os
import unittest

from convert_race import options_of, race

SECONDS = 5


class ConvertRaces(unittest.TestCase):
    def race(self, *arguments):
        report = race(os.environ["DELENDA_CLI"], options_of(["--seconds", str(SECONDS), *arguments]))
        print(report)
        self.assertGreater(report["quiet"]["killed"].get("convert", 0), 0)

    def test_a_folder(self):
        self.race("--catalog", "folder")

    def test_an_sql_catalog_and_partitions(self):
        self.race("--catalog", "sqlite", "--partitioned")


if __name__ == "__main__":
    unittest.main()

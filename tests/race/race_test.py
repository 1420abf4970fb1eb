"""Short races on each kind of catalog; `make races` runs the long ones."""

import os
import unittest

from race import options_of, race

# Merges that a run of 60 seconds must have had are 100; the seconds are shared with the other tests here.
SECONDS = 10
LEAST_MERGES = 8


class Races(unittest.TestCase):
    def race(self, *arguments):
        report = race(os.environ["DELENDA_CLI"], options_of(["--seconds", str(SECONDS), *arguments]))
        print(report)
        return report

    def test_a_folder(self):
        self.race("--catalog", "folder", "--least-merges", str(LEAST_MERGES))

    def test_an_sql_catalog(self):
        self.race("--catalog", "sqlite", "--least-merges", str(LEAST_MERGES))

    def test_killed_in_a_folder(self):
        self.assertGreater(self.race("--catalog", "folder", "--least-merges", "1", "--kill")["killed"], 0)

    def test_killed_with_an_sql_catalog(self):
        self.assertGreater(self.race("--catalog", "sqlite", "--least-merges", "1", "--kill")["killed"], 0)


if __name__ == "__main__":
    unittest.main()

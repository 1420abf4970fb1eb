"""Tables by their name in a catalog."""

import os
import tempfile
import unittest
from pathlib import Path

from program import ICEBERG, MAP, bag, expected, read_lines, run, scan

DATABASE = ICEBERG / "sqlcatalog.db"


class Catalogs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.config = self.folder / "catalogs.toml"
        self.config.write_text(
            f'[catalog.fixtures]\nuri = "sqlite:///{DATABASE}"\n[catalog.dirs]\nwarehouse = "{ICEBERG.parent}"\n'
        )
        # Nothing of the person who runs the tests.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("DELENDA_CATALOG", "DELENDA_CONFIG"))}
        self.environment["HOME"] = str(self.folder)

    def count(self, table, *arguments, **environment):
        return run("count", table, *MAP, *arguments, env={**self.environment, **environment}, cwd=self.folder)

    def test_tables_of_a_database_are_read_by_name(self):
        for name, table in (("db.pyiceberg_v2", "pyiceberg_v2"), ("db.nested.pyiceberg_part", "pyiceberg_part"),
                            ("db.mor_dv", "mor_dv")):  # fmt: skip
            found = scan(f"fixtures.{name}", "--config", self.config)
            self.assertEqual(bag(read_lines(expected(ICEBERG / table) / "current.jsonl")), bag(found), name)

    def test_tables_of_a_folder_are_read_by_name(self):
        self.assertEqual("702\n", self.count("dirs.iceberg.mor_dv", "--config", self.config).stdout)

    def test_the_configuration_is_found_in_each_place(self):
        self.assertEqual("702\n", self.count("fixtures.db.mor_dv", DELENDA_CONFIG=str(self.config)).stdout)
        self.config.rename(self.folder / ".delenda.toml")
        self.assertEqual("702\n", self.count("fixtures.db.mor_dv").stdout)
        variables = {"DELENDA_CATALOG__MINE__URI": f"sqlite:///{DATABASE}", "DELENDA_CATALOG__MINE__CATALOG_NAME": "fixtures"}
        self.assertEqual("702\n", self.count("mine.db.mor_dv", **variables).stdout)

    def test_a_folder_of_that_name_goes_first(self):
        (self.folder / "dirs.iceberg.mor_dv").symlink_to(ICEBERG / "pyiceberg_v2")
        self.assertEqual("85\n", self.count("dirs.iceberg.mor_dv", "--config", self.config).stdout)

    def test_what_is_missing_is_named_with_the_places(self):
        for table, arguments, code, texts in (
            ("nothing.db.t", (), 4, ("no catalog 'nothing'", "none is configured", ".delenda.toml", "DELENDA_CATALOG__")),
            ("nothing.db.t", ("--config", self.config), 4, ("dirs, fixtures", "catalogs.toml")),
            ("fixtures.db.t", ("--config", self.config), 4, ("no table db.t", "sqlcatalog.db")),
            ("dirs.db.t", ("--config", self.config), 4, ("/fixtures/db/t",)),
            ("fixtures.db.t", ("--config", self.folder / "none.toml"), 4, ("none.toml",)),
        ):
            done = self.count(table, *arguments)
            self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
            for text in texts:
                self.assertIn(text, done.stderr)
        self.config.write_text("[catalog.a]\nuri = \n")
        done = self.count("a.db.t", "--config", self.config)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn("line 2", done.stderr)


if __name__ == "__main__":
    unittest.main()

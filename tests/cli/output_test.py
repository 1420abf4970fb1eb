"""What is printed where: formats, tables on a terminal, JSON values, --stats, help."""

import json
import os
import subprocess
import unittest

from program import CLI, ICEBERG, MAP, read_terminal, run, scan, terminal

TABLE = ICEBERG / "mor_dv"


def on_terminal(*arguments, columns=100) -> tuple[str, str]:
    """Standard output and error of a run with a terminal as its standard output."""
    ours, theirs = terminal(columns)
    program = subprocess.Popen([CLI, *map(str, arguments)], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    text = read_terminal(ours)
    _, errors = program.communicate(timeout=60)
    return text.replace("\r\n", "\n"), errors.decode()


class Help(unittest.TestCase):
    def test_every_command_has_help_with_examples(self):
        for command in ((), ("scan",), ("count",), ("plan",), ("inspect",)):
            done = run(*command, "--help")
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            self.assertIn("Examples:\n  delenda ", done.stdout)
        self.assertIn("Exit codes:", run("--help").stdout)

    def test_the_version_is_three_numbers(self):
        self.assertRegex(run("--version").stdout, r"^delenda \d+\.\d+\.\d+\n$")


class JsonLines(unittest.TestCase):
    def test_a_line_is_what_the_documentation_says(self):
        done = run("scan", TABLE, *MAP, "--where", "id = 1", "--select", "id,b,f,dec38,dt,ts,tstz,bin,st,li,m")
        wanted = (
            '{"id": 1, "b": true, "f": 0.125, "dec38": "1234567890123456789012345677.0123456790", "dt": "1969-12-02", '
            '"ts": "1970-01-01T23:59:50.123458", "tstz": "2023-11-14T22:33:54.567891Z", "bin": "010001", '
            '"st": {"a": 1, "b": "n1", "c": {"x": 0.25}}, "li": [1, null, -1], "m": [["k", 1], ["k1x", null]]}\n'
        )
        self.assertEqual(wanted, done.stdout)

    def test_pipes_get_json_lines_and_json_means_the_same(self):
        plain = run("scan", TABLE, *MAP, "--ordered").stdout
        self.assertEqual(702, len(plain.splitlines()))
        for options in (("--format", "jsonl"), ("--json",)):
            self.assertEqual(plain, run("scan", TABLE, *MAP, "--ordered", *options).stdout)

    def test_metadata_columns_come_last_or_where_they_are_selected(self):
        self.assertEqual(["id", "_file", "_pos"], list(scan(TABLE, "--select", "id", "--with-metadata")[0]))
        self.assertEqual(["_pos", "s"], list(scan(TABLE, "--select", "_pos,s")[0]))

    def test_names_with_special_characters_are_quoted(self):
        table = ICEBERG / "names"
        for names in ('"a/b=c %20 ü",`sp ace`', "a/b=c %20 ü, sp ace"):
            self.assertEqual(["a/b=c %20 ü", "sp ace"], list(scan(table, "--select", names, "--limit", "1")[0]))

    def test_a_limit_counts_live_rows(self):
        for limit in (0, 1, 57, 702, 1000):
            self.assertEqual(min(limit, 702), len(scan(TABLE, "--limit", limit)))


class Tables(unittest.TestCase):
    def test_columns_are_aligned_and_rows_are_counted(self):
        done = run("scan", TABLE, *MAP, "--where", "id in (1, 2)", "--select", "id,s,d", "--format", "table")
        wanted = (
            "id  s                          d\n"
            "--  --------  ------------------\n"
            " 1  row-1-b                  1.0\n"
            " 2  row-2-cc  1.4142135623730951\n"
            "(2 rows)\n"
        )
        self.assertEqual(wanted, done.stdout)

    def test_a_terminal_gets_a_table_that_fits(self):
        text, errors = on_terminal("scan", TABLE, *MAP, "--select", "id,s,ts,tstz,st,_file", "--limit", "5", columns=70)
        lines = text.splitlines()
        self.assertEqual("", errors)
        self.assertEqual(8, len(lines))
        self.assertEqual("(5 rows)", lines[-1])
        self.assertLessEqual(max(map(len, lines)), 70)
        self.assertIn("…", text)

    def test_control_characters_do_not_reach_the_terminal(self):
        text, _ = on_terminal("scan", ICEBERG / "names", *MAP)
        self.assertNotRegex(text.replace("\n", ""), "[\x00-\x1f]")

    def test_inspect_and_plan_show_tables(self):
        for arguments, words in (
            (("inspect", TABLE), ("snapshot", "9 snapshots")),
            (("inspect", TABLE, "files"), ("data file", "5 data files, 1000 rows, 298 deleted: 29.8 %")),
            (("inspect", TABLE, "deletes"), ("deletes from", "4 deletion vectors")),
            (("inspect", TABLE, "refs"), ("name", "main")),
            (("inspect", TABLE, "history"), ("current from", "Z")),
            (("plan", TABLE), ("data file", "5 tasks, 4 deletes")),
        ):
            text, errors = on_terminal(*arguments, *MAP, columns=180)
            self.assertEqual("", errors)
            for word in words:
                self.assertIn(word, text)


class Stats(unittest.TestCase):
    def test_stats_go_to_standard_error(self):
        plain, told = run("scan", TABLE, *MAP, "--ordered"), run("scan", TABLE, *MAP, "--ordered", "--stats")
        self.assertEqual(plain.stdout, told.stdout)
        self.assertEqual("", plain.stderr)
        stats = dict(line.split(": ") for line in told.stderr.splitlines())
        self.assertEqual(("702", "5", "4"), (stats["rows"], stats["data-files"], stats["deletes"]))
        self.assertGreater(int(stats["bytes-read"]), 0)

    def test_stats_as_json(self):
        done = run("count", TABLE, *MAP, "--stats", "--json")
        self.assertEqual(702, json.loads(done.stdout)["rows"])
        self.assertEqual(702, json.loads(done.stderr)["stats"]["rows"])

    def test_a_count_with_vectors_only_opens_no_data_file(self):
        count = json.loads(run("count", TABLE, *MAP, "--json").stdout)
        self.assertEqual((5, 0), (count["data-files-by-metadata"], count["data-files-read"]))


if __name__ == "__main__":
    unittest.main()

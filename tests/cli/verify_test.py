"""delenda verify: exit codes, text for people, JSON for programs."""

import json
import os
import subprocess
import unittest

from program import CLI, ICEBERG, MAP, read_terminal, run, terminal

EDITED = ICEBERG.parent / "edited"
MAPS = [*MAP, "--map-location", f"/warehouse-edited={EDITED}"]


def on_terminal(*arguments, columns=120):
    """Exit code and text as a terminal shows it."""
    ours, theirs = terminal(columns)
    program = subprocess.Popen([CLI, *map(str, arguments)], stdout=theirs, stderr=theirs, env={**os.environ, "LC_ALL": "C.UTF-8"})  # fmt: skip
    os.close(theirs)
    text = read_terminal(ours).replace("\r\n", "\n")
    return program.wait(timeout=60), text


class Verify(unittest.TestCase):
    def test_a_whole_table_is_0(self):
        for options in ((), ("--deep",), ("--deep", "--all-snapshots"), ("--ref", "main")):
            with self.subTest(options):
                done = run("verify", ICEBERG / "mor_dv", *MAPS, *options)
                self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))

    def test_a_terminal_gets_one_line_about_a_whole_table(self):
        code, text = on_terminal("verify", ICEBERG / "mor_dv", *MAPS, "--deep")
        self.assertEqual((0, "5 data files, 4 deletion vectors checked: no findings\n"), (code, text))

    def test_findings_are_1_and_a_table_on_a_terminal(self):
        code, text = on_terminal("verify", EDITED / "dv_older_than_file", *MAPS)
        self.assertEqual(1, code)
        lines = text.splitlines()
        self.assertEqual(["severity", "check", "where", "what"], lines[0].split())
        self.assertEqual(["error", "dv-unmatched"], lines[2].split()[:2])
        full = text[text.index("\ndv-unmatched\n") :]
        self.assertIn("is newer or in another partition\n  effect: rows that were deleted come back", " ".join(full.split("which ")))
        self.assertTrue(lines[-1].endswith("checked: 1 error, 0 warnings"), lines[-1])
        self.assertTrue(all(len(line) <= 120 for line in lines[:3]))

    def test_a_pipe_gets_a_line_of_json_for_each_finding(self):
        done = run("verify", ICEBERG / "invalid_dv_cardinality", *MAPS, "--deep")
        self.assertEqual(1, done.returncode, done.stderr)
        findings = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(["puffin-footer", "dv-cardinality"], [finding["check"] for finding in findings])
        for finding in findings:
            self.assertEqual("error", finding["severity"])
            self.assertTrue(finding["place"].endswith(".puffin"))
            self.assertIsInstance(finding["snapshot-id"], int)
            self.assertTrue(finding["what"] and finding["effect"] and finding["remedy"])

    def test_json_is_one_document_with_totals(self):
        done = run("verify", ICEBERG / "mor_mixed", *MAPS, "--json", "--deep", "--all-snapshots")
        self.assertEqual(0, done.returncode, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual([], document["findings"])
        self.assertEqual((True, 9, 0, 0), tuple(document[key] for key in ("deep", "snapshots", "errors", "warnings")))
        self.assertGreater(document["delete-files"], 0)
        self.assertGreater(document["deletion-vectors"], 0)

    def test_warnings_count_unless_only_errors_are_asked_for(self):
        done = run("verify", ICEBERG / "upsert_v3", *MAPS)
        self.assertEqual(1, done.returncode)
        self.assertEqual({"warning"}, {json.loads(line)["severity"] for line in done.stdout.splitlines()})
        done = run("verify", ICEBERG / "upsert_v3", *MAPS, "--errors-only")
        self.assertEqual((0, ""), (done.returncode, done.stdout))

    def test_what_cannot_be_looked_at_is_an_error_not_a_finding(self):
        for expected, arguments in (
            (1, (EDITED / "metadata_truncated", *MAPS)),
            (2, (ICEBERG / "mor_dv", *MAPS, "--ref", "nothing")),
            (2, (ICEBERG / "mor_dv", *MAPS, "--all-snapshots", "--ref", "main")),
            (2, (ICEBERG / "mor_dv", *MAPS, "--where", "id = 1")),
            (4, ("/nothing/here",)),
            (5, (EDITED / "format_version_4", *MAPS)),
        ):
            with self.subTest(arguments):
                done = run("verify", *arguments)
                self.assertEqual((expected, ""), (done.returncode, done.stdout))
                self.assertIn("error: ", done.stderr)

    def test_files_without_field_ids_are_read_by_the_name_mapping(self):
        done = run("verify", ICEBERG / "imported", *MAPS, "--deep")
        self.assertNotIn("file-schema", done.stdout)

    def test_without_deep_a_broken_vector_is_not_seen(self):
        self.assertEqual(0, run("verify", ICEBERG / "invalid_dv_crc", *MAPS).returncode)
        self.assertEqual(1, run("verify", ICEBERG / "invalid_dv_crc", *MAPS, "--deep").returncode)


if __name__ == "__main__":
    unittest.main()

"""The commands in docs/guide print what the pages say they print."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import CLI, ICEBERG, read_terminal, terminal

SOURCE = Path(os.environ.get("DELENDA_SOURCE_DIR", ICEBERG.parents[2]))
COLUMNS = 118


# The configuration of the page on catalogs.
CONFIG = """CONFIG=$(mktemp); trap 'rm -f "$CONFIG"' EXIT
echo '[catalog.prod]
uri = "sqlite:///sqlcatalog.db"
catalog-name = "fixtures"' > "$CONFIG"
"""


def printed(command: str, folder: Path) -> str:
    """What a terminal of the width of the pages shows."""
    ours, theirs = terminal(COLUMNS)
    script = CONFIG + "delenda() { \"$DELENDA_CLI\" \"$@\"; }; MAP='--map-location /warehouse=.'\n" + command
    program = subprocess.Popen(["bash", "-c", script], stdout=theirs, stderr=theirs, cwd=folder,
                               env={**os.environ, "DELENDA_CLI": CLI, "LC_ALL": "C.UTF-8"})  # fmt: skip
    os.close(theirs)
    text = read_terminal(ours)
    program.wait(timeout=60)
    # CSV has CR LF of its own, to which the terminal adds one more CR.
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n")


def without_times(text: str) -> str:
    return re.sub(r"(?m)^seconds: .*$", "seconds: N", text)


def without_ids(text: str) -> str:
    return re.sub(r"snapshot \d+", "snapshot N", re.sub(r"[\d.]+ kB", "N kB", text))


def without_ends(text: str) -> str:
    """Pages have no blanks at the ends of lines."""
    return re.sub(r" +\n", "\n", text)


class Guide(unittest.TestCase):
    def test_commands_print_what_the_pages_say(self):
        for page, folder, count in (("reading.md", ICEBERG, 11), ("catalogs.md", ICEBERG, 2), ("exit-codes.md", SOURCE, 1),
                                    ("changes.md", ICEBERG, 5), ("verify.md", ICEBERG, 3)):
            blocks = re.findall(r"```\n\$ (delenda .*)\n((?:.*\n)*?)```", (SOURCE / "docs/guide" / page).read_text())
            self.assertEqual(count, len(blocks), page)
            for command, wanted in blocks:
                with self.subTest(page, command=command):
                    self.assertEqual(without_times(wanted), without_times(printed(command, folder)))

    def test_commands_that_change_a_table_do_what_the_page_says(self):
        for page, count in (("writing.md", 6), ("tables.md", 4), ("upsert.md", 8), ("convert.md", 2)):
            blocks = re.findall(r"```\n\$ (delenda .*)\n((?:.*\n)*?)```", (SOURCE / "docs/guide" / page).read_text())
            self.assertEqual(count, len(blocks), page)
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name).resolve()
                shutil.copytree(ICEBERG / "mor_dv", folder / "mor_dv")
                shutil.copytree(ICEBERG / "mor_pos_v2_file", folder / "old")
                shutil.copytree(ICEBERG / "upsert_v3", folder / "upsert_v3")
                for command, wanted in blocks:
                    with self.subTest(page, command=command):
                        told = without_ids(printed(command, folder)).replace(str(folder), "FOLDER")
                        self.assertEqual(without_ends(wanted), without_ends(told))


if __name__ == "__main__":
    unittest.main()

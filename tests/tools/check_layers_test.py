"""Plants one breach per rule into a small sound tree and asserts that the checkers find it, by its rule."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("DELENDA_SOURCE_DIR", Path(__file__).resolve().parents[2]))

LAYERS = """
max_public_headers = 2
forbidden_names = ["util", "helpers", "common"]
everywhere = ["fmt/"]

[layers.base]
level = 0
sees = []
public = ["result.h"]

[layers.io]
level = 1
sees = ["base"]
third_party_files = { "s3*" = ["arrow/"] }

[layers."formats/positions"]
level = 2
sees = ["base"]
third_party = ["roaring/"]

[layers."formats/avro"]
level = 2
sees = ["base", "io"]

[layers.plan]
level = 5
sees = ["base", "io", "formats/avro"]

[layers.api]
level = 10
sees = ["base", "io", "formats/positions", "formats/avro", "plan"]
public = ["*"]

[programs."apps/cli"]
third_party = ["CLI/"]
"""

CMAKE = """
delenda_layer(base)
delenda_layer(io DEPS base THIRD_PARTY Some::library)
delenda_layer(formats/positions DEPS base)  # delenda_layer(commented DEPS out)
set(formats formats/avro)
delenda_layer(formats/avro DEPS base io)
delenda_layer(plan ARROW DEPS base io ${formats} THIRD_PARTY Other::library)
delenda_layer(api DEPS base io formats/positions ${formats} plan)
"""

SOUND = {
    "tools/layers.toml": LAYERS,
    "src/CMakeLists.txt": CMAKE,
    "include/delenda/result.h": "#include <string>\n",
    "include/delenda/table.h": '#include <memory>\n#include "delenda/result.h"\n',
    "src/delenda/base/bytes.h": '#include <fmt/format.h>\n#include <unistd.h>\n#include "delenda/result.h"\n',
    "src/delenda/io/file.h": '#include "delenda/base/bytes.h"\n#include <sys/stat.h>\n',
    "src/delenda/io/s3_file.cc": "#include <arrow/api.h>\n",
    "src/delenda/formats/positions/set.cc": '#include <roaring/roaring.h>\n#include "delenda/base/bytes.h"\n',
    "src/delenda/formats/avro/reader.h": '#include "delenda/io/file.h"\n',
    "src/delenda/formats/avro/deep/er.cc": '#include "delenda/formats/avro/reader.h"\n',
    "src/delenda/plan/index.cc": '#include "delenda/formats/avro/reader.h"\n',
    "src/delenda/api/table.cc": '#include "delenda/table.h"\n#include "delenda/io/file.h"\n',
    "apps/cli/main.cc": '#include "delenda/table.h"\n#include <CLI/CLI.hpp>\n#include "cli/print.h"\n',
}

EXCEPTION = '\n[[exceptions]]\nfile = "src/delenda/base/bytes.h"\ninclude = "delenda/io/file.h"\n'
UPWARD = '#include <string>\n#include "delenda/io/file.h"\n'

# rule -> what is planted (path -> text), and how the line must begin
PLANTED = {
    "level": (
        {"src/delenda/formats/positions/x.cc": '#include <set>\n#include "delenda/plan/index.h"\n', "src/delenda/plan/index.h": "\n"},
        "src/delenda/formats/positions/x.cc:2: formats/positions (L2) -> plan (L5)",
    ),
    "same-level": (
        {"src/delenda/formats/avro/x.cc": '#include "delenda/formats/positions/set.h"\n',
         "src/delenda/formats/positions/set.h": "\n"},
        "src/delenda/formats/avro/x.cc:1: formats/avro (L2) -> formats/positions (L2)",
    ),
    "not-visible": (
        {"src/delenda/plan/x.cc": '#include "delenda/formats/positions/set.h"\n',
         "src/delenda/formats/positions/set.h": "\n"},
        "src/delenda/plan/x.cc:1: plan (L5) -> formats/positions (L2)",
    ),
    "unknown-folder": ({"src/delenda/io/x.cc": '#include "delenda/other/y.h"\n'}, "src/delenda/io/x.cc:1: io -> delenda/other/y.h"),
    "cycle": (
        {"src/delenda/io/a.h": '#include "delenda/io/b.h"\n', "src/delenda/io/b.h": '\n#include "delenda/io/a.h"\n'},
        "src/delenda/io/b.h:2: src/delenda/io/a.h -> src/delenda/io/b.h -> src/delenda/io/a.h",
    ),
    "missing": ({"src/delenda/io/x.cc": '#include "delenda/base/gone.h"\n'}, "src/delenda/io/x.cc:1: io -> delenda/base/gone.h"),
    "third-party": ({"src/delenda/io/x.cc": "#include <arrow/api.h>\n"}, "src/delenda/io/x.cc:1: io -> <arrow/api.h>"),
    "private": ({"apps/cli/x.cc": '#include "delenda/base/bytes.h"\n'}, "apps/cli/x.cc:1: apps/cli -> delenda/base/bytes.h"),
    "public-below": ({"src/delenda/io/x.cc": '#include "delenda/table.h"\n'}, "src/delenda/io/x.cc:1: io -> delenda/table.h"),
    "public-third-party": ({"include/delenda/table.h": "#include <fmt/format.h>\n"}, "include/delenda/table.h:1: public -> <fmt/format.h>"),
    "public-count": ({"include/delenda/third.h": "\n"}, "include/delenda:1: 3 public headers, 2 allowed"),
    "forbidden-name": ({"src/delenda/io/string_helpers.h": "\n"}, "src/delenda/io/string_helpers.h:1: string_helpers"),
    "orphan": ({"src/delenda/lost/x.h": "\n"}, "src/delenda/lost/x.h:1: src/delenda/lost/x.h"),
    "cmake": (
        {"src/CMakeLists.txt": CMAKE.replace("positions DEPS base)", "positions DEPS base io)")},
        "src/CMakeLists.txt:4: formats/positions links io, which it does not see",
    ),
    "levels": (
        {"tools/layers.toml": LAYERS.replace('sees = ["base", "io", "formats/avro"]', 'sees = ["base", "io", "formats/avro", "api"]'),
         "src/CMakeLists.txt": CMAKE.replace("plan ARROW DEPS", "plan ARROW DEPS api")},
        "tools/layers.toml:1: plan -> api",
    ),
    "exception": (
        {"tools/layers.toml": LAYERS + EXCEPTION, "src/delenda/base/bytes.h": UPWARD},
        "tools/layers.toml:1: src/delenda/base/bytes.h -> delenda/io/file.h: no reason given",
    ),
}  # fmt: skip


def run_tool(tool: str, *parts: dict[str, str]) -> tuple[int, list[str]]:
    """Exit code and lines of a checker over a tree of the given files; later parts replace files of earlier ones."""
    with tempfile.TemporaryDirectory() as scratch:
        for part in parts:
            for name, text in part.items():
                path = Path(scratch) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", SOURCE / "tools" / tool, scratch], capture_output=True, text=True, check=False
        )
    return done.returncode, done.stdout.splitlines()


class CheckLayersTest(unittest.TestCase):
    def test_a_sound_tree_passes(self):
        self.assertEqual(run_tool("check_layers.py", SOUND), (0, []))

    def test_every_planted_breach_is_found_by_its_rule(self):
        for rule, (planted, line) in PLANTED.items():
            with self.subTest(rule=rule):
                code, lines = run_tool("check_layers.py", SOUND, planted)
                self.assertEqual(code, 1)
                self.assertEqual([text for text in lines if text.endswith(f" [{rule}]")], [f"{line} [{rule}]"])

    def test_a_planted_breach_breaks_no_other_rule(self):
        for rule, (planted, _) in PLANTED.items():
            # A cycle between folders needs an exception, and a public header may not grow a second fault.
            with self.subTest(rule=rule):
                _, lines = run_tool("check_layers.py", SOUND, planted)
                expected = {rule} if rule != "exception" else {"exception", "cycle"}
                self.assertEqual({text.rsplit("[", 1)[1].rstrip("]") for text in lines}, expected)

    def test_every_rule_of_the_checker_has_a_planted_breach(self):
        source = (SOURCE / "tools/check_layers.py").read_text(encoding="utf-8")
        documented = {line.split()[0] for line in source.split('"""')[1].splitlines() if line.startswith("  ")}
        documented -= {"so", "reason"}
        self.assertEqual(documented, set(PLANTED))

    def test_an_exception_with_a_reason_is_accepted(self):
        layers = LAYERS + '[[exceptions]]\nfile = "src/delenda/io/x.cc"\ninclude = "arrow/api.h"\nreason = "measured"\n'
        planted = {"tools/layers.toml": layers, "src/delenda/io/x.cc": "#include <arrow/api.h>\n"}
        self.assertEqual(run_tool("check_layers.py", SOUND, planted), (0, []))

    def test_an_exception_that_nothing_needs_is_reported(self):
        layers = LAYERS + '[[exceptions]]\nfile = "src/delenda/io/x.cc"\ninclude = "arrow/api.h"\nreason = "measured"\n'
        code, lines = run_tool("check_layers.py", SOUND, {"tools/layers.toml": layers})
        self.assertEqual((code, len(lines)), (1, 1))
        self.assertIn("nothing needs it [exception]", lines[0])

    def test_exceptions_cannot_hide_a_cycle_of_folders(self):
        layers = LAYERS + EXCEPTION + 'reason = "tempting"\n'
        code, lines = run_tool("check_layers.py", SOUND, {"tools/layers.toml": layers, "src/delenda/base/bytes.h": UPWARD})
        self.assertEqual(code, 1)
        self.assertTrue(any(line.endswith("[cycle]") for line in lines), lines)


class CheckSizesTest(unittest.TestCase):
    def test_limits(self):
        cases = [
            ("src/a.cc", 600, 0, ""),
            ("src/a.cc", 601, 0, "warning: src/a.cc:1: 601 lines"),
            ("src/a.cc", 900, 0, "warning: src/a.cc:1: 900 lines"),
            ("src/a.cc", 901, 1, "src/a.cc:1: 901 lines, 900 allowed"),
            ("tests/a_test.py", 900, 0, ""),
            ("tests/a_test.py", 1201, 1, "tests/a_test.py:1: 1201 lines, 1200 allowed"),
            ("tests/fixtures/make/big.py", 5000, 0, ""),
            ("docs/long.md", 5000, 0, ""),
        ]
        for name, lines, code, text in cases:
            with self.subTest(name=name, lines=lines):
                found_code, found = run_tool("check_sizes.py", {name: "x\n" * lines})
                self.assertEqual(found_code, code)
                self.assertTrue("\n".join(found).startswith(text) and bool(found) == bool(text), found)


class CheckTextTest(unittest.TestCase):
    def test_forbidden_text(self):
        # In parts: this file is checked too.
        cases = [
            ("a path /wo" + "rk/main/x", "machine path"),
            ("home is /ro" + "ot/.cache", "machine path"),
            ("https://pypi" + ".org/simple", "registry host"),
            ("// TO" + "DO: later", "note of work to do"),
            ("see include/wo" + "rk/x.h", None),
            ("a wo" + "rk/ folder", None),
            ("/warehouse/table", None),
            ("allowed /ro" + "ot/x  # check_text: allow", None),
        ]
        for line, rule in cases:
            with self.subTest(line=line):
                code, found = run_tool("check_text.py", {"docs/page.md": f"first\n{line}\n"})
                self.assertEqual(code, 0 if rule is None else 1)
                self.assertEqual(len(found), 0 if rule is None else 1)
                if rule is not None:
                    self.assertTrue(found[0].startswith("docs/page.md:2: ") and found[0].endswith(f"[{rule}]"), found)

    def test_loops_over_temporaries(self):
        cases = [
            ("for (const Row& row : DELENDA_TRY(Open(path))->rows()) Use(row);", True),
            ("for (const auto& [id, spec] : DELENDA_TRY(Load()).specs) Use(spec);", True),
            ("for (const Row& row : *DELENDA_TRY(Load())) Use(row);", True),
            ("for (const Row& row : (*DELENDA_TRY(Load())).rows) Use(row);", True),
            ("for (const Row& row : DELENDA_TRY(Load())[0]) Use(row);", True),
            ("for (const Row& row :\n     DELENDA_TRY(Load(First(a), b))\n         ->rows()) Use(row);", True),
            ("for (const Row& row : DELENDA_TRY(Load(file->rows()))) Use(row);", False),
            ("const auto file = DELENDA_TRY(Open());\nfor (const Row& row : file->rows()) Use(row);", False),
            ("for (auto batch = DELENDA_TRY(Next()).rows; batch; batch = DELENDA_TRY(Next()).rows) Use(batch);", False),
        ]
        for text, is_breach in cases:
            with self.subTest(text=text):
                code, found = run_tool("check_text.py", {"src/a.cc": f"\n{text}\n"})
                self.assertEqual((code, found), (1, ["src/a.cc:2: a loop over a temporary"]) if is_breach else (0, []))


if __name__ == "__main__":
    unittest.main()

"""changes --follow: every snapshot's changes once and whole, whatever kills the program in between."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from program import CLI, ICEBERG, MAP, run


class GrowingTable:
    """A copy of a table's metadata that shows its versions one after the other, as commits would."""

    def __init__(self, folder: Path, name: str, first: int):
        self.source = ICEBERG / name / "metadata"
        self.path = folder / name
        (self.path / "metadata").mkdir(parents=True)
        self.last = max(int(file.name[1:].split(".")[0]) for file in self.source.glob("v*.metadata.json"))
        self.version = first - 1
        for _ in range(first - self.version):
            self.grow()

    def grow(self):
        self.version += 1
        name = f"v{self.version}.metadata.json"
        target = self.path / "metadata"
        shutil.copy(self.source / name, target / (name + ".new"))
        os.rename(target / (name + ".new"), target / name)
        (target / "hint.new").write_text(str(self.version))
        os.rename(target / "hint.new", target / "version-hint.text")


class Follow(unittest.TestCase):
    # Snapshots of cl_rollback_expired. The manifests of the first are gone.
    FIRST, SECOND = 4745299944738739082, 3361879311642544211

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.checkpoint = self.folder / "checkpoint.json"
        self.output = self.folder / "rows.jsonl"

    def command(self, table, *arguments):
        return ["changes", str(table), *MAP, "--follow", "--poll", "10ms", "--checkpoint", str(self.checkpoint),
                *map(str, arguments)]

    def start(self, table, *arguments, **options):
        return subprocess.Popen([CLI, *self.command(table, *arguments)], stderr=subprocess.PIPE, text=True, **options)

    def wanted(self, table, *arguments) -> list[dict]:
        done = run("changes", table, *MAP, "--format", "jsonl", *arguments)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def rows(self) -> list[dict]:
        return [json.loads(line) for line in self.output.read_text().splitlines()]

    def wait_for(self, condition, what):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def head_in_checkpoint(self):
        return json.loads(self.checkpoint.read_text())["snapshot-id"] if self.checkpoint.exists() else None

    def head(self, table):
        return json.loads((table.path / "metadata" / f"v{table.version}.metadata.json").read_text()).get(
            "current-snapshot-id")

    def test_new_snapshots_come_as_they_are_committed_and_ctrl_c_ends_it(self):
        for name in ("cl_rewrite", "cl_manifest_merge", "row_lineage"):
            for stop in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(f"{name} {stop}"):
                    self.setUp()
                    table = GrowingTable(self.folder, name, 1)  # version 1 has no snapshot
                    program = self.start(table.path, "-o", self.output)
                    while table.version < table.last:
                        table.grow()
                        head = self.head(table)
                        self.wait_for(lambda: self.head_in_checkpoint() == head, f"version {table.version}")
                    program.send_signal(stop)
                    _, errors = program.communicate(timeout=30)
                    self.assertEqual((0, ""), (program.returncode, errors))
                    self.assertEqual(self.wanted(table.path), self.rows())

    def test_killed_at_any_time_it_goes_on_with_the_very_next_row(self):
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for name in ("cl_manifest_merge", "row_lineage", "cl_rewrite"):
            with self.subTest(f"{name} seed {seed}"):
                self.setUp()
                table = GrowingTable(self.folder, name, 2)
                grower = threading.Thread(target=self.grow_all, args=(table, chance.random() * 0.1))
                grower.start()
                kills = 0
                while kills < 25:
                    program = self.start(table.path, "-o", self.output)
                    time.sleep(chance.random() * 0.06)
                    program.kill()
                    program.communicate()
                    kills += 1
                grower.join()
                done = run(*self.command(table.path, "-o", self.output, "--until-idle"))
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                self.assertEqual(self.wanted(table.path), self.rows())

    def grow_all(self, table, pause):
        while table.version < table.last:
            table.grow()
            time.sleep(pause)

    def test_on_a_pipe_a_kill_repeats_one_snapshot_at_most(self):
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        with self.subTest(f"seed {seed}"):
            table = GrowingTable(self.folder, "cl_manifest_merge", 2)
            grower = threading.Thread(target=self.grow_all, args=(table, 0.1))
            grower.start()
            runs = []
            for _ in range(20):
                program = self.start(table.path, stdout=subprocess.PIPE)
                timer = threading.Timer(chance.random() * 0.08, program.kill)
                timer.start()
                runs.append(program.communicate()[0])
                timer.cancel()
            grower.join()
            done = run(*self.command(table.path, "--until-idle"))
            runs.append(done.stdout)
            wanted = self.wanted(table.path)
            order = list(dict.fromkeys(row["_commit_snapshot_id"] for row in wanted))
            whole = []  # snapshots whose changes were told, in order, without the last, torn ones of a killed run
            for text in runs:
                lines = text.split("\n")[:-1]  # the last line may be torn
                rows = [json.loads(line) for line in lines]
                told = list(dict.fromkeys(row["_commit_snapshot_id"] for row in rows))
                if not told:
                    continue
                first = order.index(told[0])
                self.assertIn(first, (len(whole), len(whole) - 1), "at most one snapshot is repeated, none left out")
                self.assertEqual(order[first:first + len(told)], told)
                for snapshot in told[:-1]:
                    self.assertEqual([row for row in wanted if row["_commit_snapshot_id"] == snapshot],
                                     [row for row in rows if row["_commit_snapshot_id"] == snapshot])
                last = [row for row in rows if row["_commit_snapshot_id"] == told[-1]]
                target = [row for row in wanted if row["_commit_snapshot_id"] == told[-1]]
                self.assertEqual(target[:len(last)], last)
                complete = told if len(last) == len(target) else told[:-1]
                whole = order[:max(len(whole), first + len(complete))]
            self.assertEqual(order, whole)

    def test_begins_where_from_says_and_numbers_on(self):
        table = GrowingTable(self.folder, "cl_manifest_merge", 3)
        start = self.head(table)
        self.grow_all(table, 0)
        done = run(*self.command(table.path, "-o", self.output, "--until-idle", "--from", start))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(self.wanted(table.path, "--from", start), self.rows())
        # The checkpoint counts, not --from; there is nothing new.
        before = self.rows()
        done = run(*self.command(table.path, "-o", self.output, "--until-idle", "--from", start))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(before, self.rows())

    def test_other_forms(self):
        table = GrowingTable(self.folder, "cl_rewrite", 4)
        steps = table.last - table.version
        for _ in range(steps + 1):
            for name, arguments in (("csv", ["--format", "csv"]), ("debezium", ["--dialect", "debezium"]),
                                    ("delta", ["--dialect", "delta"])):
                self.checkpoint = self.folder / f"{name}.checkpoint"
                done = run(*self.command(table.path, "-o", self.folder / f"{name}.jsonl", "--until-idle", *arguments))
                self.assertEqual((0, ""), (done.returncode, done.stderr))
            if table.version < table.last:
                table.grow()
        for name, arguments in (("csv", ["--format", "csv"]), ("debezium", ["--dialect", "debezium"]),
                                ("delta", ["--dialect", "delta", "--format", "jsonl"])):
            done = run("changes", table.path, *MAP, *arguments)
            self.assertEqual(done.stdout, (self.folder / f"{name}.jsonl").read_bytes().decode().replace("\r\n", "\n"))

    def follow(self, table, *arguments):
        return run(*self.command(table.path, "-o", self.output, "--until-idle", *arguments))

    def test_after_a_rollback_it_stops_with_the_reason(self):
        table = GrowingTable(self.folder, "cl_rollback_expired", 4)
        self.assertEqual(0, self.follow(table, "--from", self.SECOND).returncode)
        rows, noted = self.rows(), self.head_in_checkpoint()
        table.grow()  # the rollback
        done = self.follow(table)
        self.assertEqual(1, done.returncode)
        self.assertIn(f"snapshot {noted}", done.stderr)
        self.assertIn("no ancestor", done.stderr)
        self.assertEqual((rows, noted), (self.rows(), self.head_in_checkpoint()))

    def test_an_expired_snapshot_is_told_of(self):
        table = GrowingTable(self.folder, "cl_rollback_expired", 4)
        self.assertEqual(0, self.follow(table, "--from", self.SECOND).returncode)
        checkpoint = json.loads(self.checkpoint.read_text())
        checkpoint["snapshot-id"] = 12345  # as if all that we knew was gone
        self.checkpoint.write_text(json.dumps(checkpoint))
        done = self.follow(table)
        self.assertEqual(1, done.returncode)
        self.assertIn("snapshot 12345", done.stderr)
        self.assertIn("expired", done.stderr)

    def test_the_parent_of_the_oldest_snapshot_may_have_expired(self):
        table = GrowingTable(self.folder, "cl_rollback_expired", 2)
        self.assertEqual(0, self.follow(table, "--from", self.FIRST).returncode)
        self.assertEqual([], self.rows())
        table.version = table.last - 1
        table.grow()  # straight to the version in which the first snapshot has expired
        done = self.follow(table)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual([0, 1, 2], sorted({row["_change_ordinal"] for row in self.rows()}))

    def test_checkpoints_and_outputs_of_something_else_are_refused(self):
        table = GrowingTable(self.folder, "cl_basic", 5)
        other = GrowingTable(self.folder, "cl_rewrite", 5)
        self.assertEqual(0, self.follow(table).returncode)
        rows = self.rows()
        for code, text, act in (
                (1, "another table", lambda: self.follow(other)),
                (1, "another branch", lambda: self.follow(table, "--branch", "main")),
                (2, "not the one", lambda: run(*self.command(table.path, "-o", self.folder / "x.jsonl"))),
        ):
            (self.folder / "x.jsonl").write_text("somebody's\n")
            done = act()
            self.assertEqual(code, done.returncode, done.stderr)
            self.assertIn(text, done.stderr)
        self.assertEqual(rows, self.rows())
        self.assertEqual("somebody's\n", (self.folder / "x.jsonl").read_text())
        for text in ("", "{", "[]", '{"version": 1}', '{"version": 1, "table-uuid": "", "branch": "", "snapshot-id": '
                     '"x", "next-ordinal": 0}'):
            self.checkpoint.write_text(text)
            done = self.follow(table)
            self.assertEqual(1, done.returncode, text)
            self.assertIn("no checkpoint", done.stderr)
        self.checkpoint.write_text('{"version": 2}')
        self.assertEqual(5, self.follow(table).returncode)
        self.checkpoint.unlink()
        done = self.follow(table)
        self.assertEqual(2, done.returncode)
        self.assertIn("--overwrite", done.stderr)
        self.assertEqual(rows, self.rows())
        self.assertEqual(0, self.follow(table, "--overwrite").returncode)
        self.assertEqual(rows, self.rows())

    def test_what_a_reader_took_away_is_not_missed(self):
        table = GrowingTable(self.folder, "cl_basic", 4)
        self.assertEqual(0, self.follow(table).returncode)
        before = len(self.rows())
        os.truncate(self.output, 0)  # copied away, and emptied
        self.grow_all(table, 0)
        self.assertEqual(0, self.follow(table).returncode)
        self.assertEqual(self.wanted(table.path)[before:], self.rows())


if __name__ == "__main__":
    unittest.main()

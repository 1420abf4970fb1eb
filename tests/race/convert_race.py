#!/usr/bin/env python3
"""Equality deletes become deletion vectors while programs are killed and others write.

    convert_race.py [--catalog folder|sqlite] [--partitioned] [--seconds 60] [--workers 4] [--seed N] [--keep DIR]

The first half is quiet: one program after the other writes equality deletes (`upsert --via equality`, with the fallback and
without tries), upserts and deletes rows, and converts. Most of them are killed (SIGKILL), at random moments or as soon as
they have made a random number of files. After each kill
  - the rows are those of a plain model: what was killed happened wholly or not at all, and a conversion changes no row;
  - verify --deep has no findings.
In the second half several workers (race.py) do the same at once, on rows of their own and on shared ones, while conversions
run and are killed. What race.py checks must hold. In the end a conversion runs through: no equality delete is left, and no
row has changed.

DELENDA_CLI names the program. Exit code 0: all holds.
"""

import argparse
import collections
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from race import FIRST_SHARED, SHARED, Failure, Table, Worker, check, judged, make_table, write_rows

ROWS_PER_FILE = 1000
PENDING = ("--via", "equality", "--tries", "0", "--fallback", "commit-equality-deletes")
VIA_EQUALITY = ("--via", "equality", "--fallback", "commit-equality-deletes")


def pending(table: Table) -> int:
    deletes = map(json.loads, table.run("inspect", "deletes", "--format", "jsonl").splitlines())
    return sum(delete["content"] == "equality-deletes" for delete in deletes)


def count_files(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


class Killer:
    """Runs programs and kills them. `typical` is how long each command takes that nobody kills."""

    def __init__(self, table: Table, seed: int):
        self.table = table
        self.random = random.Random(seed)
        self.typical = collections.defaultdict(lambda: [0.1])
        self.killed = collections.Counter()

    def run(self, share: float, command: str, *arguments) -> dict | None:
        """The report; None: it was killed."""
        kills = self.random.random() < share
        begin, files = time.time(), count_files(self.table.folder)
        program = self.table.start(command, *arguments, "--json")
        if kills:
            if self.random.random() < 0.4:
                time.sleep(self.random.uniform(0, 1.1 * statistics.median(self.typical[command])))
            else:
                most = files + self.random.randint(1, 8)
                while program.poll() is None and count_files(self.table.folder) < most:
                    time.sleep(0.0005)
            program.send_signal(signal.SIGKILL)
        out, err = program.communicate(timeout=600)
        if program.returncode == -signal.SIGKILL:
            self.killed[command] += 1
            self.killed["with files left behind"] += count_files(self.table.folder) > files
            return None
        if program.returncode != 0:
            raise Failure(f"{command} {arguments}: exit {program.returncode}\n{err}")
        if not kills:
            self.typical[command] = [*self.typical[command][-8:], time.time() - begin]
        return json.loads(out)


class Quiet:
    """The first half: rows of every owner. Who owns what counts only in the second half."""

    def __init__(self, table: Table, options):
        self.table = table
        self.rows = self.found()  # id -> state
        self.random = random.Random(options.seed)
        self.killer = Killer(table, options.seed + 1)
        self.next_id = 500_000
        self.conversions = self.committed = 0

    def run(self, until: float):
        operations = [self.upsert_pending] * 3 + [self.upsert] * 2 + [self.delete] + [self.convert] * 4
        # On a busy machine a few seconds are a few programs: without a killed conversion they have proved nothing.
        while time.time() < until or not self.killer.killed["convert"] and time.time() < until + 60:
            self.random.choice(operations)()

    def found(self) -> dict:
        return {row["id"]: row["state"] for row in self.table.rows("--where", "owner >= 0")}

    def settle(self, report: dict | None, after: dict, what: str):
        before, self.rows = self.rows, after
        if report is not None:
            return
        found = self.found()
        if found not in (before, after):
            wrong = [id for id in found.keys() | after.keys() if found.get(id) not in (before.get(id), after.get(id))]
            raise Failure(f"a killed {what} happened in part, or changed other rows: {len(found)} rows, {wrong[:20]}")
        self.committed += before != after and found == after
        self.rows = found
        self.table.run("verify", "--deep", "--errors-only")

    def _upsert(self, *options):
        ids = self.random.sample(sorted(self.rows), 5)
        ids += range(self.next_id, self.next_id + 2)
        self.next_id += 2
        state = f"{self.random.randrange(1 << 40)}"
        gone = set(ids[:2])
        rows = [{"id": id, "owner": 0, "n": 0, "state": state, "op": "d" if id in gone else "u"} for id in ids]
        file = write_rows(self.table.folder / "quiet.jsonl", rows)
        report = self.killer.run(0.5, "upsert", file, "--key", "id", "--delete-when", "op = 'd'", *options)
        after = {**self.rows, **dict.fromkeys(ids, state)}
        for id in gone:
            del after[id]
        self.settle(report, after, "upsert")

    def upsert_pending(self):
        self._upsert(*PENDING)

    def upsert(self):
        self._upsert(*VIA_EQUALITY)

    def delete(self):
        ids = self.random.sample(sorted(self.rows), 3)
        report = self.killer.run(0, "delete", "--where", f"id IN ({', '.join(map(str, ids))})")
        self.settle(report, {id: state for id, state in self.rows.items() if id not in ids}, "delete")

    def convert(self):
        before = pending(self.table)
        if before == 0:
            return
        report = self.killer.run(0.8, "convert")
        left = pending(self.table)
        if left not in (0, before) or report is not None and left:
            raise Failure(f"of {before} equality delete files a conversion left {left}: {report}")
        self.conversions += report is not None
        self.committed += report is None and left == 0
        self.settle(report, self.rows, "conversion")


class EqualityWorker(Worker):
    """One of those who write at once."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.operations = [self.delete] * 2 + [self.update, self.append, self.raise_counter, self.upsert, self.delete_keys]
        self.operations += [self.upsert_equality] * 4 + [self.upsert_shared_equality] * 2 + [self.upsert_shared]

    def how(self) -> tuple:
        return self.random.choice((PENDING, VIA_EQUALITY, VIA_EQUALITY))

    def upsert_equality(self):
        rows = {**{key: (self.number, self.token()) for key in self.pick(3)}, **self.new_rows(self.random.randint(0, 2))}
        report = self.change("upsert", self.file_of(rows), "--key", "id", *self.how())
        self.settle(report, rows, "rows-added", len(rows))

    def upsert_shared_equality(self):
        rows = {FIRST_SHARED + key: (-2, self.token()) for key in self.random.sample(range(SHARED), 2)}
        report = self.change("upsert", self.file_of(rows), "--key", "id", *self.how())
        for key, (_, state) in rows.items():
            (self.maybe_shared if report is None else self.shared)[key].add(state)


class Converter(threading.Thread):
    """Converts over and over while others write; only who is not killed says how many."""

    def __init__(self, table: Table, seed: int, until: float):
        super().__init__()
        self.table, self.until = table, until
        self.killer = Killer(table, seed)
        self.converted = self.conversions = self.attempts = 0
        self.problem = None

    def run(self):
        try:
            while time.time() < self.until:
                report = self.killer.run(0.3, "convert")
                if report is not None and report["snapshot-id"]:
                    self.conversions += 1
                    self.converted += report["delete-files-converted"]
                    self.attempts += report["attempts"]
        except Exception as problem:  # told by the main thread
            self.problem = problem


def race(cli: str, options) -> dict:
    """What was done. Raises Failure."""
    folder = Path(options.keep or tempfile.mkdtemp(prefix="delenda-convert-race-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = Table(cli, folder, options.catalog)
    report = {"catalog": options.catalog, "partitioned": options.partitioned, "seconds": options.seconds, "seed": options.seed}
    with judged(folder, report, options.keep):
        make_table(table, options, ("--partition-by", "bucket(3, id)") if options.partitioned else (), ROWS_PER_FILE)
        quiet = Quiet(table, options)
        quiet.run(time.time() + options.seconds / 2)
        report["quiet"] = {"killed": dict(quiet.killer.killed), "conversions": quiet.conversions, "killed after their commit": quiet.committed}

        owned = [{} for _ in range(options.workers)]
        for row in table.rows("--where", "owner >= 0"):
            owned[row["owner"]][row["id"]] = (row["owner"], row["state"])
        until = time.time() + options.seconds / 2
        workers = [EqualityWorker(i, table, rows, options, until) for i, rows in enumerate(owned)]
        converter = Converter(table, options.seed + 2, until)
        for thread in (*workers, converter):
            thread.start()
        for thread in (*workers, converter):
            thread.join()
        for worker in workers:
            worker.log.close()
        report["busy"] = {
            "commits": dict(sum((worker.done for worker in workers), collections.Counter())),
            "killed": sum(worker.killed for worker in workers) + converter.killer.killed["convert"],
            "conversions": converter.conversions,
            "files converted": converter.converted,
            "attempts of conversions": converter.attempts,
        }
        for thread in (*workers, converter):
            if thread.problem:
                raise thread.problem
        check(table, workers)
        table.run("upsert", write_rows(folder / "last.jsonl", [{"id": 499_999, "owner": -3}]), "--key", "id", *PENDING)
        rows = sorted(map(json.dumps, table.rows()))
        if not pending(table):
            raise Failure("no equality delete is left to be converted")
        table.run("convert")
        if left := pending(table):
            raise Failure(f"{left} equality delete files are left after a conversion")
        if rows != sorted(map(json.dumps, table.rows())):
            raise Failure("the last conversion has changed rows")
        check(table, workers)
    return report


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", choices=("folder", "sqlite"), default="folder")
    parser.add_argument("--partitioned", action="store_true", help="by buckets of the key: equality deletes of partitions")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", help="folder for the table and the logs (else they are deleted)")
    return argparse.Namespace(**vars(parser.parse_args(arguments)), kill=True)


if __name__ == "__main__":
    try:
        print(json.dumps(race(os.environ["DELENDA_CLI"], options_of())))
    except Failure as failure:
        sys.exit(f"convert_race: FAILED: {failure}")

#!/usr/bin/env python3
"""Eight processes of the program change one table of four data files, all at once, for some seconds.

    race.py [--catalog folder|sqlite] [--seconds 60] [--workers 8] [--kill] [--least-merges 100] [--seed N] [--keep DIR]

Each worker owns rows in every data file, which nobody else touches, and notes what the program acknowledged: deletes,
updates, upserts, appends. Besides, all of them raise shared counters, and upsert rows with shared keys. Afterwards
  - every acknowledged change is there, exactly once, and no other: rows that were deleted have not come back, no key has two rows;
  - each counter is as high as it was raised, and each shared key has one row, as one of those who upserted it wrote it;
  - no delete was given up, whatever the others did;
  - verify --deep has no findings;
  - commits were merged, in one data file, with what others deleted meanwhile: at least --least-merges times, else the run has
    proved nothing.
With --kill programs are killed (SIGKILL) at random moments. What they were doing may have happened or not, but wholly.

DELENDA_CLI names the program. Exit code 0: all holds.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FILES = 4
ROWS_PER_FILE = 4000
COUNTERS = 4
FIRST_COUNTER = 9_000_000  # ids of the shared rows
SHARED = 12
FIRST_SHARED = 9_500_000  # ids that nobody has at first, and everybody upserts


class Failure(Exception):
    pass


class Table:
    """The table under test, by the program alone."""

    def __init__(self, cli: str, folder: Path, catalog: str):
        self.cli = cli
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("DELENDA_C")}
        self.environment["HOME"] = str(folder)
        self.name = str(folder / "t")
        if catalog == "sqlite":
            self.environment["DELENDA_CATALOG__LAKE__URI"] = f"sqlite:///{folder}/lake.db"
            self.environment["DELENDA_CATALOG__LAKE__WAREHOUSE"] = str(folder)
            self.name = "lake.db.t"

    def start(self, command: str, *arguments) -> subprocess.Popen:
        return subprocess.Popen([self.cli, command, self.name, *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment)  # fmt: skip

    def run(self, command: str, *arguments) -> str:
        program = self.start(command, *arguments)
        out, err = program.communicate(timeout=600)
        if program.returncode != 0:
            raise Failure(f"{command} {arguments}: exit {program.returncode}\n{out}{err}")
        return out

    def rows(self, *arguments) -> list[dict]:
        return [json.loads(line) for line in self.run("scan", "--format", "jsonl", *arguments).splitlines()]


def write_rows(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Worker(threading.Thread):
    """Runs one program after the other. `rows` is what its own rows are by now."""

    def __init__(self, number: int, table: Table, rows: dict, options, until: float):
        super().__init__()
        self.number, self.table, self.rows, self.until = number, table, rows, until
        self.random = random.Random(options.seed * 1000 + number)
        self.kill = options.kill
        self.raised = collections.Counter()  # counters: acknowledged
        self.maybe_raised = collections.Counter()  # and those of killed programs
        self.shared = collections.defaultdict(set)  # shared keys: what was acknowledged
        self.maybe_shared = collections.defaultdict(set)
        self.done = collections.Counter()
        self.merged = self.killed = self.looked_again = self.attempts = 0
        self.next_id = 1_000_000 * (number + 1)
        self.problem = None
        self.log = (table.folder / f"worker-{number}.log").open("w")
        self.operations = [self.delete] * 5 + [self.update] * 2 + [self.raise_counter] * 2 + [self.append]
        self.operations += [self.delete_keys, self.upsert, self.upsert, self.upsert_shared, self.merge_counter]

    def run(self):
        try:
            while time.time() < self.until and self.rows:
                self.random.choice(self.operations)()
        except Exception as problem:  # told by the main thread
            self.problem = problem

    def change(self, command: str, *arguments):
        """The report; None: killed, or the outcome is not known. Deletes of rows of one's own never fail."""
        program = self.table.start(command, *arguments, "--json")
        killer = None
        if self.kill and self.random.random() < 0.4:
            killer = threading.Timer(self.random.uniform(0.005, 0.4), lambda: program.send_signal(signal.SIGKILL))
            killer.start()
        out, err = program.communicate(timeout=600)
        if killer:
            killer.cancel()
        print(json.dumps({"command": command, "arguments": [str(a) for a in arguments], "exit": program.returncode,
                          "out": out, "err": err}), file=self.log, flush=True)  # fmt: skip
        if program.returncode == -signal.SIGKILL:
            self.killed += 1
            return None
        if program.returncode == 3 and "state" in json.loads(err)["error"]["kind"]:
            return None
        if program.returncode != 0:
            raise Failure(f"worker {self.number}: {command} {arguments}: exit {program.returncode}\n{err}")
        report = json.loads(out)
        self.done[command] += 1
        self.merged += report["merged-files"]
        self.looked_again += report["looked-again"]
        self.attempts += report["attempts"]
        return report

    def settle(self, report, changed: dict, counter: str, wanted: int):
        """`changed`: own rows as they are afterwards, None for those that went."""
        after = dict(self.rows)
        for key, row in changed.items():
            if row is None:
                after.pop(key, None)
            else:
                after[key] = row
        if report is not None:
            if report[counter] != wanted:
                raise Failure(f"worker {self.number}: {counter} is {report[counter]}, not {wanted}: {report}")
            self.rows = after
            return
        found = own_rows(self.table.rows("--where", f"owner = {self.number}"))
        if found not in (self.rows, after):
            wrong = {key for key in found.keys() | after.keys() if found.get(key) != after.get(key)}
            raise Failure(f"worker {self.number}: a killed change happened in part: {sorted(wrong)[:20]} of {sorted(changed)}")
        self.rows = found

    def pick(self, most: int) -> list[int]:
        return self.random.sample(sorted(self.rows), min(len(self.rows), self.random.randint(1, most)))

    def where(self, ids) -> str:
        return f"id IN ({', '.join(map(str, ids))})"

    def token(self) -> str:
        return f"{self.number}-{self.random.randrange(1 << 40)}"

    def delete(self):
        ids = self.pick(6)
        report = self.change("delete", "--where", self.where(ids))
        self.settle(report, dict.fromkeys(ids), "rows-deleted", len(ids))

    def delete_keys(self):
        ids = self.pick(6)
        file = write_rows(self.table.folder / f"worker-{self.number}.jsonl", ({"id": key} for key in ids))
        report = self.change("delete", "--keys", file)
        self.settle(report, dict.fromkeys(ids), "rows-deleted", len(ids))

    def update(self):
        ids, state = self.pick(3), self.token()
        report = self.change("update", "--set", f"state = '{state}'", "--where", self.where(ids))
        self.settle(report, {key: (self.number, state) for key in ids}, "rows-updated", len(ids))

    def new_rows(self, count: int) -> dict:
        ids = range(self.next_id, self.next_id + count)
        self.next_id += count
        return {key: (self.number, self.token()) for key in ids}

    def file_of(self, rows: dict) -> Path:
        return write_rows(self.table.folder / f"worker-{self.number}.jsonl",
                          ({"id": key, "owner": owner, "n": 0, "state": state} for key, (owner, state) in rows.items()))  # fmt: skip

    def append(self):
        rows = self.new_rows(self.random.randint(1, 4))
        self.settle(self.change("append", self.file_of(rows)), rows, "rows-added", len(rows))

    def upsert(self):
        old = {key: (self.number, self.token()) for key in self.pick(3)}
        new = self.new_rows(self.random.randint(0, 2))
        report = self.change("upsert", self.file_of({**old, **new}), "--key", "id")
        self.settle(report, {**old, **new}, "rows-updated", len(old))

    def upsert_shared(self):
        rows = {FIRST_SHARED + key: (-2, self.token()) for key in self.random.sample(range(SHARED), 2)}
        report = self.change("upsert", self.file_of(rows), "--key", "id")
        if report is not None and report["rows-updated"] + report["rows-added"] != len(rows):
            raise Failure(f"worker {self.number}: {len(rows)} shared rows were upserted: {report}")
        for key, (_, state) in rows.items():
            (self.maybe_shared if report is None else self.shared)[key].add(state)

    def raise_counter(self):
        counter = FIRST_COUNTER + self.random.randrange(COUNTERS)
        self.count(counter, 1, self.change("update", "--set", "n = n + 1", "--where", f"id = {counter}"))

    def merge_counter(self):
        counter, more = FIRST_COUNTER + self.random.randrange(COUNTERS), self.random.randint(1, 9)
        file = write_rows(self.table.folder / f"worker-{self.number}.jsonl", [{"id": counter, "n": more}])
        self.count(counter, more, self.change("merge", file, "--key", "id", "--matched-update", "n = n + source.n"))

    def count(self, counter: int, more: int, report):
        if report is None:
            self.maybe_raised[counter] += more
        elif report["rows-updated"] != 1:
            raise Failure(f"counter {counter} was updated {report['rows-updated']} times")
        else:
            self.raised[counter] += more


def own_rows(rows: list[dict]) -> dict:
    found = {row["id"]: (row["owner"], row["state"]) for row in rows}
    if len(found) != len(rows):
        twice = [key for key, count in collections.Counter(row["id"] for row in rows).items() if count > 1]
        raise Failure(f"{len(twice)} keys have two rows: {twice[:20]}")
    return found


def make_table(table: Table, options, how: tuple = (), rows_per_file: int = ROWS_PER_FILE) -> list[dict]:
    """Four data files (in each partition), each with rows of every worker; the last also has the counters. `how`: for `create`."""
    table.run("create", "--columns", "id long NOT NULL, owner int, n long, state string", "--key", "id", *how)
    owned = [{} for _ in range(options.workers)]
    for file in range(FILES):
        rows = []
        for i in range(rows_per_file):
            key = file * rows_per_file + i
            owner = key % options.workers
            owned[owner][key] = (owner, "new")
            rows.append({"id": key, "owner": owner, "n": 0, "state": "new"})
        if file == FILES - 1:
            rows += [{"id": FIRST_COUNTER + i, "owner": -1, "n": 0, "state": "new"} for i in range(COUNTERS)]
        table.run("append", write_rows(table.folder / "rows.jsonl", rows))
    return owned


def check(table: Table, workers: list[Worker]):
    rows = table.rows()
    found = own_rows([row for row in rows if row["owner"] >= 0])
    wanted = {key: row for worker in workers for key, row in worker.rows.items()}
    lost = [key for key in wanted if key not in found]
    back = [key for key in found if key not in wanted]
    stale = [key for key in wanted if key in found and found[key] != wanted[key]]
    if lost or back or stale:
        raise Failure(f"{len(lost)} rows are lost {lost[:10]}, {len(back)} have come back {back[:10]}, "
                      f"{len(stale)} have other values {stale[:10]}")  # fmt: skip
    own_rows([row for row in rows if row["owner"] < 0])
    counters = {row["id"]: row["n"] for row in rows if row["owner"] == -1}
    for counter in range(FIRST_COUNTER, FIRST_COUNTER + COUNTERS):
        least = sum(worker.raised[counter] for worker in workers)
        most = least + sum(worker.maybe_raised[counter] for worker in workers)
        if not least <= counters.get(counter, -1) <= most:
            raise Failure(f"counter {counter} is {counters.get(counter)}, acknowledged were {least} (and perhaps {most - least})")
    shared = {row["id"]: row["state"] for row in rows if row["owner"] == -2}
    for key in range(FIRST_SHARED, FIRST_SHARED + SHARED):
        surely = set().union(*(worker.shared[key] for worker in workers))
        perhaps = set().union(*(worker.maybe_shared[key] for worker in workers))
        if key in shared and shared[key] not in surely | perhaps or key not in shared and surely:
            raise Failure(f"shared key {key} has {shared.get(key)}, written were {surely} and perhaps {perhaps}")
    table.run("verify", "--deep", "--errors-only")


def race(cli: str, options) -> dict:
    """What was done. Raises Failure."""
    folder = Path(options.keep or tempfile.mkdtemp(prefix="delenda-race-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = Table(cli, folder, options.catalog)
    owned = make_table(table, options)
    until = time.time() + options.seconds
    workers = [Worker(i, table, rows, options, until) for i, rows in enumerate(owned)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        worker.log.close()

    def total(name: str) -> int:
        return sum(getattr(worker, name) for worker in workers)

    report = {"catalog": options.catalog, "seconds": options.seconds, "kill": options.kill, "seed": options.seed,
              "commits": dict(sum((worker.done for worker in workers), collections.Counter())), "merges": total("merged"),
              "attempts": total("attempts"), "looked-again": total("looked_again"), "killed": total("killed")}  # fmt: skip
    with judged(folder, report, options.keep):
        for worker in workers:
            if worker.problem:
                raise worker.problem
        check(table, workers)
        if report["merges"] < options.least_merges:
            raise Failure(f"only {report['merges']} same-file merges happened, {options.least_merges} are wanted: {report}")
    return report


@contextlib.contextmanager
def judged(folder: Path, report: dict, keep: str | None):
    """What is checked at the end: should it fail, the folder stays and the error names it; else it goes, unless it is to be kept."""
    try:
        yield
    except Exception as problem:
        raise Failure(f"{problem}\n{report}\nthe table and the logs are in {folder}") from problem
    if not keep:
        shutil.rmtree(folder)


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", choices=("folder", "sqlite"), default="folder")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--kill", action="store_true", help="kill programs at random moments")
    parser.add_argument("--least-merges", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", help="folder for the table and the logs (else they are deleted)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        print(json.dumps(race(os.environ["DELENDA_CLI"], options_of())))
    except Failure as failure:
        sys.exit(f"race: FAILED: {failure}")

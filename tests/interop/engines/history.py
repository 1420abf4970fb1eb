"""Histories of one table: steps that delenda and Spark take in turns, beside a model that is a plain list of rows.

A step changes the table and the model; `where` is what both engines are told, `matches` says the same about a row of the
model. After each step `delenda scan` must give the rows of the model; what is checked at the end is in check_histories.py.
"""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from metadata_tables import current_metadata
from program import bag, run

# Spark writes deletion vectors, as delenda does.
MERGE_ON_READ = {
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.distribution-mode": "none",
}

MAIN = "main"
Rows = list[dict]


class Failed(AssertionError):
    pass


def quoted(name: str) -> str:
    """A name in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


class Table:
    """A table on which a history runs."""

    def __init__(self, engines, name: str):
        self.engines = engines  # .spark, .helper, .folder (pathlib), .warehouse
        self.name = name
        self.place = str(engines.warehouse / "db" / name)  # what delenda is told
        self.options: list[str] = []  # and besides
        self.sql_name = f"ice.db.{quoted(name)}"
        self.location: str | None = self.place  # of a table without catalog
        self.branches: dict[str, Rows] = {MAIN: []}
        self.key: str | None = "id"  # unique and never changed
        self.faults: dict[str, str] = {}  # engine -> what is known to be wrong
        self.step = ""

    # ---- what the engines are told
    def delenda(self, command: str, *arguments, **options) -> str:
        done = run(command, self.place, *self.options, *arguments, **options)
        if done.returncode != 0:
            raise Failed(f"delenda {command} {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def lines(self, command: str, *arguments) -> Rows:
        return [json.loads(line) for line in self.delenda(command, *arguments, "--format", "jsonl").splitlines()]

    def scan(self, branch: str, *arguments) -> Rows:
        # A table without snapshots has no branch main yet.
        return self.lines("scan", *(["--ref", branch] if branch != MAIN else []), *arguments)

    def change(self, command: str, *arguments, branch: str = MAIN, **options) -> dict:
        """The report of one change."""
        on = ["--branch", branch] if branch != MAIN else []
        return json.loads(self.delenda(command, *arguments, *on, "--json", **options))

    def sql(self, text: str):
        return self.engines.spark.sql(text.replace("{t}", self.sql_name).replace("{name}", self.name))

    def branch_sql(self, branch: str) -> str:
        return "{t}" if branch == MAIN else f"{{t}}.branch_{branch}"

    def java(self):
        """The table in Iceberg's Java library."""
        return self.engines.helper.load(self.location or self.metadata_file())

    def metadata_file(self) -> str:
        if self.location:
            return current_metadata(self.location)
        return self.engines.sql_catalog.load_table(f"db.{self.name}").metadata_location.removeprefix("file:").replace("///", "/")

    def use_catalog(self, name: str) -> None:
        """The table is in the SQL catalog, not in a folder."""
        self.place, self.location = f"{name}.db.{self.name}", None
        self.options = ["--config", str(self.engines.delenda_config)]
        self.sql_name = f"{name}.db.{quoted(self.name)}"

    def file(self, name: str, text: str) -> Path:
        path = self.engines.folder / f"{self.name}-{name}"
        path.write_text(text, encoding="utf-8")
        return path

    # ---- what there is
    @property
    def rows(self) -> Rows:
        return self.branches[MAIN]

    @rows.setter
    def rows(self, rows: Rows) -> None:
        self.branches[MAIN] = rows

    def check(self, right: bool, text: str) -> None:
        if not right:
            raise Failed(f"{self.name}, {self.step}: {text}")

    def same(self, what: str, found: Rows, wanted: Rows) -> None:
        found, wanted = bag(found), bag(wanted)
        if found != wanted:
            raise Failed(
                f"{self.name}, {self.step}: {what}: {found.total()} rows, {wanted.total()} are right; "
                f"too many: {list((found - wanted).items())[:3]}; missing: {list((wanted - found).items())[:3]}"
            )

    def lineage(self, branch: str = MAIN) -> dict:
        """Key -> row, row id, sequence number of the last change."""
        select = ["--select", f'"{self.key}",_row_id,_last_updated_sequence_number']
        rows = self.scan(branch, *select)
        return {row[self.key]: (row["_row_id"], row["_last_updated_sequence_number"]) for row in rows}


@dataclass
class Step:
    """`act` changes the table and gives the report of delenda (None: another engine's); `change` the rows of the model."""

    text: str
    act: Callable[[Table], dict | None]
    change: Callable[[Rows], Rows] = lambda rows: rows
    branch: str = MAIN
    touches: Callable[[dict], bool] = lambda row: False  # rows that get a new version
    replaces: Callable[[dict], bool] = lambda row: False  # rows in the place of which others come: with row ids of their own
    # How many rows are gone, by the report: "exactly", "not" at all, or "at least" (equality deletes had deleted some before).
    counts_deleted: str = "exactly"

    def run(self, table: Table) -> None:
        table.step = self.text
        before = table.branches.get(self.branch, [])
        lineage = table.lineage(self.branch) if table.key and before else {}
        report = self.act(table)
        after = self.change(before)
        table.branches[self.branch] = after
        table.same("rows that delenda reads", table.scan(self.branch), after)
        if report is not None:
            self._check_report(table, report, before, after)
            if table.key and before:
                self._check_lineage(table, lineage, before, after)

    def _check_report(self, table: Table, report: dict, before: Rows, after: Rows) -> None:
        if report["rows-deleted"] or report["rows-added"] or report["rows-updated"]:
            table.check(report["snapshot-id"] is not None, "there is no snapshot")
        deleted = len(before) + report["rows-added"] - len(after)
        if self.counts_deleted == "not":
            right = report["rows-deleted"] == 0
        else:
            right = report["rows-deleted"] == deleted or self.counts_deleted == "at least" and report["rows-deleted"] > deleted
        table.check(right, f"{report}, but {deleted} rows of the model are gone")

    def _check_lineage(self, table: Table, old: dict, before: Rows, after: Rows) -> None:
        """Rows keep their ids; only what was updated has the snapshot's sequence number. What replaces a row is another one."""
        key, new = table.key, table.lineage(self.branch)
        touched = {row[key] for row in before if self.touches(row)}
        sequence = max((s["sequence-number"] for s in table.lines("inspect", "snapshots")), default=0)
        old_ids = {id for id, _ in old.values()}
        for row in after:
            was, now = old.get(row[key]), new[row[key]]
            if self.replaces(row):
                table.check(now[0] not in old_ids and now[1] == sequence, f"row {row[key]}: {now}: row id or sequence number are old ones")
                continue
            if was is None or was[0] is None:
                continue  # new, or from before the table had row ids
            wanted = (was[0], sequence if row[key] in touched else was[1])
            table.check(now == wanted, f"row {row[key]}: row id and sequence number {now}, {wanted} are right")


# ---- steps of both engines
def made(columns: str, partition: str = "", key: str = "", catalog: str = "", **properties: str) -> Step:
    """By the program. `catalog`: the name of the SQL catalog that the table is in, else a folder."""

    def act(table: Table) -> None:
        if catalog:
            table.use_catalog(catalog)
        named = {name.replace("__", ".").replace("_", "-"): value for name, value in properties.items()}
        options = ["--columns", columns, *(["--partition-by", partition] if partition else []), *(["--key", key] if key else [])]
        for name, value in {**MERGE_ON_READ, **named}.items():
            options += ["--property", f"{name}={value}"]
        table.delenda("create", *options)

    return Step(f"delenda create ({columns}) {partition}", act)


def convert(*options: str) -> Step:
    """Afterwards there is no equality delete."""

    def act(table: Table) -> dict:
        report = table.change("convert", *options)
        left = [delete for delete in table.lines("inspect", "deletes") if delete["content"] == "equality-deletes"]
        table.check(report["delete-files-converted"] > 0 and not left, f"{report}, left are {left}")
        return report

    return Step(f"convert {' '.join(options)}", act)


def upgrade() -> Step:
    return Step("delenda upgrade", lambda table: table.delenda("upgrade", "--to", "3") and None)


def create(columns: str, partition: str = "", version: int = 3, more: str = "", **properties: str) -> Step:
    """By Spark. `more`: a clause of SQL that follows."""
    named = {name.replace("__", ".").replace("_", "-"): value for name, value in properties.items()}
    named = {"format-version": str(version), **MERGE_ON_READ, **named}
    texts = ", ".join(f"'{name}' = '{value}'" for name, value in named.items())
    by = f"PARTITIONED BY ({partition})" if partition else ""

    def act(table: Table) -> None:
        table.sql(f"CREATE TABLE {{t}} ({columns}) USING iceberg {by} TBLPROPERTIES ({texts})")
        if more:
            table.sql(more)

    return Step(f"create ({columns}) {by}", act)


def append(rows: Rows, branch: str = MAIN, as_stored: Rows | None = None) -> Step:
    """`as_stored`: with the columns that `rows` leave to their defaults."""

    def act(table: Table) -> dict:
        report = table.change("append", "-", "--format", "jsonl", input=_lines(rows), branch=branch)
        table.check(report["rows-added"] == len(rows), f"{report} for {len(rows)} rows")
        return report

    return Step(f"append {len(rows)} rows", act, lambda old: old + (as_stored or rows), branch)


def delete(where: str, matches: Callable[[dict], bool], branch: str = MAIN) -> Step:
    return Step(
        f"delete {where}",
        lambda table: table.change("delete", "--where", where, branch=branch),
        lambda rows: [row for row in rows if not matches(row)],
        branch,
    )


def update(sets: list[str], where: str, matches: Callable[[dict], bool], values: Callable[[dict], dict], branch: str = MAIN) -> Step:  # fmt: skip
    return Step(
        f"update {sets} {where}",
        lambda table: table.change("update", *[x for text in sets for x in ("--set", text)], "--where", where, branch=branch),  # fmt: skip
        lambda rows: [{**row, **values(row)} if matches(row) else row for row in rows],
        branch,
        matches,
    )


def _lines(rows: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _key(row: dict, names: list[str]) -> tuple:
    return tuple(row.get(name) for name in names)


def delete_keys(keys: Rows, by: list[str], branch: str = MAIN) -> Step:
    """By a file of keys, of which the columns `by` count."""
    gone = {_key(row, by) for row in keys}
    return Step(
        f"delete --keys {keys[:3]}",
        lambda table: table.change("delete", "--keys", table.file("keys.jsonl", _lines(keys)), "--key", ",".join(by), branch=branch),  # fmt: skip
        lambda rows: [row for row in rows if _key(row, by) not in gone],
        branch,
    )


def upsert(source: Rows, by: list[str], delete_when: str = "", deletes: Callable[[dict], bool] = lambda row: False) -> Step:  # fmt: skip
    """Rows of `source` that `deletes` matches (`delete_when` for the program) only delete; columns `_…` are not the table's."""
    last = {_key(row, by): row for row in source}
    stay = [{n: v for n, v in row.items() if not n.startswith("_")} for row in last.values() if not deletes(row)]
    when = ["--delete-when", delete_when] if delete_when else []
    return Step(
        f"upsert {source[:3]}",
        lambda table: table.change("upsert", "-", "--format", "jsonl", "--key", ",".join(by), *when, input=_lines(source)),
        lambda rows: [row for row in rows if _key(row, by) not in last] + stay,
        touches=lambda row: _key(row, by) in last,
    )


def upsert_via_equality(source: Rows, by: list[str], delete_when: str, deletes: Callable[[dict], bool], pending: bool = False, counts_deleted: str = "exactly") -> Step:  # fmt: skip
    """As a writer of streams does it: new row ids. `pending`: the keys stay equality deletes, which readers have to apply."""
    last = {_key(row, by): row for row in source}
    stay = [{n: v for n, v in row.items() if not n.startswith("_")} for row in last.values() if not deletes(row)]
    how = ["--via", "equality", *(["--tries", "0", "--fallback", "commit-equality-deletes"] if pending else [])]

    def act(table: Table) -> dict:
        report = table.change("upsert", "-", "--format", "jsonl", "--key", ",".join(by), "--delete-when", delete_when, *how, input=_lines(source))
        table.check(report["rows-added"] == len(stay) and report["rows-updated"] == 0, f"{report} for {len(stay)} rows")
        table.check((report["equality-delete-files-added"] > 0) == pending, f"{report}")
        return report

    return Step(
        f"upsert {' '.join(how)} {source[:3]}",
        act,
        lambda rows: [row for row in rows if _key(row, by) not in last] + stay,
        replaces=lambda row: _key(row, by) in last,
        counts_deleted="not" if pending else counts_deleted,
    )


def commit_deltas(workers: list[Rows], by: list[str]) -> Step:
    """The events of several writers (u or d in column _op) in one commit; those of later ones come later."""
    last = {_key(row, by): row for source in workers for row in source}
    stay = [{n: v for n, v in row.items() if n != "_op"} for row in last.values() if row["_op"] != "d"]

    def act(table: Table) -> dict:
        named = [[{"op" if n == "_op" else n: v for n, v in row.items()} for row in source] for source in workers]
        files = [table.file(f"worker-{i}.jsonl", _lines(rows)) for i, rows in enumerate(named)]
        command = [os.environ["DELENDA_COMMIT_DELTAS"], table.place, ",".join(by), *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        table.check(report["rows-added"] == len(stay), f"{report} for {len(stay)} rows")
        return report

    return Step(
        f"{len(workers)} writers commit {[source[:2] for source in workers]}",
        act,
        lambda rows: [row for row in rows if _key(row, by) not in last] + stay,
        replaces=lambda row: _key(row, by) in last,
    )


def merge(source: Rows, by: list[str], options: list[str], matched: Callable, inserted: Callable[[dict], dict | None]) -> Step:  # fmt: skip
    """`matched`: of a row of the table and its row of `source`, the new row, the old one or None; `inserted`: of the latter."""
    last = {_key(row, by): row for row in source}

    def change(rows: Rows) -> Rows:
        there = {_key(row, by) for row in rows}
        kept = [matched(row, last[_key(row, by)]) if _key(row, by) in last else row for row in rows]
        new = [inserted(row) for key, row in last.items() if key not in there]
        return [row for row in kept + new if row is not None]

    def touches(row: dict) -> bool:
        return _key(row, by) in last and matched(row, last[_key(row, by)]) is not row

    def act(table: Table) -> dict:
        return table.change("merge", "-", "--format", "jsonl", "--key", ",".join(by), *options, input=_lines(source))

    return Step(f"merge {source[:3]}", act, change, touches=touches)


# ---- steps of Spark alone
def spark(text: str, change: Callable[[Rows], Rows] = lambda rows: rows, branch: str = MAIN) -> Step:
    """Any statements (after one another, between semicolons at line ends); {t} is the table."""

    def act(table: Table) -> None:
        for statement in text.split(";\n"):
            table.sql(statement)

    return Step(f"Spark: {text}", act, change, branch)


def spark_append(rows: Rows, branch: str = MAIN) -> Step:
    def act(table: Table) -> None:
        path = table.file("rows.json", _lines(rows))
        from pyspark.sql.types import BinaryType, StringType, StructField, StructType

        fields = table.sql("SELECT * FROM {t}").schema.fields
        binary = {field.name for field in fields if field.dataType == BinaryType()}
        # Binary values are hexadecimal here; Spark's JSON has base64.
        schema = StructType([StructField(f.name, StringType() if f.name in binary else f.dataType) for f in fields])
        frame = table.engines.spark.read.schema(schema).json(str(path)).coalesce(1)
        names = [(quoted(field.name), field.name in binary) for field in fields]
        frame = frame.selectExpr(*[f"unhex({name}) AS {name}" if hexadecimal else name for name, hexadecimal in names])
        frame.writeTo(table.branch_sql(branch).replace("{t}", table.sql_name)).append()

    return Step(f"Spark appends {len(rows)} rows", act, lambda old: old + rows, branch)


def spark_delete(where: str, matches: Callable[[dict], bool], branch: str = MAIN) -> Step:
    return Step(
        f"Spark: DELETE {where}",
        lambda table: table.sql(f"DELETE FROM {table.branch_sql(branch)} WHERE {where}") and None,
        lambda rows: [row for row in rows if not matches(row)],
        branch,
    )


def spark_update(sets: list[str], where: str, matches: Callable[[dict], bool], values: Callable[[dict], dict], branch: str = MAIN) -> Step:  # fmt: skip
    return Step(
        f"Spark: UPDATE {sets} {where}",
        lambda table: table.sql(f"UPDATE {table.branch_sql(branch)} SET {', '.join(sets)} WHERE {where}") and None,
        lambda rows: [{**row, **values(row)} if matches(row) else row for row in rows],
        branch,
    )


def spark_upgrade() -> Step:
    return spark("ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")


def create_branch(name: str) -> Step:
    def act(table: Table) -> None:
        table.sql(f"ALTER TABLE {{t}} CREATE BRANCH {name}")
        table.branches[name] = table.rows

    return Step(f"branch {name}", act)


# ---- steps through Iceberg's Java library
def equality_deletes(columns: list[str], keys: list[list], matches: Callable[[dict], bool], partition_of: list | None = None) -> Step:  # fmt: skip
    """Deletes the rows with these keys by an equality delete file; of all partitions, or of that of the row `partition_of`."""

    def act(table: Table) -> None:
        java, helper = table.java(), table.engines.helper
        spec = 0 if partition_of is None else java.spec().specId()
        helper.rowDelta(java, [], [helper.writeEq(java, spec, partition_of, columns, keys, "parquet")], [], [], None)

    return Step(f"equality delete {columns} {keys}", act, lambda rows: [row for row in rows if not matches(row)])


def nested_equality_deletes(names: list[str], keys: list, matches: Callable[[dict], bool]) -> Step:
    """The same for fields of structs; a key has the shape of the structs, with these fields only."""

    def act(table: Table) -> None:
        java, helper = table.java(), table.engines.helper
        helper.rowDelta(java, [], [helper.writeEqNested(java, names, keys)], [], [], None)

    return Step(f"equality delete {names} {keys}", act, lambda rows: [row for row in rows if not matches(row)])


def java(text: str, do: Callable, change: Callable[[Rows], Rows]) -> Step:
    return Step(f"Java: {text}", lambda table: do(table.engines.helper, table.java()) and None, change)


# ---- steps of PyIceberg
def sql_catalog(columns: dict[str, str], rows: Rows) -> Step:
    """PyIceberg creates the table in an SQLite catalog that all share, and appends rows. It writes version 2 only."""

    def act(table: Table) -> None:
        import pyarrow

        schema = pyarrow.schema(list(columns.items()))
        properties = {"format-version": "2", **MERGE_ON_READ}
        made = table.engines.sql_catalog.create_table(f"db.{table.name}", schema, properties=properties)
        made.append(pyarrow.Table.from_pylist(rows, schema))
        table.use_catalog("shared")

    return Step("PyIceberg creates the table in an SQLite catalog", act, lambda old: old + rows)


@dataclass
class History:
    name: str  # the rule that it checks
    steps: list[Step]
    key: str | None = "id"
    # Engine -> a part of its answer: what PEERS.md says it does wrong, or a wrong rows' count as "N rows".
    faults: dict[str, str] = field(default_factory=dict)
    every_snapshot: int = 1  # of the older snapshots, one of so many is read by Spark too

#!/usr/bin/env python3
"""Tables that delenda and Spark wrote in turns: Spark, PyIceberg and DuckDB read the rows that a plain model says.

For each history of histories.py: rows of the current snapshot, of older ones and of branches in Spark; row ids and the
sequence numbers of the last changes; Iceberg's metadata tables beside `delenda inspect`; the rows in PyIceberg and DuckDB,
except for their known faults, each of which must still be there; `delenda verify --deep`.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "cli"), str(HERE.parents[1] / "fixtures" / "make")]

import environment  # noqa: E402


# ---- one table
def check_spark(table, history) -> None:
    import fixturelib

    read = lambda text: fixturelib.rows_of(table.sql(text))  # noqa: E731
    for branch, rows in table.branches.items():
        at = "" if branch == "main" else f" VERSION AS OF '{branch}'"
        if table.sql(f"SELECT * FROM {{t}}.refs WHERE name = '{branch}'").count():
            table.same(f"Spark's rows of {branch}", read(f"SELECT * FROM {{t}}{at}"), rows)
    snapshots = table.lines("inspect", "snapshots")
    for snapshot in snapshots[:-1][:: history.every_snapshot]:
        id = snapshot["snapshot-id"]
        theirs = read(f"SELECT * FROM {{t}} VERSION AS OF {id}")
        table.same(f"rows of snapshot {id}, delenda's beside Spark's", table.lines("scan", "--snapshot", id), theirs)


def check_lineage(table, metadata: dict) -> None:
    """Row ids, and the sequence numbers of the last changes."""
    if metadata["format-version"] < 3 or not table.key or not table.rows:
        return
    from history import quoted

    found = {}
    for row in table.sql(f"SELECT {quoted(table.key)}, _row_id, _last_updated_sequence_number FROM {{t}}").collect():
        # A file from before row ids: by the specification the file's sequence number, in Java null.
        found[row[0]] = (row[1], row[2])
    ours = {key: (id, None if id is None else sequence) for key, (id, sequence) in table.lineage().items()}
    wrong = [(key, ours.get(key), value) for key, value in found.items() if ours.get(key) != value]
    table.check(not wrong and len(found) == len(ours), f"row, delenda's and Spark's (row id, last change): {wrong[:3]}")


def check_engine(table, name: str, read, metadata_file: str) -> None:
    """The rows of the model, or the known fault."""
    from program import bag

    fault, said, rows = table.faults.get(name), None, []
    try:
        rows = read(metadata_file)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    if fault is None:
        table.check(said is None, f"{name} does not read the table: {said}")
        table.same(f"{name}'s rows", rows, table.rows)
        return
    if said is None:
        said = "the right rows" if bag(rows) == bag(table.rows) else f"{len(rows)} rows instead of {len(table.rows)}"
    table.check(fault in said, f"the known fault of {name} is gone: it said '{fault}', now '{said}': take it out of faults here and in PEERS.md, or write what it is now")  # fmt: skip


def run_history(history, engines) -> None:
    import engine_rows
    import metadata_tables
    from history import Table

    table = Table(engines, history.name)
    table.key, table.faults = history.key, history.faults
    for step in history.steps:
        step.run(table)
    table.step = "at the end"
    metadata_file = table.metadata_file()
    metadata = metadata_tables.read_metadata(metadata_file)
    check_spark(table, history)
    check_lineage(table, metadata)
    metadata_tables.compare(table, metadata)
    check_engine(table, "PyIceberg", engine_rows.of_pyiceberg, metadata_file)
    check_engine(table, "DuckDB", engines.duckdb.rows, metadata_file)
    table.delenda("verify", "--deep", "--all-snapshots", "--errors-only")


# ---- all of them
def start_engines(folder: Path, warehouse: Path) -> SimpleNamespace:
    """One Spark for all histories, and a database that is a catalog for all engines."""
    from engine_rows import DuckDb
    from pyiceberg.catalog.sql import SqlCatalog

    scratch, shared = warehouse / "scratch", warehouse / "shared"
    for path in (scratch, shared):
        path.mkdir()
    database = shared / "catalog.db"
    sql_catalog = SqlCatalog("shared", uri=f"sqlite:///{database}", warehouse=f"file://{shared}")
    sql_catalog.create_namespace("db")
    config = shared / "catalogs.toml"
    config.write_text(f'[catalog.shared]\nuri = "sqlite:///{database}"\nwarehouse = "{shared}"\n')
    settings = {"type": "jdbc", "uri": f"jdbc:sqlite:{database}", "warehouse": str(shared), "jdbc.schema-version": "V1"}
    spark = environment.spark_session(folder, str(warehouse), {"shared": settings})
    spark.sql("CREATE NAMESPACE ice.db")
    return SimpleNamespace(
        spark=spark,
        helper=spark._jvm.FixtureHelper,
        duckdb=DuckDb(),
        sql_catalog=sql_catalog,
        delenda_config=config,
        folder=scratch,
        warehouse=warehouse,
    )


def processor_time(engines: SimpleNamespace) -> float:
    """Seconds of this process, of programs that ended and of Spark: what the checks cost whatever else the machine does."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    java = engines.spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis() / 1000
    return java + sum(usage.ru_utime + usage.ru_stime for usage in own)


def run_inside(folder: Path, names: list[str], keep: bool) -> int:
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ.setdefault("FIXTURE_SCRATCH", str(folder))
    from histories import HISTORIES

    unknown = set(names) - {history.name for history in HISTORIES}
    if unknown:
        print(f"error: no such history: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    warehouse = Path(tempfile.mkdtemp(prefix="histories-", dir=folder))
    failures, count, start = [], 0, time.time()
    try:
        engines = start_engines(folder, warehouse)
        print(f"set up: {time.time() - start:.1f} s", flush=True)
        for history in HISTORIES:
            if names and history.name not in names:
                continue
            begin = time.time()
            try:
                run_history(history, engines)
                print(f"{history.name}: {len(history.steps)} steps, {time.time() - begin:.1f} s", flush=True)
            except Exception as error:
                failures.append(history.name)
                text = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
                print(f"FAILED {history.name}: {text[:3000]}", flush=True)
            count += 1
        engines.duckdb.stop()
        spent = processor_time(engines)
        engines.spark.stop()
    finally:
        if not keep:
            shutil.rmtree(warehouse, ignore_errors=True)
    print(f"{count} histories in {time.time() - start:.0f} s ({spent:.0f} s of processors): " + (f"failed: {', '.join(failures)}" if failures else "all right"))  # fmt: skip
    return 1 if failures or not count else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("histories", nargs="*", help="names; else all")
    parser.add_argument("--folder", type=Path, default=environment.FOLDER, help="where the engines are, or will be")
    parser.add_argument("--keep", action="store_true", help="keep the tables")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.inside:
        return run_inside(folder, arguments.histories, arguments.keep)
    try:
        python = environment.set_up(folder)
    except environment.SetUpError as error:
        print(f"error: the other engines cannot be set up: {error}", file=sys.stderr)
        return 1
    variables = {**os.environ, "PYSPARK_PYTHON": str(python), "PYTHONHASHSEED": "0"}
    command = [python, "-B", Path(__file__).resolve(), "--inside", *sys.argv[1:]]
    return subprocess.run(list(map(str, command)), env=variables).returncode


if __name__ == "__main__":
    sys.exit(main())

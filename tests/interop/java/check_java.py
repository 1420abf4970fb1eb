#!/usr/bin/env python3
"""Iceberg Java, Spark and PyIceberg read tables whose every metadata byte was written by this project.

Copies of the fixture tables (write_table copy): the plan of Java's TableScan must be the one of the original table,
Spark's rows (current snapshot, older ones, refs, row lineage) those that Spark reads of the original, and PyIceberg's
row counts of version 2 tables the same. A table of many files (write_table many): Java's plan must hold every file with
its one delete, sequence numbers and first row id, with and without filters.

The engines are set up by ../engines/environment.py.
"""
import argparse
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
FIXTURES = os.path.join(ROOT, "tests", "fixtures", "iceberg")
MAKE = os.path.join(ROOT, "tests", "fixtures", "make")
sys.path.insert(0, os.path.join(HERE, "..", "engines"))

import environment  # noqa: E402

# Not what engines refuse, and not the layout of a SQL catalog.
NOT_COPIED = ("invalid_", "unsupported_", "pyiceberg_", "v3_variant")
MANY = 20_000
ROWS = 1_000
POSITION_PATH_ID = b"2147483546"

failures = []


def check(ok, what, detail=""):
    if not ok:
        failures.append(what)
        print(f"FAILED {what}: {detail}"[:2000], flush=True)
    return ok


# ------------------------------------------------------------------ copies
def fixture_tables():
    return sorted(name for name in os.listdir(FIXTURES)
                  if os.path.isdir(f"{FIXTURES}/{name}/metadata") and not name.startswith(NOT_COPIED))


def copy_files(table, warehouse):
    """Everything but metadata and Puffin files. Position delete files hold paths: they are rewritten."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    source, target = os.path.join(FIXTURES, table), os.path.join(warehouse, table)
    shutil.copytree(source, target, ignore=lambda folder, names: [
        n for n in names if n.endswith((".puffin", ".crc")) or (folder == source and n == "metadata")])
    os.makedirs(os.path.join(target, "metadata"))
    for path in glob.glob(glob.escape(target) + "/**/*.parquet", recursive=True):
        schema = pq.read_schema(path)
        ids = [(field.metadata or {}).get(b"PARQUET:field_id") for field in schema]
        if POSITION_PATH_ID not in ids:
            continue
        rows = pq.read_table(path)
        at = ids.index(POSITION_PATH_ID)
        moved = pc.replace_substring(rows.column(at), pattern="/warehouse", replacement=warehouse, max_replacements=1)
        rows = rows.set_column(at, rows.schema.field(at), moved.cast(pa.string()))
        pq.write_table(rows, path)


def lines(path):
    with open(path, encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def bag(rows):
    return collections.Counter(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)


def difference(ours, expected):
    return f"{sum(ours.values())} rows, {sum(expected.values())} expected; too many: {list(ours - expected)[:2]}, missing: {list(expected - ours)[:2]}"


def normal_plan(tasks, warehouse=None):
    """A plan without what the copy changes: sizes of delete files; paths of the original mapped to the copy."""
    out = []
    for task in tasks:
        files = [task["data_file"], *task["deletes"]]
        for file in files:
            for key in ("path", "referenced_data_file"):
                if warehouse and file.get(key):
                    file[key] = file[key].replace("/warehouse", warehouse, 1)
        for file in task["deletes"]:
            file.pop("bytes")
        task["deletes"].sort(key=lambda file: json.dumps(file, sort_keys=True))
        out.append(task)
    return out


def check_copy(spark, table, warehouse, lib):
    expected = os.path.join(FIXTURES, table + ".expected")
    helper = spark._jvm.FixtureHelper
    loaded = helper.load(f"{warehouse}/{table}")
    checks = 0
    plan = os.path.join(expected, "plan.jsonl")
    if os.path.exists(plan):
        ours = bag(normal_plan(json.loads(x) for x in helper.plan(loaded, loaded.currentSnapshot().snapshotId())))
        theirs = bag(normal_plan(lines(plan), warehouse))
        check(ours == theirs, f"{table} plan", difference(ours, theirs))
        checks += 1
    # Where Spark differs from the specification, its own rows are in a file of their own.
    peer = os.path.exists(os.path.join(expected, "current-peer.jsonl"))
    reads = [("current-peer.jsonl" if peer else "current.jsonl", "")]
    for path in sorted(glob.glob(glob.escape(expected) + "/snapshot-*.jsonl")):
        name = os.path.basename(path)
        reads.append((name, f"VERSION AS OF {name[len('snapshot-'):-len('.jsonl')]}"))
    for path in sorted(glob.glob(glob.escape(expected) + "/ref-*.jsonl")):
        name = os.path.basename(path)
        reads.append((name, f"VERSION AS OF '{name[len('ref-'):-len('.jsonl')]}'"))
    for name, version in reads:
        theirs = bag(lines(os.path.join(expected, name)))
        try:
            rows = lib.rows_of(spark.sql(f"SELECT * FROM ice.`{table}` {version}"))
        except Exception as error:
            check(False, f"{table} {name}", str(error))
            continue
        # Some expectations of old snapshots hold only the key.
        columns = list(json.loads(next(iter(theirs)))) if theirs else []
        ours = bag({c: row[c] for c in columns} for row in rows) if theirs else bag(rows)
        check(ours == theirs, f"{table} {name}", difference(ours, theirs))
        checks += 1
    lineage = os.path.join(expected, f"lineage-{loaded.currentSnapshot().snapshotId()}.jsonl")
    if os.path.exists(lineage):
        theirs = lines(lineage)
        columns = ", ".join(f"`{c}`" for c in theirs[0])
        ours = bag(lib.rows_of(spark.sql(f"SELECT {columns} FROM ice.`{table}`")))
        check(ours == bag(theirs), f"{table} lineage", difference(ours, bag(theirs)))
        checks += 1
    return checks


def check_pyiceberg(table, warehouse):
    """Version 2 tables without equality deletes (which PyIceberg refuses)."""
    from pyiceberg.table import StaticTable
    static = StaticTable.from_metadata(f"{warehouse}/{table}/metadata/v1.metadata.json")
    if static.metadata.format_version != 2 or table.startswith(("eq_", "upsert_")):
        return 0
    try:
        count = static.scan().to_arrow().num_rows
    except Exception as error:
        return check(False, f"{table} PyIceberg", repr(error))
    expected = len(lines(os.path.join(FIXTURES, table + ".expected", "current.jsonl")))
    check(count == expected, f"{table} PyIceberg", f"{count} rows, {expected} expected")
    return 1


# ------------------------------------------------------------------ many files
def expected_task(location, version, i, with_deletes):
    path = f"{location}/data/f{i:06}.parquet"
    data = {"path": path, "format": "PARQUET", "records": ROWS, "bytes": 100_000 + i, "data_seq": 1, "file_seq": 1}
    if version >= 3:
        data["first_row_id"] = i * ROWS
    deletes = []
    if with_deletes:
        deletes = [{"content": "POSITION_DELETES", "records": 2, "data_seq": 2, "referenced_data_file": path,
                    "format": "PUFFIN" if version >= 3 else "PARQUET"}]
    return data, deletes


def check_many(spark, location, version, count):
    import struct
    helper = spark._jvm.FixtureHelper
    table = helper.load(location)
    checks = 0
    blobs = {}
    if version >= 3:
        with open(f"{location}/data/all.puffin", "rb") as file:
            content = file.read()
        size = struct.unpack("<i", content[-12:-8])[0]
        for blob in json.loads(content[-12 - size:-12])["blobs"]:
            blobs[blob["properties"]["referenced-data-file"]] = (blob["offset"], blob["length"])
    for snapshot, first in ((1001, 0), (1002, 1)):
        tasks = [json.loads(line) for line in helper.plan(table, snapshot)]
        check(len(tasks) == count - first, f"many v{version} snapshot {snapshot}", f"{len(tasks)} files")
        by_path = {task["data_file"]["path"]: task for task in tasks}
        for i in range(first, count):
            data, deletes = expected_task(location, version, i, snapshot == 1002)
            task = by_path.get(data["path"])
            if task is None:
                check(False, f"many v{version} file {i}", "not planned")
                break
            same = all(task["data_file"].get(k) == v for k, v in data.items()) and len(task["deletes"]) == len(deletes)
            for delete, wanted in zip(task["deletes"], deletes):
                same = same and all(delete.get(k) == v for k, v in wanted.items())
                if version >= 3:
                    same = same and blobs[data["path"]] == (delete["content_offset"], delete["content_size"])
            if not check(same, f"many v{version} file {i}", json.dumps(task)):
                break
        checks += 1
    expressions = spark._jvm.org.apache.iceberg.expressions.Expressions
    long = spark._jvm.java.lang.Long
    live = range(1, count)
    filters = [
        ("region = 'region 3'", expressions.equal("region", "region 3"), [i for i in live if i % 50 == 3]),
        ("region is null", expressions.isNull("region"), [i for i in live if i % 50 == 7]),
        ("region = '日本/a b'", expressions.equal("region", "日本/a b"), [i for i in live if i % 50 == 49]),
        ("id = 777000", expressions.equal("id", long.valueOf(777000)), [777]),
        ("v5 < -19990", expressions.lessThan("v5", -19990.0), [i for i in live if -i < -19990]),
        ("ts < 1969-12-31", expressions.lessThan("ts", "1969-12-31T00:00:00+00:00"), [i for i in live if i % 400 < 176]),
        ("amount is null", expressions.isNull("amount"), [i for i in live if i % 7 == 0]),
    ]
    for name, expression, wanted in filters:
        found = []
        tasks = table.newScan().filter(expression).planFiles()
        iterator = tasks.iterator()
        while iterator.hasNext() and len(found) <= 2 * len(wanted) + 10:
            found.append(int(iterator.next().file().location()[-14:-8]))
        tasks.close()
        # A file with the wanted partition is planned even when its rows' statistics cannot match, so a superset is right.
        check(set(found) >= set(wanted) and len(found) <= len(wanted) * 1.1 + 1, f"many v{version} filter {name}",
              f"{len(found)} files, {len(wanted)} expected")
        checks += 1
    name = os.path.basename(location)
    row = spark.sql(f"SELECT count(*), sum(record_count), max(readable_metrics.id.upper_bound), "
                    f"min(readable_metrics.amount.lower_bound), sum(readable_metrics.v5.nan_value_count), "
                    f"count(DISTINCT partition) FROM ice.`{name}`.data_files").collect()[0]
    check(row[0] == count - 1 and row[1] == (count - 1) * ROWS and row[2] == count * ROWS - 1
          and str(row[3]) == "-30000000.00" and row[4] == count - 1, f"many v{version} statistics", str(row))
    summaries = spark.sql(f"SELECT partition_summaries FROM ice.`{name}`.manifests").collect()
    check(all(len(s[0]) == 4 and s[0][0]["contains_null"] and s[0][0]["upper_bound"] == "日本/a b" for s in summaries),
          f"many v{version} summaries", str(summaries[0]))
    return checks + 2


# ------------------------------------------------------------------
def run(program, venv, tables, count, keep):
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ.setdefault("FIXTURE_SCRATCH", venv)
    sys.path.insert(0, MAKE)
    import fixturelib
    warehouse = tempfile.mkdtemp(prefix="interop-", dir=venv)
    try:
        for table in tables:
            copy_files(table, warehouse)
            subprocess.run([program, "copy", FIXTURES, table, warehouse], check=True)
        for version in (2, 3):
            location = f"{warehouse}/many_v{version}"
            for folder in ("metadata", "data"):
                os.makedirs(f"{location}/{folder}")
            subprocess.run([program, "many", location, str(version), str(count)], check=True)
        spark = environment.spark_session(Path(venv), warehouse)
        for version in (2, 3):
            start = time.time()
            checks = check_many(spark, f"{warehouse}/many_v{version}", version, count)
            print(f"many_v{version}: {checks} checks, {time.time() - start:.1f} s", flush=True)
        for table in tables:
            start = time.time()
            checks = check_copy(spark, table, warehouse, fixturelib) + check_pyiceberg(table, warehouse)
            print(f"{table}: {checks} checks, {time.time() - start:.1f} s", flush=True)
        spark.stop()
    finally:
        if not keep:
            shutil.rmtree(warehouse, ignore_errors=True)
    print("all right" if not failures else f"{len(failures)} failures: {failures}")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="write_table")
    parser.add_argument("--venv", default=str(environment.FOLDER), help="where the engines are, or will be")
    parser.add_argument("--tables", nargs="*", default=fixture_tables())
    parser.add_argument("--count", type=int, default=MANY, help="files of the large table")
    parser.add_argument("--keep", action="store_true", help="keep the tables")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return run(arguments.program, arguments.venv, arguments.tables, arguments.count, arguments.keep)
    try:
        python = str(environment.set_up(Path(arguments.venv)))
    except environment.SetUpError as error:
        print(f"error: the other engines cannot be set up: {error}", file=sys.stderr)
        return 1
    variables = dict(os.environ, PYSPARK_PYTHON=python)
    return subprocess.run([python, "-B", os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=variables).returncode


if __name__ == "__main__":
    sys.exit(main())

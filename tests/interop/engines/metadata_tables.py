"""Iceberg's metadata tables, as Spark gives them, beside what `delenda inspect` prints, and both beside the rows."""

import collections
import datetime
import json
import os
from pathlib import Path

CONTENT = {"deletion-vector": 1, "position-deletes": 1, "equality-deletes": 2}
SIMPLE = {"boolean", "int", "long", "float", "double", "date", "timestamp", "timestamptz", "string"}


def current_metadata(location: str) -> str:
    """The newest metadata file of a table in a folder."""
    folder = Path(location) / "metadata"
    files = {}
    for path in folder.glob("v*.metadata.json"):
        files[int(path.name.split(".")[0][1:])] = path
    return str(files[max(files)])


def read_metadata(path: str) -> dict:
    import gzip

    content = Path(path).read_bytes()
    return json.loads(gzip.decompress(content) if ".gz." in os.path.basename(path) else content)


# ---- partitions
def _human(value, transform: str) -> str:
    """A partition value as `inspect` prints it: as Iceberg writes it for people."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()  # Iceberg's own is base64; `inspect` prints binary values alike everywhere
    if transform == "hour":
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(hours=value)).strftime("%Y-%m-%d-%H")
    if transform == "month":
        return f"{1970 + value // 12:04}-{value % 12 + 1:02}"
    if transform == "year":
        return f"{1970 + value:04}"
    return str(value)


def _partition_text(metadata: dict, spec_id: int, partition) -> str:
    """As `inspect` prints it: the fields of the file's own spec."""
    spec = next(spec for spec in metadata["partition-specs"] if spec["spec-id"] == spec_id)
    values = {} if partition is None else partition.asDict()
    return "/".join(f"{f['name']}={_human(values.get(f['name']), f['transform'])}" for f in spec["fields"])


def _number(value) -> int:
    return int(value or 0)


def compare_files(table, metadata: dict) -> tuple[list, list]:
    """Tables `files`, `data_files` and `delete_files`; gives their rows for further checks."""
    # Not all columns: with a uuid column Spark fails to make readable_metrics.
    frame = table.sql("SELECT * FROM {t}.files").drop("readable_metrics")
    files = [row.asDict() for row in frame.collect()]
    ours = {}
    for file in table.lines("inspect", "files"):
        ours[file["path"], None] = {**file, "content": 0}
    for file in table.lines("inspect", "deletes"):
        # Equality deletes are listed with the data files that they may apply to; the metadata table lists all live ones.
        ours[file["path"], file["content-offset"]] = {**file, "content": CONTENT[file["content"]]}
    theirs = {}
    for row in files:
        values = {
            "content": row["content"],
            "format": row["file_format"].lower(),
            "record-count": row["record_count"],
            "file-size": row["file_size_in_bytes"],
            "spec-id": row["spec_id"],
            "partition": _partition_text(metadata, row["spec_id"], row.get("partition")),
        }
        if row["content"] == 0:
            values["first-row-id"] = row["first_row_id"]
        else:
            values["content-size"] = row["content_size_in_bytes"]
            # Of older position deletes `inspect` tells it from the bounds of their paths.
            if row["file_format"] == "PUFFIN" or row["referenced_data_file"] is not None:
                values["referenced-data-file"] = row["referenced_data_file"]
            if row["equality_ids"]:
                values["equality-ids"] = list(row["equality_ids"])
        theirs[row["file_path"], row["content_offset"]] = values
    table.check(len(theirs) == len(files), f"files: {len(files)} rows for {len(theirs)} files")
    table.check(set(ours) == set(theirs), f"files: only in inspect: {sorted(set(ours) - set(theirs), key=str)[:3]}, only in Spark: {sorted(set(theirs) - set(ours), key=str)[:3]}")  # fmt: skip
    for place, values in theirs.items():
        for name, value in values.items():
            table.check(ours[place].get(name) == value, f"files: {place} {name}: inspect {ours[place].get(name)!r}, Spark {value!r}")  # fmt: skip
    for name, deletes in (("data_files", False), ("delete_files", True)):
        paths = {(row[0], row[1]) for row in table.sql(f"SELECT file_path, content_offset FROM {{t}}.{name}").collect()}
        wanted = {(row["file_path"], row["content_offset"]) for row in files if (row["content"] > 0) == deletes}
        table.check(paths == wanted, f"{name}: {paths ^ wanted}")
    data = [row for row in files if row["content"] == 0]
    return data, [row for row in files if row["content"] > 0]


def compare_plan(table) -> None:
    """Which vector belongs to which data file, and sequence numbers: Java's plan of a scan."""
    java = table.java()
    ours = {file["path"]: file for file in table.lines("inspect", "files")}
    theirs = [json.loads(line) for line in table.engines.helper.plan(java, java.currentSnapshot().snapshotId())]
    table.check(len(ours) == len(theirs), f"plan: {len(ours)} data files in inspect, {len(theirs)} in Java")
    for task in theirs:
        file = task["data_file"]
        mine = ours[file["path"]]
        numbers = (mine["sequence-number"], mine["file-sequence-number"], mine.get("first-row-id"))
        wanted = (file["data_seq"], file["file_seq"], file.get("first_row_id"))
        table.check(numbers == wanted, f"plan: {file['path']}: inspect {numbers}, Java {wanted}")
        vectors = [d for d in task["deletes"] if d["format"] == "PUFFIN"]
        wanted = [(d["path"], d["content_offset"], d["content_size"], d["records"]) for d in vectors]
        vector = mine.get("deletion-vector")
        found = [(vector["path"], vector["content-offset"], vector["content-size"], vector["cardinality"])] if vector else []
        table.check(found == wanted, f"plan: vectors of {file['path']}: inspect {found}, Java {wanted}")


def compare_partitions(table, metadata: dict, data: list, deletes: list) -> None:
    """Table `partitions` beside the sums over the files that `inspect` lists."""
    ours = {file["path"]: file for file in table.lines("inspect", "files")}
    ours |= {(file["path"], file["content-offset"]): file for file in table.lines("inspect", "deletes")}
    wanted = collections.defaultdict(collections.Counter)
    for row in data + deletes:
        sums = wanted[str(row.get("partition"))]
        if row["content"] == 0:
            file = ours[row["file_path"]]
            sums.update(record_count=file["record-count"], file_count=1, total_data_file_size_in_bytes=file["file-size"])
        else:
            kind = "position" if row["content"] == 1 else "equality"
            file = ours[row["file_path"], row["content_offset"]]
            sums.update({f"{kind}_delete_record_count": file["record-count"], f"{kind}_delete_file_count": 1})
    names = ["record_count", "file_count", "total_data_file_size_in_bytes"]
    names += [f"{kind}_delete_{of}_count" for kind in ("position", "equality") for of in ("record", "file")]
    rows = [row.asDict() for row in table.sql("SELECT * FROM {t}.partitions").collect()]
    found = {str(row.get("partition")): row for row in rows}
    if not data and not deletes and not any(row.get("partition") for row in rows):
        wanted = {key: collections.Counter() for key in found}
    table.check(set(found) == set(wanted), f"partitions: {set(found) ^ set(wanted)}")
    snapshots = {s["snapshot-id"] for s in table.lines("inspect", "snapshots")}
    for key, row in found.items():
        for name in names:
            table.check(_number(row[name]) == wanted[key][name], f"partitions: {key} {name}: Spark {row[name]}, {wanted[key][name]} in inspect")  # fmt: skip
        last = row["last_updated_snapshot_id"]
        table.check(last is None or last in snapshots, f"partitions: {key}: last updated by unknown snapshot {last}")


def compare_snapshots(table, data: list, deletes: list) -> None:
    """Table `snapshots`, and the totals of the current summary beside the files."""
    theirs = {row["snapshot_id"]: row.asDict() for row in table.sql("SELECT * FROM {t}.snapshots").collect()}
    ours = table.lines("inspect", "snapshots")
    table.check({s["snapshot-id"] for s in ours} == set(theirs), f"snapshots: {[s['snapshot-id'] for s in ours]}, Spark {list(theirs)}")  # fmt: skip
    for snapshot in ours:
        row = theirs[snapshot["snapshot-id"]]
        time = row["committed_at"].isoformat(timespec="milliseconds") + "Z"
        wanted = (row["parent_id"], row["operation"], time, dict(row["summary"]))
        found = (snapshot["parent-snapshot-id"], snapshot["operation"], snapshot["committed-at"], snapshot["summary"])
        table.check(found == wanted, f"snapshots: inspect {found}, Spark {wanted}")
    current = next((s for s in ours if s["current"]), None)
    if current is None:
        return
    summary = current["summary"]
    position, equality = ([d for d in deletes if d["content"] == content] for content in (1, 2))
    totals = {
        "total-records": sum(f["record_count"] for f in data),
        "total-data-files": len(data),
        "total-delete-files": len(deletes),
        "total-position-deletes": sum(d["record_count"] for d in position),
        "total-equality-deletes": sum(d["record_count"] for d in equality),
        # Of a Puffin file with several vectors each counts by its own size.
        "total-files-size": sum(d["content_size_in_bytes"] or d["file_size_in_bytes"] for d in deletes)
        + sum(f["file_size_in_bytes"] for f in data),
    }
    for name, value in totals.items():
        table.check(_number(summary.get(name)) == value, f"snapshots: {name}: {summary.get(name)}, but the files hold {value}")  # fmt: skip


def check_bounds(table, metadata: dict) -> None:
    """A bound that is too narrow would lose rows: each file's live rows lie within its statistics, as Spark reads them."""
    from history import quoted

    schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    columns = [f["name"] for f in schema["fields"] if isinstance(f["type"], str) and f["type"] in SIMPLE]
    if not columns:
        return
    parts = ", ".join(
        f"named_struct('low', min({c}), 'high', max({c}), 'nulls', count_if({c} IS NULL)) AS c{i}"
        for i, c in enumerate(map(quoted, columns))
    )
    live = {row["_file"]: row for row in table.sql(f"SELECT _file, count(*) AS n, {parts} FROM {{t}} GROUP BY _file").collect()}  # fmt: skip
    metrics = ", ".join(f"readable_metrics.{c} AS m{i}" for i, c in enumerate(map(quoted, columns)))
    files = table.sql(f"SELECT file_path, record_count, {metrics} FROM {{t}}.data_files").collect()
    for file in files:
        rows = live.get(file["file_path"])
        if rows is None:
            continue
        for i, column in enumerate(columns):
            metrics, found = file[f"m{i}"], rows[f"c{i}"]
            low, high, nulls, count = (metrics[k] for k in ("lower_bound", "upper_bound", "null_value_count", "value_count"))  # fmt: skip
            where = f"bounds of {column} in {file['file_path']}"
            is_nan = [isinstance(x, float) and x != x for x in (found["low"], found["high"])]
            if low is not None and found["low"] is not None and not is_nan[0]:
                table.check(low <= found["low"], f"{where}: lower bound {low!r}, but {found['low']!r} is there")
            if high is not None and found["high"] is not None and not is_nan[1]:
                table.check(high >= found["high"], f"{where}: upper bound {high!r}, but {found['high']!r} is there")
            table.check(nulls is None or nulls >= found["nulls"], f"{where}: {nulls} nulls, but {found['nulls']} are there")
            table.check(count is None or count == file["record_count"], f"{where}: {count} values in {file['record_count']} rows")  # fmt: skip


def compare(table, metadata: dict) -> None:
    data, deletes = compare_files(table, metadata)
    compare_partitions(table, metadata, data, deletes)
    compare_snapshots(table, data, deletes)
    if any(s["current"] for s in table.lines("inspect", "snapshots")):
        compare_plan(table)
    check_bounds(table, metadata)

"""Prints the rows that DuckDB reads of an Iceberg table's metadata file, one JSON object a line."""

import glob
import importlib.util
import json
import sys

import duckdb
from engine_rows import of_arrow


def connect():
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "iceberg"):
        folder = list(importlib.util.find_spec(f"duckdb_extension_{name}").submodule_search_locations)[0]
        connection.execute(f"LOAD '{glob.glob(f'{folder}/extensions/*/{name}.duckdb_extension')[0]}'")
    connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
    return connection


def main() -> int:
    # An inserted quote is doubled, as in SQL.
    path = sys.argv[1].replace("'", "''")
    try:
        rows = of_arrow(connect().execute(f"SELECT * FROM iceberg_scan('{path}')").to_arrow_table())
    except duckdb.Error as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())

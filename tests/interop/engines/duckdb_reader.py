"""Answers each path of an Iceberg metadata file (a JSON text a line) with the rows that DuckDB reads, or its error."""

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
    connection = connect()
    for line in sys.stdin:
        path = json.loads(line).replace("'", "''")
        try:
            answer = {"rows": of_arrow(connection.execute(f"SELECT * FROM iceberg_scan('{path}')").to_arrow_table())}
        except duckdb.Error as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
        if "error" in answer:
            # After an internal error a database answers nothing more.
            connection = connect()
    return 0


if __name__ == "__main__":
    sys.exit(main())

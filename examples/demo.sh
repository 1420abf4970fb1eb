#!/usr/bin/env bash
# Lives through the life of a table (story.sh); then reads real Iceberg tables with deleted rows and compares every row with
# what Apache Spark returned for them.
#
# Those tables lie in tests/fixtures/iceberg, written by Spark; beside each, <table>.expected/current.jsonl holds the rows
# that Spark reads at the current snapshot. The tables' own paths start with /warehouse, so that prefix is mapped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/release
log=$build/demo-build.log
mkdir -p "$build"
echo "Building the program (log: $log) ..."
if ! { cmake --preset release && cmake --build --preset release --target delenda_cli; } >"$log" 2>&1; then
  tail -n 40 "$log"
  echo "demo: the build failed" >&2
  exit 1
fi
delenda=$build/bin/delenda
tables=tests/fixtures/iceberg
map=(--map-location "/warehouse=$PWD/$tables")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

show() {
  printf '\n$ delenda'
  printf ' %s' "$@"
  printf '\n'
}

# check TABLE: scan it and compare its rows, as a sorted list, with Spark's.
failed=0
check() {
  local table=$1 path=$tables/$1 rows=$scratch/rows expected=$tables/$1.expected/current.jsonl
  show scan "$path" --map-location "/warehouse=$tables" --format jsonl
  "$delenda" scan "$path" "${map[@]}" --format jsonl >"$rows"
  head -n 2 "$rows" | cut -c 1-150 | sed 's/^/  /'
  local counted
  counted=$("$delenda" count "$path" "${map[@]}")
  echo "  ... $(wc -l <"$rows") rows; delenda count: $counted; Spark: $(wc -l <"$expected") rows"
  if python3 examples/same_rows.py "$rows" "$expected" && [[ "$counted" == "$(wc -l <"$expected")" ]]; then
    echo "  RIGHT: the same rows as Spark, value for value"
  else
    echo "  WRONG: not Spark's rows"
    failed=1
  fi
}

echo
examples/story.sh "$delenda" || failed=1

cat <<'TEXT'

Tables that Spark wrote.

delenda reads lakehouse tables whose rows were deleted by position. A data file is never rewritten for that: a deletion
vector or a position delete file says which of its rows are gone. A reader that ignores them returns deleted rows.

1. Iceberg v3: deletion vectors in Puffin files
TEXT
check mor_dv

echo
echo "2. What was deleted where"
show inspect "$tables/mor_dv" deletes --map-location "/warehouse=$tables" --format table
"$delenda" inspect "$tables/mor_dv" deletes "${map[@]}" --format table |
  # Full paths are wider than a screen.
  sed -E 's#/warehouse/mor_dv/data/([0-9a-z-]{16})[0-9a-zA-Z.-]*(\.[a-z]+)#\1...\2#g; s/  +/  /g; /^--/d; s/^/  /'
echo
show count "$tables/mor_dv" --map-location "/warehouse=$tables" --json
"$delenda" count "$tables/mor_dv" "${map[@]}" --json | sed 's/^/  /'
echo "  No data file was opened to count: record counts minus the vectors' cardinalities."

echo
echo "3. A partitioned table, and one where position delete files and deletion vectors are mixed"
check mor_dv_partitioned
check mor_mixed

echo
echo "4. Iceberg v2: position delete files, one per data file and one per partition"
check mor_pos_v2_file
check mor_pos_v2_partition

# check_changes TABLE: its raw changes from its beginning on, against the differences of Spark's reads.
check_changes() {
  local path=$tables/$1 rows=$scratch/rows expected to
  expected=$(ls "$path".expected/changes-start-*.jsonl)
  to=${expected##*-}
  show changes "$path" --to "${to%.jsonl}" --raw --updates none --with-metadata --map-location "/warehouse=$tables"
  # Spark's states have no words for these two.
  "$delenda" changes "$path" --to "${to%.jsonl}" --raw --updates none --with-metadata "${map[@]}" --format jsonl |
    sed -E 's/, "_row_id": [0-9a-z]+//; s/, "_commit_timestamp": "[^"]*"//' >"$rows"
  echo "  ... $(wc -l <"$rows") changes; Spark: $(wc -l <"$expected")"
  if python3 examples/same_rows.py "$rows" "$expected"; then
    echo "  RIGHT: the differences of Spark's states, row for row and position for position"
  else
    echo "  WRONG: not the differences of Spark's states"
    failed=1
  fi
}

echo
echo "5. What changed: deletion vectors added and replaced, rows restored, copy-on-write"
show changes "$tables/cl_basic" --from 8016585588491241176 --select id,v --map-location "/warehouse=$tables"
"$delenda" changes "$tables/cl_basic" --from 8016585588491241176 --select id,v "${map[@]}" --format table | sed 's/^/  /'
check_changes cl_basic
check_changes cl_dv_removed
check_changes cl_cow_peer

echo
echo "6. A damaged deletion vector (wrong checksum) is refused before any row is returned"
show scan "$tables/invalid_dv_crc" --map-location "/warehouse=$tables"
if "$delenda" scan "$tables/invalid_dv_crc" "${map[@]}" --format jsonl >"$scratch/rows" 2>"$scratch/error"; then
  echo "  WRONG: it was read"
  failed=1
else
  code=$?
  sed "s#$PWD/##g; s/^/  /" "$scratch/error"
  echo "  exit code $code, $(wc -l <"$scratch/rows") rows"
  if ((code != 1)) || [[ -s "$scratch/rows" ]]; then failed=1; fi
fi

echo
if ((failed)); then
  echo "demo: FAILED"
  exit 1
fi
echo "demo: every table right"

#!/usr/bin/env bash
# The life of a table: created, filled from a CSV file, brought up to date by a file of change events, changed by hand;
# then read, checked, and compared with what Apache Spark reads from it (examples/orders/spark.jsonl).
#
# Usage: examples/story.sh DELENDA (the program)
set -euo pipefail
delenda=$(realpath "$1")
orders=$(realpath "$(dirname "${BASH_SOURCE[0]}")/orders")
same_rows=$(realpath "$(dirname "${BASH_SOURCE[0]}")/same_rows.py")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$orders"/monday.csv "$orders"/tuesday.jsonl .

# Shows a command as a person would type it, then what it prints.
run() {
  local word
  printf '\n$ delenda'
  for word in "$@"; do
    if [[ $word == *[^a-zA-Z0-9_./=-]* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi
  done
  printf '\n'
  "$delenda" "$@" | sed "s#$PWD/##g; s/^/  /"
}

echo 'A table of orders, partitioned by region; one order is one row, told apart by its id:'
run create orders --columns "id long NOT NULL, region string, item string, amount decimal(10,2), state string, updated_at timestamptz" --partition-by region --key id

echo; echo 'Monday: 40 orders from a CSV file.'
run append orders monday.csv

echo; echo 'Tuesday: 14 change events, as a database log gives them. The last event of each order counts.'
head -n 3 tuesday.jsonl | sed 's/^/  /'
run upsert orders tuesday.jsonl --key id --delete-when "op = 'd'"

echo; echo 'By hand: one order less, desks dearer; and what another delete would do.'
run delete orders --where "id = 1"
run update orders --set "amount = amount + 10.00" --where "item = 'desk'"
run delete orders --where "amount < 60" --dry-run

echo; echo 'What is there now, and what happened to it:'
run scan orders --select id,region,item,amount,state,_row_id --where "id in (3, 7, 12, 41)" --format table
run changes orders --select id,region,state --where "id in (5, 7, 12, 41)" --format table
printf '\n$ delenda inspect orders deletes --format table\n'
"$delenda" inspect orders deletes --format table |
  # Full paths are wider than a screen.
  sed -E "s#$PWD/orders/data/##g; s#[0-9a-z-]{20}[0-9a-zA-Z-]*(\.puffin|\.parquet)#...\1#g; s/  +/  /g; /^--/d; s/^/  /"
run verify orders --deep --format table

"$delenda" scan orders --format jsonl >rows
if python3 "$same_rows" rows "$orders/spark.jsonl"; then
  echo "  RIGHT: $(wc -l <rows) rows, the same as Spark reads from this table"
else
  echo "  WRONG: not Spark's rows"
  exit 1
fi

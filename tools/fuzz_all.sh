#!/usr/bin/env bash
# Run every fuzz target of a build folder for some seconds each, two at a time.
#
#   tools/fuzz_all.sh BUILD_FOLDER SECONDS
#
# New inputs go to fuzz/run/<name>, which git ignores. An input that crashes becomes fuzz/crashes/<name>/..., and with it
# a test of every later build, until and after it is fixed.
set -euo pipefail
build=$(realpath "$1")
seconds=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzz_one() {
  local name=$1 log="fuzz/run/$1.log"
  mkdir -p "fuzz/run/$name" "fuzz/crashes/$name"
  local inputs=("fuzz/run/$name" "fuzz/corpus/$name" "fuzz/crashes/$name")
  if "$build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="fuzz/crashes/$name/" "${inputs[@]}" >"$log" 2>&1; then
    echo "fuzz: $name: $(awk '/number_of_executed_units/ {print $2}' "$log") runs in $seconds s, nothing found"
    rmdir --ignore-fail-on-non-empty "fuzz/crashes/$name"
  else
    echo "fuzz: $name: FOUND, see $log"
    tail -n 40 "$log"
    return 1
  fi
}
export -f fuzz_one
export build seconds

shopt -s nullglob
names=()
for program in "$build"/fuzz/fuzz_*; do
  [[ -x "$program" && -f "$program" ]] && names+=("${program##*/fuzz_}")
done
if ((${#names[@]} == 0)); then
  echo "fuzz: no targets in $build" >&2
  exit 1
fi
printf '%s\n' "${names[@]}" | xargs -P 2 -I{} bash -euo pipefail -c 'fuzz_one {}'
rmdir --ignore-fail-on-non-empty fuzz/crashes 2>/dev/null || true

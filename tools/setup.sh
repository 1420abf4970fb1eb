#!/usr/bin/env bash
# Bring everything that delenda is built from onto a Debian 12 machine: packages, the pyarrow wheel in .venv, CRoaring's
# amalgamation in third_party/. Does nothing that is done already.
#
#   tools/setup.sh           what `make test` and `make demo` need
#   tools/setup.sh dev       and what `make soak`, `make tidy` and `make bench` need (clang 19)
#   tools/setup.sh interop   and a JDK and Maven, for `make interop`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pyarrow_version=26.0.1
pyroaring_version=1.2.0
pyroaring_sha256=e33bf8fc8d8aad7373f62147cb5dbfaf0fdcf19af8069d034cd8ef4fb41a78af

packages=(
  ca-certificates cmake ninja-build g++ ccache python3 python3-venv clang-format-19 strace
  libfmt-dev nlohmann-json3-dev libdeflate-dev libzstd-dev libsnappy-dev liblz4-dev libcli11-dev
  libsqlite3-dev libtomlplusplus-dev
  libgtest-dev libgmock-dev librapidcheck-dev
)
case "${1:-}" in
  dev) packages+=(clang-19 clang-tidy-19 libclang-rt-19-dev libbenchmark-dev) ;;
  interop) packages+=(openjdk-17-jdk-headless maven) ;;
esac

say() { printf 'setup: %s\n' "$*"; }

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ "$state" == ii* ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { say "these packages are missing and need root: ${missing[*]}"; exit 1; }
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    </dev/null >/dev/null
fi

# The wheel also holds Arrow's C++ headers and libraries.
if ! .venv/bin/python3 -c "import sys, pyarrow; sys.exit(pyarrow.__version__ != '$pyarrow_version')" 2>/dev/null; then
  say "pyarrow $pyarrow_version into .venv"
  rm -rf .venv
  # Debian's own interpreter first: others on PATH may come without what the wheel's module needs.
  for python in /usr/bin/python3 python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi
  done
  "$python" -m venv .venv
  .venv/bin/pip install --quiet --only-binary :all: "pyarrow==$pyarrow_version"
fi

stamp=third_party/croaring/VERSION
if [[ "$(cat "$stamp" 2>/dev/null || true)" != "pyroaring $pyroaring_version" ]]; then
  say "CRoaring from the source package of pyroaring $pyroaring_version into third_party/croaring"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  .venv/bin/pip download --quiet --no-binary :all: --no-deps --dest "$scratch" "pyroaring==$pyroaring_version"
  echo "$pyroaring_sha256  $scratch/pyroaring-$pyroaring_version.tar.gz" | sha256sum --check --quiet
  tar -xzf "$scratch/pyroaring-$pyroaring_version.tar.gz" -C "$scratch"
  rm -rf third_party/croaring
  mkdir -p third_party/croaring/include/roaring
  cp "$scratch/pyroaring-$pyroaring_version/pyroaring/roaring.c" third_party/croaring/
  cp "$scratch/pyroaring-$pyroaring_version/pyroaring/roaring.h" third_party/croaring/include/roaring/
  echo "pyroaring $pyroaring_version" >"$stamp"
fi

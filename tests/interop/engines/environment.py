#!/usr/bin/env python3
"""The engines that tables of this project are checked with: Spark with Iceberg's Java library, PyIceberg and DuckDB.

They come from the package registries into a folder of the build tree: Python packages by pip, jars by Maven. What is there
already is used again. Needs python3, Maven and a JDK (17 or later): `tools/setup.sh interop`.

    environment.py [--folder FOLDER]     sets it up and does nothing else
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "interop-venv"
MAKE = ROOT / "tests" / "fixtures" / "make"

PACKAGES = [
    "pyspark==4.1.4",
    "pyiceberg[pyarrow,snappy,sql-sqlite]==0.12.0",
    "pyiceberg-core==0.11.0",
    "duckdb==1.5.5",
    "duckdb-extension-iceberg==1.5.5",
    "duckdb-extension-avro==1.5.5",
]
JARS = [
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "org.xerial:sqlite-jdbc:3.50.3.0",
]


class SetUpError(Exception):
    """What is missing, and what to do."""


def _run(what: str, command: list, **options) -> None:
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    except OSError as error:
        raise SetUpError(f"{what}: cannot run {command[0]}: {error}") from error
    if done.returncode != 0:
        raise SetUpError(f"{what}: exit {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")


def set_up(folder: Path = FOLDER) -> Path:
    """The Python that has the engines, made if need be. One process at a time works at it."""
    for program, package in (("java", "a JDK"), ("javac", "a JDK"), ("mvn", "Maven")):
        if shutil.which(program) is None:
            raise SetUpError(f"there is no '{program}': {package} is missing, `tools/setup.sh interop` installs it")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = folder / "bin" / "python3"
        done, wanted = folder / "installed.txt", "\n".join(PACKAGES + JARS)
        if not done.exists() or done.read_text() != wanted:
            # Debian's own interpreter first: others on PATH may come without what the engines' modules need.
            own = next((p for p in ("/usr/bin/python3", sys.executable) if _can_make_environments(p)), None)
            if own is None:
                raise SetUpError("python3 has no modules venv and ensurepip: `tools/setup.sh interop` installs them")
            if not python.exists():
                _run("a Python environment", [own, "-m", "venv", folder])
            _run("Python packages", [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", "duckdb,pyarrow,pyiceberg", *PACKAGES])  # fmt: skip
            for jar in JARS:
                _run(f"the jar {jar}", ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}", f"-DoutputDirectory={folder / 'jars'}"], cwd=folder)  # fmt: skip
            done.write_text(wanted)
        _compile_helper(folder, python)
    return python


def _can_make_environments(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
    except OSError:
        return False


def jars(folder: Path) -> list[str]:
    return [str(folder / "jars" / f"{name}-{version}.jar") for _, name, version in (jar.split(":") for jar in JARS)]


def _compile_helper(folder: Path, python: Path) -> None:
    """Iceberg's Java interface for what Spark's SQL cannot write."""
    source, compiled = MAKE / "FixtureHelper.java", folder / "classes" / "FixtureHelper.class"
    if compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime:
        return
    compiled.parent.mkdir(exist_ok=True)
    pyspark = subprocess.run([python, "-c", "import pyspark; print(pyspark.__path__[0])"], capture_output=True, text=True)
    path = ":".join([*jars(folder), f"{pyspark.stdout.strip()}/jars/*"])
    _run("FixtureHelper.java", ["javac", "-nowarn", "-cp", path, "-d", compiled.parent, source])


def spark_session(folder: Path, warehouse: str, catalogs: dict[str, dict[str, str]] | None = None):
    """A session whose catalog `ice` holds the tables below `warehouse`; more Iceberg catalogs by their settings."""
    os.environ["TZ"] = "UTC"
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.extraClassPath": ":".join([*jars(folder), str(folder / "classes")]),
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -Dderby.system.home={warehouse}",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": f"{warehouse}/spark",
        "spark.local.dir": f"{warehouse}/local",
    }
    for name, values in {"ice": {"type": "hadoop", "warehouse": warehouse}, **(catalogs or {})}.items():
        settings[f"spark.sql.catalog.{name}"] = "org.apache.iceberg.spark.SparkCatalog"
        settings[f"spark.sql.catalog.{name}.cache-enabled"] = "false"
        settings.update({f"spark.sql.catalog.{name}.{key}": value for key, value in values.items()})
    builder = SparkSession.builder.appName("interop").master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    try:
        print(set_up(parser.parse_args().folder.resolve()))
    except SetUpError as error:
        print(f"error: the other engines cannot be set up: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

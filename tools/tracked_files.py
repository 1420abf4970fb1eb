"""The files of the tree that belong to the project: tracked by git, or new and not ignored."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Where git is not at hand (a source archive), folders that set-up and builds make.
NOT_OURS = {".git", ".venv", "build", "third_party", "__pycache__"}


def tracked_files(root: Path = ROOT) -> list[Path]:
    try:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True,
        ).stdout  # fmt: skip
        names = [root / name.decode() for name in listed.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [p for p in root.rglob("*") if not NOT_OURS & set(p.relative_to(root).parts)]
    return sorted(path for path in names if path.is_file())

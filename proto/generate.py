"""Generate the Python code and stubs of the contract from proto/, or say what is stale.

python proto/generate.py [ROOT]    writes ROOT/himeji/v1 (ROOT is engine/ unless given)
python proto/generate.py --check   writes nothing; fails if engine/himeji/v1 is not fresh
"""

from __future__ import annotations

import argparse
import importlib.resources
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
ENGINE = SOURCES.parent / "engine"
PACKAGE = Path("himeji/v1")
PLUGINS = ("mypy", "mypy_grpc")
INIT = '"""The code of the contract: made from proto/ by proto/generate.py, never edited."""\n'


def generate(root: Path) -> None:
    """Write the package into `root` and remove from it what the contract no longer has."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = contents(build(Path(folder)))
    package = root / PACKAGE
    package.mkdir(parents=True, exist_ok=True)
    for name in contents(package).keys() - fresh.keys():
        (package / name).unlink()
    for name, data in fresh.items():
        (package / name).write_bytes(data)


def check(root: Path) -> list[str]:
    """Say of each file in `root` how it differs from what the contract would make of it."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = contents(build(Path(folder)))
    present = contents(root / PACKAGE)
    faults = []
    for name in sorted(fresh.keys() | present.keys()):
        if name not in present:
            faults.append(f"missing: {PACKAGE / name}")
        elif name not in fresh:
            faults.append(f"superfluous: {PACKAGE / name}")
        elif present[name] != fresh[name]:
            faults.append(f"stale: {PACKAGE / name}")
    return faults


def build(root: Path) -> Path:
    """Run protoc into the empty folder `root` and return the package's folder."""
    names = sorted(str(path.relative_to(SOURCES)) for path in SOURCES.glob(f"{PACKAGE}/*.proto"))
    # Files without a service would give empty modules.
    services = [name for name in names if name.endswith("_service.proto")]
    protoc([f"--python_out={root}", f"--mypy_out=quiet:{root}"], names)
    protoc([f"--grpc_python_out={root}", f"--mypy_grpc_out=quiet:{root}"], services)
    (root / PACKAGE / "__init__.py").write_text(INIT, encoding="utf-8")
    return root / PACKAGE


def protoc(outputs: list[str], names: list[str]) -> None:
    """Run protoc once; the plugins are those beside this Python, wherever PATH points."""
    google = importlib.resources.files("grpc_tools") / "_proto"
    scripts = Path(sys.executable).parent
    command = [
        *(sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={SOURCES}"),
        f"--proto_path={google}",
        *(f"--plugin=protoc-gen-{name}={scripts}/protoc-gen-{name}" for name in PLUGINS),
        *outputs,
        *names,
    ]
    subprocess.run(command, check=True)  # noqa: S603  (our own arguments, no shell)


def contents(package: Path) -> dict[str, bytes]:
    """Return the files of a package by name; what Python caches beside them does not count."""
    return {path.name: path.read_bytes() for path in package.glob("*") if path.is_file()}


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("root", nargs="?", type=Path, default=ENGINE, help="folder to write into")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if not fresh")
    arguments = parser.parse_args()
    if not arguments.check:
        generate(arguments.root)
        return
    faults = check(arguments.root)
    if faults:
        sys.exit("\n".join([*faults, "generated code is not fresh: run `make proto`"]))


if __name__ == "__main__":
    main()

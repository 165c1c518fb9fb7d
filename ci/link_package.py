"""Makes the built package importable from the environment, with its entry point.

A wheel (`pip install .`) copies the same files; a developer's build is used where it stands.
"""

import pathlib
import sysconfig
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = pathlib.Path(sysconfig.get_paths()["purelib"])


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (SITE / "torch_tpu_ref_build.pth").write_text(f"{ROOT / 'build' / 'python'}\n")
    info = SITE / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(exist_ok=True)
    entry_points = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(entry_points))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "INSTALLER").write_text("ci/setup\n")
    (info / "RECORD").write_text("")


if __name__ == "__main__":
    main()

"""Makes the built package importable from the environment, with its entry point.

A wheel (`pip install .`) copies the same files; a developer's build is used where it stands.
"""

import pathlib
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = pathlib.Path(sysconfig.get_paths()["purelib"])

ENTRY_POINTS = "[torch.backends]\ntorch_tpu = torch_tpu._loader:load\n"
METADATA = "Metadata-Version: 2.1\nName: torch-tpu-ref\nVersion: 0.1.0\n"


def main() -> None:
    (SITE / "torch_tpu_ref_build.pth").write_text(f"{ROOT / 'build' / 'python'}\n")
    info = SITE / "torch_tpu_ref-0.1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (info / "METADATA").write_text(METADATA)
    (info / "INSTALLER").write_text("torch-tpu-ref ci/setup\n")
    (info / "RECORD").write_text("")


if __name__ == "__main__":
    main()

"""A scripted ceiling agent: it may read the original below /app/source, and hands that in. `--seed` changes nothing."""

import pathlib
import shutil

APP = pathlib.Path("/app")


def main():
    """Copy the package, with a compile.sh that makes a starter of it."""
    shutil.copytree(APP / "source" / "tally", APP / "submission" / "tally")
    shutil.copy(pathlib.Path(__file__).parent / "port" / "compile.sh", APP / "submission" / "compile.sh")
    print("copied the original")


if __name__ == "__main__":
    main()

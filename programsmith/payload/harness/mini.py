"""Starts mini-swe-agent from the packages that lie beside it, by the interpreter that lies beside it too."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "opt", "site"))

if __name__ == "__main__":
    from minisweagent.run.mini import app  # type: ignore[import-not-found]

    app()

"""The `muster` command, also as `python -m muster`. The version is told before anything is loaded: scripts and prompts
ask for it again and again."""

import os
import sys

from muster import __version__


def main() -> None:
    """The console script."""
    if sys.argv[1:] == ["--version"] and not sys.argv[0].endswith("placement"):  # for that name see cli/main.py
        print(f"muster {__version__}")
        return
    # numpy's library of linear algebra, of which we use nothing, starts a thread for each core as it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from muster.cli.main import main as command

    command()


if __name__ == "__main__":
    main()

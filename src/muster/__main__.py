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
    if sys.argv[1:2] == ["explain"] and not sys.argv[0].endswith("placement"):
        _explain()
    from muster.cli.main import main as command

    command()


def _explain() -> None:
    """A question that is plainly asked needs no library that reads command lines."""
    from muster.cli.explain.quick import explained

    try:
        code = explained(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    if code is None:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # Python says what it says of readers who have left
    os._exit(code)  # to take a large fleet apart object by object takes longer than to let it go with the process


if __name__ == "__main__":
    main()

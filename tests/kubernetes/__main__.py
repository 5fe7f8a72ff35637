"""Builds kube-apiserver and etcd if need be, and runs the tests that need them: `make kubernetes`, `make interop`.

`--server server-1.33` takes the oldest version that we promise, `--guests` builds programs of others that stand beside
ours (Helm, Open Cluster Management's placement controller). What comes after the options goes to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.differential.building import NoGoError
from tests.kubernetes.binaries import CHOSEN, NEWEST, OLDEST, ONLY_SERVER, built, version_of
from tests.kubernetes.guests import built_guests

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kubernetes", description=__doc__)
    parser.add_argument("--server", choices=(NEWEST, OLDEST), default=NEWEST, help="which version of Kubernetes")
    parser.add_argument("--guests", action="store_true", help="with programs of others beside ours")
    parser.add_argument("--only-build", action="store_true", help="build, and run nothing")
    options, more = parser.parse_known_args()
    environment = os.environ | {CHOSEN: options.server}
    started = time.monotonic()
    if not os.environ.get("MUSTER_KUBERNETES_BIN"):
        print(
            f"kube-apiserver {version_of(options.server)} and etcd: built from their Go modules where they are not yet"
        )
        try:
            built(options.server)
            environment |= built_guests() if options.guests else {}
        except (NoGoError, RuntimeError) as error:
            print(f"cannot be built: {error}\nMUSTER_KUBERNETES_BIN=FOLDER names a folder with both", file=sys.stderr)
            return 1
        print(f"ready after {time.monotonic() - started:.0f} s", flush=True)
    if options.only_build:
        return 0
    chosen = [each for each in more if (ROOT / each.partition("::")[0]).exists()]
    command = [sys.executable, "-m", "pytest", "-q", *more]
    if not chosen:  # two servers at a time; what needs none is part of `make test`
        command += ["-n", "2", "--dist", "loadfile", "tests/kubernetes"]
        environment[ONLY_SERVER] = "yes"
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

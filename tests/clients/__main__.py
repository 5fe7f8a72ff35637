"""`python -m tests.clients [NAME…]`: run the matrix, or only the clients whose name has one of these words in it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clients import gos, kubectls, pythons
from tests.clients.kubectls import NEWEST, OLDEST, Kubectl
from tests.clients.matrix import CannotBeHadError, Table
from tests.clients.raw import NAME, Raw
from tests.clients.stage import a_running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.clients.matrix import Client


def _clients(kubeconfig: Path, folder: Path) -> Mapping[str, Callable[[], Client]]:
    def kubectl(name: str, program: Callable[[], Path]) -> Callable[[], Client]:
        home = folder / name.replace(" ", "-")

        def made() -> Client:
            found = program()
            home.mkdir()
            return Kubectl(name, found, kubeconfig, home).client()

        return made

    return {
        "kubectl of this machine": kubectl("kubectl of this machine", kubectls.of_this_machine),
        OLDEST: kubectl(OLDEST, lambda: kubectls.built("kubectl_oldest")),
        NEWEST: kubectl(NEWEST, lambda: kubectls.built("kubectl_newest")),
        NAME: lambda: Raw(kubeconfig).client(),
        "kubernetes (Python)": lambda: pythons.kubernetes_client(kubeconfig),
        "lightkube": lambda: pythons.lightkube_client(kubeconfig),
        "kr8s": lambda: pythons.kr8s_client(kubeconfig),
        "client-go": lambda: gos.client_go(kubeconfig),
    }


def main() -> int:
    arguments = argparse.ArgumentParser(prog="make clients", description=__doc__)
    arguments.add_argument("names", nargs="*", help="words of the names of clients; all of them if none is given")
    wanted = arguments.parse_args().names
    table = Table()
    with tempfile.TemporaryDirectory() as folder, a_running_hub(Path(folder)) as kubeconfig:
        for name, make in _clients(kubeconfig, Path(folder)).items():
            if wanted and not any(word in name for word in wanted):
                continue
            try:
                client = make()
            except CannotBeHadError as error:
                table.skipped[name] = str(error).strip().splitlines()[-1]
                continue
            print(f"{name} …", flush=True)
            table.run(client)
    print(table.text())
    return 1 if table.failures or not table.cells else 0


if __name__ == "__main__":
    sys.exit(main())

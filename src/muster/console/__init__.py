"""The console: pages for a browser, and the server between them and the API server.

The server holds the user's credentials; the browser holds a session and nothing else. Pages know only the Kubernetes
API and the questions of `fleet.muster.dev`. `muster console` and `muster hub run --demo` start it.
"""

from muster.console.answering import answering
from muster.console.server import ConsoleSettings, Ready, run_console

__all__ = ["ConsoleSettings", "Ready", "answering", "run_console"]

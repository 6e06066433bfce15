"""The command `show`: the pages of a project in a browser of this machine, made anew while work goes on."""

from __future__ import annotations

import threading
import time
import webbrowser

import click

from tamesu.cli.presenting import cases_meant
from tamesu.cli.session import fail, project_here, say, warn
from tamesu.edge.serving.server import listen
from tamesu.stages.show import Pages
from tamesu.stages.watch import Watcher

_LOOK_SECONDS = 0.3
_SHARE = 5  # at most one part in so many of the time is spent on looking at files


@click.command(short_help="Show the pages of cases in a browser.")
@click.argument("case", required=False)
@click.option("--port", default=0, show_default=True, help="Port on 127.0.0.1; 0 takes any that is free.")
@click.option("--no-open", is_flag=True, help="Only print the address, open no browser.")
def show(case: str | None, port: int, no_open: bool) -> None:
    """Show the page of a case, made anew whenever its evidence changes; the browser follows by itself.

    CASE, left out, is every case. Only this machine is served. Ctrl-C ends it.
    """
    project = project_here()
    watcher = Watcher(project, cases_meant(project, case), warn)
    watcher.begin()
    server = listen(port, Pages(project, watcher).reply)
    threading.Thread(target=server.serve, daemon=True).start()
    try:
        say(f"show: {server.url} (Ctrl-C ends it)")
        if not no_open:
            webbrowser.open(server.url)
        while True:
            began = time.monotonic()
            watcher.look()
            time.sleep(max(_LOOK_SECONDS, _SHARE * (time.monotonic() - began)))
    except KeyboardInterrupt:
        fail("show: ended", 130)
    finally:
        server.close()

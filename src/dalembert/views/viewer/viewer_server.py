"""The server of the page: viser, on this machine alone unless another host is named."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import warnings
from collections.abc import Iterator
from typing import Any

import rich

from dalembert.errors import (
    DalembertError,
    DalembertWarning,
)
from dalembert.views.viewer.page_origin import (
    LOOPBACK,
    refuse_others,
)

EXTRA = "The viewer needs viser: pip install 'dalembert[view]'."
MOST_PORT = 65535


def started(host: str, port: int, title: str, is_dark: bool) -> Any:
    """A server of viser that shows an empty scene.

    Raises
    ------
    DalembertError
        viser is not installed; the port is taken or not allowed; the host is none of this machine.
    """
    try:
        import viser
    except ImportError:
        raise DalembertError(EXTRA) from None
    if not 0 <= port <= MOST_PORT:
        raise ValueError(f"port is {port}; expected a number from 0 (any free one) to {MOST_PORT}.")
    _check_host(host)
    if host not in LOOPBACK:
        warnings.warn(
            f"the viewer listens on {host}: all who reach this machine over the network can see the "
            "mechanism and move it, without a password. Leave host= out for this machine alone.",
            DalembertWarning,
            stacklevel=3,
        )
    try:
        with _in_silence():
            server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    except (OSError, RuntimeError) as error:
        raise DalembertError(f"the viewer cannot listen on {host}, port {port}: {error}.") from None
    if port and server.get_port() != port:
        taken = server.get_port()
        stopped(server)
        raise DalembertError(
            f"port {port} is taken (viser would use {taken}). port=0 takes any free one."
        )
    refuse_others(server, host in LOOPBACK)
    _set_title(server, title)
    server.gui.configure_theme(
        dark_mode=is_dark,
        show_logo=False,
        show_share_button=False,
        control_width="large",
        brand_color=(42, 120, 200),
    )
    return server


def _check_host(host: str) -> None:
    """Refuse a host on which no server can listen: viser would try its ports without an end."""
    try:
        if not host.strip():
            raise OSError("its name is empty")
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise DalembertError(
            f"host {host[:80]!r} is no address of this machine ({error}). Leave it out for this "
            "machine alone; '0.0.0.0' stands for all addresses of this machine."
        ) from None


def _set_title(server: Any, title: str) -> None:
    """Name the browser's tab, which viser names after itself."""
    from viser._messages import RunJavascriptMessage

    # JSON is a text of JavaScript, in letters of ASCII: a name of a file cannot leave it
    source = f"document.title = {json.dumps(title)};"
    server._websock_server.queue_message(RunJavascriptMessage(source))


def stopped(server: Any) -> None:
    """Stop a server."""
    with _in_silence():
        server.stop()


@contextlib.contextmanager
def _in_silence() -> Iterator[None]:
    """Keep greetings of viser from the standard output, and from the cells of notebooks."""
    console = rich.get_console()
    was_quiet, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = was_quiet

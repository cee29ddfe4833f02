"""Pages of other origins are refused: a site that is open in the same browser cannot use the viewer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY_VIOLATION = 1008  # code of a closed WebSocket, RFC 6455 section 7.4.1


def is_own(origin: str | None, host: str | None, is_local: bool) -> bool:
    """Whether a WebSocket is opened by the viewer's own page.

    origin : of the page that opens it; None of programs that are no browser
    host : that it asks for
    is_local : whether the viewer serves this machine alone, and so has its names only: a foreign
        name that leads here is that of a foreign site

    Examples
    --------
    >>> is_own("http://localhost:8080", "localhost:8080", is_local=True)
    True
    >>> is_own("https://example.org", "localhost:8080", is_local=True)
    False
    """
    if origin is None:
        return True
    try:
        asked = urlsplit(f"//{host or ''}")
        page = urlsplit(origin)
        is_named = not is_local or asked.hostname in LOOPBACK
    except ValueError:  # no address
        return False
    return is_named and page.netloc == asked.netloc


def refuse_others(server: Any, is_local: bool) -> None:
    """Close WebSockets of foreign pages before anything is sent to them."""
    sockets = server._websock_server  # viser has no public way to a connection's headers

    async def check(client: Any) -> None:
        """Close the connection of a foreign page."""
        connection = sockets._live_connections[client.client_id]
        headers = connection.request.headers
        if not is_own(headers.get("Origin"), headers.get("Host"), is_local):
            await connection.close(POLICY_VIOLATION, "a page of another origin")

    sockets.on_client_connect(check)

"""A page of a site sends its reader on to a service of this machine that nobody allowed."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from redteam.gathered import gather, text_of
from redteam.place import Place
from support.connecting import reaching

CLAIM = "A page of the site says it."
TRICK = "The site redirects to a service on this machine, whose answer would be a document then."
MUST_NOT_BE = ("LEAKED",)
TWIN = "The page is of the site."
MUST_BE = "GATHERED"

SECRET = "the answer of a service of this machine"


def attack(place: Place) -> str:
    return _visited(place, redirects=True)


def twin(place: Place) -> str:
    return _visited(place, redirects=False)


def _visited(place: Place, *, redirects: bool) -> str:
    inside = _serving(SECRET, "")
    leads_to = f"http://127.0.0.1:{inside.server_address[1]}/x" if redirects else ""
    site = _serving("<p>Members may vote by hand.</p>", leads_to)
    address = f"http://127.0.0.1:{site.server_address[1]}"
    try:
        gather(place, f"x=site:{address}/", reaching(address))
    finally:
        for server in (inside, site):
            server.shutdown()
            server.server_close()
    text = text_of(place)
    return "LEAKED" if SECRET in text else "GATHERED" if "by hand" in text else "REFUSED"


def _serving(text: str, leads_to: str) -> HTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self._send(404, "none")
            elif leads_to:
                self._send(302, "", leads_to)
            else:
                self._send(200, text)

        def _send(self, status: int, body: str, location: str = "") -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server

"""web.py - the shop over HTTP: four files, and requests with JSON in and out.

    GET  /api/products                            what there is to draw
    GET  /api/list?visitor=TEXT                   a list for this visitor, with the id of its lesson
    GET  /api/state                               what is believed, and what the simulated visitors do
    POST /api/click     {id, shown, clicked}      a lesson; clicked is a position from 1, or 0 for none
    POST /api/visitors  {on, speed}
    POST /api/tastes    {}                        the true rates are shuffled
    POST /api/forget    {id}                      everything learned weighs half
    POST /api/restart   {}

A bad request gets status 400 and a sentence that says what is wrong.  The server of Python's library is
meant for one machine, and this one listens on 127.0.0.1 only.  A page of another site that the browser
has open can not use it: its requests have another host name, or no JSON content type.
"""

import http.server
import json
import pathlib
import re
import secrets
import sys
import urllib.parse

from products import IDS, PRODUCTS, SLOTS
from ranker import Failure
from visitors import SPEEDS

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/shop.js": ("shop.js", "text/javascript; charset=utf-8"),
    "/pottery.js": ("pottery.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LONGEST_BODY = 4096
MOST_DRAINED = 1 << 20
KEEP = 0.5


class Bad(Exception):
    """A request that is refused, with the reason as a sentence."""


# ---- what a request may say


def is_name(value):
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9-]{1,64}", value) is not None


def is_list(value):
    return (
        isinstance(value, list)
        and 1 <= len(value) <= SLOTS
        and all(isinstance(id, str) and id in IDS for id in value)
        and len(set(value)) == len(value)
    )


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


FIELDS = {
    "id": (is_name, "1 to 64 letters, digits or hyphens"),
    "visitor": (is_name, "1 to 64 letters, digits or hyphens"),
    "shown": (is_list, f"a list of 1 to {SLOTS} different products of the shop"),
    "clicked": (lambda v: is_number(v) and 0 <= v <= SLOTS, f"a position from 1 to {SLOTS}, or 0 for no click"),
    "on": (lambda v: isinstance(v, bool), "true or false"),
    "speed": (lambda v: is_number(v) and v in SPEEDS, f"one of {', '.join(map(str, SPEEDS))}"),
}


def checked(given, names):
    """The values of exactly these names, in their order."""
    if not isinstance(given, dict):
        raise Bad("The body must be a JSON object.")
    for name in given:
        if name not in names:
            raise Bad(f"Unknown name {name!r}; this request takes {', '.join(names) or 'none'}.")
    for name in names:
        check, words = FIELDS[name]
        if name not in given or not check(given[name]):
            raise Bad(f"Give {name!r} as {words}.")
    return [given[name] for name in names]


# ---- what a request does


class Shop:
    def __init__(self, ranker, visitors):
        self.ranker, self.visitors = ranker, visitors

    def products(self):
        return {"products": PRODUCTS, "slots": SLOTS, "speeds": SPEEDS}

    def new_list(self, visitor):
        return {"id": secrets.token_hex(8), "shown": self.ranker.rank(visitor)}

    def state(self):
        return {"beliefs": self.ranker.beliefs(), **self.ranker.info(), **self.visitors.state()}

    def click(self, id, shown, clicked):
        if clicked > len(shown):
            raise Bad(f"The click is at position {clicked} of a list with {len(shown)} products.")
        counted = self.ranker.learn(shown, clicked, "page " + id)
        return {"counted": counted, "lessons": self.ranker.info()["lessons"]}

    def forget(self, id):
        return {"counted": self.visitors.forget(KEEP, "page " + id)}

    def set_visitors(self, on, speed):
        self.visitors.set(on, speed)
        return {}

    def tastes(self):
        self.visitors.change_tastes()
        return {}

    def restart(self):
        self.visitors.restart()
        return {}


ROUTES = {
    ("GET", "/api/products"): (Shop.products, ()),
    ("GET", "/api/list"): (Shop.new_list, ("visitor",)),
    ("GET", "/api/state"): (Shop.state, ()),
    ("POST", "/api/click"): (Shop.click, ("id", "shown", "clicked")),
    ("POST", "/api/visitors"): (Shop.set_visitors, ("on", "speed")),
    ("POST", "/api/tastes"): (Shop.tastes, ()),
    ("POST", "/api/forget"): (Shop.forget, ("id",)),
    ("POST", "/api/restart"): (Shop.restart, ()),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "oltr-shop", ""
    timeout = 60  # of an idle connection

    def do_GET(self):
        self.answer("GET")

    def do_POST(self):
        self.answer("POST")

    def answer(self, method):
        path, _, query = self.path.partition("?")
        data = self.read_body()
        try:
            self.check_host()
            if method == "GET" and path in FILES:
                self.send_file(*FILES[path])
            elif (method, path) in ROUTES:
                action, names = ROUTES[method, path]
                given = self.parse_body(data) if method == "POST" else self.parse_query(query)
                self.send_json(200, action(self.server.shop, *checked(given, names)))
            else:
                self.send_json(404, {"error": f"There is no {method} {path[:80]} here."})
        except Bad as refusal:
            self.send_json(400, {"error": str(refusal)})
        except Failure as failure:
            self.send_json(503, {"error": f"The Redis server: {failure}"})

    def check_host(self):
        """A page that reaches 127.0.0.1 by a name of its own has that name here."""
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            raise Bad(f"Open the shop as http://127.0.0.1:{port}/.")

    def read_body(self):
        """A body that is left unread would reset the connection before the answer arrives."""
        length = self.headers.get("Content-Length", "")
        return self.rfile.read(min(int(length), MOST_DRAINED)) if re.fullmatch("[0-9]{1,9}", length) else b""

    def parse_query(self, text):
        try:
            pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=8)
        except ValueError:
            raise Bad("The part of the address behind ? must be name=value.") from None
        return dict(pairs)

    def parse_body(self, data):
        if not 0 < len(data) <= LONGEST_BODY:
            raise Bad(f"Send a body of 1 to {LONGEST_BODY} bytes, with its Content-Length.")
        if self.headers.get_content_type() != "application/json":
            raise Bad("Send the body as application/json.")
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise Bad("The body is not JSON.") from None

    def send_file(self, name, kind):
        self.send(200, kind, (HERE / name).read_bytes())

    def send_json(self, status, value):
        self.close_connection |= status != 200  # a refused body may not have been read to its end
        self.send(status, "application/json", json.dumps(value).encode())

    def send(self, status, kind, data):
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": len(data)}.items():
            self.send_header(name, str(value))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """The page asks several times a second: no line for each request."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, ranker, visitors):
        super().__init__(("127.0.0.1", port), Handler)
        self.shop = Shop(ranker, visitors)

    def handle_error(self, request, client_address):
        """A browser that goes away in the middle of an answer is no error."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

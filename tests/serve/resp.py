"""resp.py - a small client of the Redis protocol, RESP2 and RESP3, for the tests of the module.

It has no dependency and hides nothing: arguments are sent as bytes, replies come back as
the protocol has them.

    with Client("/path/of/socket") as redis:             # or Client(("127.0.0.1", 6379))
        redis.call("OLTR.CREATE", "home", "ts-beta")     # b"OK"; an error is raised as ReplyError
        redis.many([("GET", "a"), ("GET", "b")])         # a pipeline; errors are returned in the list

Types of replies: simple and bulk strings are bytes, integers int, null None, arrays and sets lists,
RESP3 maps dicts, doubles float, booleans bool, errors ReplyError.
"""

import socket
import time


class ReplyError(Exception):
    """An error reply.  word is its first word, which is part of the contract."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text
        self.word = text.split(" ", 1)[0]


class Disconnected(Exception):
    """The server closed the connection, or there is none."""


def to_bytes(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, float):
        return repr(value).encode()
    return str(value).encode()


def encode(args):
    parts = [b"*%d\r\n" % len(args)]
    for value in map(to_bytes, args):
        parts.append(b"$%d\r\n" % len(value))
        parts.append(value)
        parts.append(b"\r\n")
    return b"".join(parts)


class Client:
    """One connection.  protocol 3 sends HELLO 3 first."""

    def __init__(self, address, protocol=2, timeout=30.0):
        self.address, self.protocol, self.timeout = address, protocol, timeout
        self.pushed = []  # RESP3 push messages, in the order they came
        self.buffer, self.start = b"", 0
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(address)
            if family == socket.AF_INET:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            self.socket.close()
            raise Disconnected(f"{address}: {error}") from error
        if protocol != 2:
            self.call("HELLO", protocol)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    # ---- sending

    def send(self, *args):
        self.send_raw(encode(args))

    def send_raw(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Disconnected(str(error)) from error

    def call(self, *args):
        """One command; an error reply is raised."""
        self.send(*args)
        reply = self.read()
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    def attempt(self, *args):
        """One command; an error reply is returned."""
        self.send(*args)
        return self.read()

    def many(self, commands):
        """A pipeline; error replies are returned in their places."""
        self.send_raw(b"".join(map(encode, commands)))
        return [self.read() for _ in commands]

    # ---- receiving

    def fill(self):
        try:
            data = self.socket.recv(1 << 20)
        except socket.timeout as error:
            raise TimeoutError(f"no reply within {self.timeout} s") from error
        except OSError as error:
            raise Disconnected(str(error)) from error
        if not data:
            raise Disconnected("the server closed the connection")
        self.buffer = self.buffer[self.start :] + data
        self.start = 0

    def line(self):
        while True:
            end = self.buffer.find(b"\r\n", self.start)
            if end >= 0:
                text = self.buffer[self.start : end]
                self.start = end + 2
                return text
            self.fill()

    def exactly(self, size):
        if len(self.buffer) - self.start < size:
            parts, have = [self.buffer[self.start :]], len(self.buffer) - self.start
            self.buffer, self.start = b"", 0
            while have < size:
                self.fill()
                parts.append(self.buffer)
                have += len(self.buffer)
                self.buffer = b""
            joined = b"".join(parts)
            self.buffer, self.start = joined[size:], 0
            return joined[:size]
        data = self.buffer[self.start : self.start + size]
        self.start += size
        return data

    def blob(self, size):
        data = self.exactly(size + 2)
        if data[-2:] != b"\r\n":
            raise ValueError("a bulk string without its end")
        return data[:-2]

    def read(self):
        """One reply; push messages before it are kept aside."""
        while True:
            line = self.line()
            kind, rest = line[:1], line[1:]
            if kind == b">":
                self.pushed.append([self.read() for _ in range(int(rest))])
                continue
            return self.value(kind, rest)

    def value(self, kind, rest):
        if kind == b"+":
            return rest
        if kind == b"-":
            return ReplyError(rest.decode("utf-8", "replace"))
        if kind in b":(":
            return int(rest)
        if kind == b"$":
            return None if int(rest) < 0 else self.blob(int(rest))
        if kind in b"*~":
            return None if int(rest) < 0 else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind == b"=":
            return self.blob(int(rest))[4:]
        if kind == b"!":
            return ReplyError(self.blob(int(rest)).decode("utf-8", "replace"))
        raise ValueError(f"not RESP: {kind + rest!r}")


class ReplicationStream:
    """What a replica would receive: the snapshot is read and kept, then commands come one by one."""

    def __init__(self, address, timeout=30.0):
        self.client = Client(address, timeout=timeout)
        self.client.call("REPLCONF", "capa", "eof", "capa", "psync2")
        self.client.send("PSYNC", "?", "-1")
        line = self.header()
        if not line.startswith(b"+FULLRESYNC"):
            raise ValueError(f"no full synchronisation: {line!r}")
        self.snapshot = self.payload(self.header())

    def header(self):
        """The next line; the server sends empty ones while it prepares the snapshot."""
        while True:
            line = self.client.line().lstrip(b"\n")
            if line:
                return line

    def payload(self, line):
        if line[:5] != b"$EOF:":
            return self.client.exactly(int(line[1:]))
        mark, data = line[5:], b""
        while data[-len(mark) :] != mark:
            data += self.client.exactly(1)
        return data[: -len(mark)]

    def command(self, seconds=30.0):
        """The next command, as a list of bytes.  The server begins after an acknowledgement."""
        deadline = time.monotonic() + seconds
        self.client.socket.settimeout(0.1)
        while True:
            try:
                if self.client.start == len(self.client.buffer):
                    self.client.fill()
                break
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise
                self.client.send("REPLCONF", "ACK", "0")
        self.client.socket.settimeout(self.client.timeout)
        return self.client.read()

    def until(self, word):
        """The commands before the one whose first argument is word."""
        seen = []
        while True:
            command = self.command()
            if command[0] == to_bytes(word):
                return seen
            seen.append(command)

    def close(self):
        self.client.close()


def retry(action, seconds=30.0, pause=0.02, errors=(Exception,)):
    """Repeats action until it returns something true; raises the last error when time is over."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            result = action()
            if result:
                return result
            problem = f"still {result!r}"
        except errors as error:
            problem = error
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {problem}")
        time.sleep(pause)

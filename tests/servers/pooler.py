"""A proxy that pools transactions, as PgBouncer does: each transaction of a client gets any server connection."""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress
from queue import Queue

import psycopg

READY = b"Z"
IDLE = b"I"


class TransactionPooler:
    """Listens on a port of its own and hands each transaction to the server connection that waited longest.

    So that state left in a session shows, two transactions in a row never get the same one.
    """

    def __init__(self, url: str, *, size: int = 3) -> None:
        self._logins = [psycopg.connect(url, autocommit=True) for _ in range(size)]
        # They have logged in; from here on only their sockets are used.
        self._servers = [socket.socket(fileno=os.dup(login.fileno())) for login in self._logins]
        self._free: Queue[socket.socket] = Queue()
        for server in self._servers:
            server.setblocking(True)
            self._free.put(server)
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"postgresql://anyone@127.0.0.1:{self._listener.getsockname()[1]}/postgres?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        self._listener.close()
        for connection in (*self._servers, *self._logins):
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError, EOFError):
            _read(client, struct.unpack("!I", _read(client, 4))[0] - 4)
            settings = {"client_encoding": "UTF8", "server_version": "18.0", "standard_conforming_strings": "on"}
            hello = [_message(b"R", struct.pack("!I", 0))]
            hello += [_message(b"S", f"{name}\0{value}\0".encode()) for name, value in settings.items()]
            client.sendall(b"".join([*hello, _message(READY, IDLE)]))
            while True:
                first = _receive(client)
                if first[:1] == b"X":
                    return
                self._transaction(client, first)

    def _transaction(self, client: socket.socket, message: bytes) -> None:
        server = self._free.get()
        try:
            while True:
                server.sendall(message)
                if message[:1] in (b"Q", b"S") and _relay(server, client) == IDLE:
                    return
                message = _receive(client)
        finally:
            self._free.put(server)


def _relay(server: socket.socket, client: socket.socket) -> bytes:
    """Pass on what the server says until it waits for more; return whether it is in a transaction."""
    while True:
        message = _receive(server)
        client.sendall(message)
        if message[:1] == READY:
            return message[5:]


def _receive(source: socket.socket) -> bytes:
    head = _read(source, 5)
    return head + _read(source, struct.unpack("!I", head[1:])[0] - 4)


def _read(source: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = source.recv(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body

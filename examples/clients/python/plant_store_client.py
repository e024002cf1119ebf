"""A client for Plant Store: one file, only the standard library of Python 3.9 or later.

    plants = PlantStoreClient("https://plants.example.com", token)
    plants.create(Plant(new_plant_id(), "Monstera deliciosa", tag="tropical"))
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import random
import re
import secrets
import socket
import threading
import time
import urllib.parse
from typing import Any, Callable, Union

MAX_RETRY_AFTER = 60.0  # seconds

Connection = Union[http.client.HTTPConnection, http.client.HTTPSConnection]


class PlantStoreError(Exception):
    """A create failed. The subclass says what to do; the message is for people.

    error: the service's error number, such as 4005, and None if the service did not respond.
    status: the HTTP status, and None without a response.
    request_id: identifies the request in the service's log: quote it to the operator. None without a response.
    retry_after: how long the service asks you to wait before you try again, in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        error: int | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.error = error
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after


class InvalidPlantError(PlantStoreError):
    """Not stored: the plant violates a rule, which the message names."""


class PlantIdTakenError(PlantStoreError):
    """Not stored: another plant has this id."""


class UnauthorizedError(PlantStoreError):
    """Not stored: get a new token."""


class ForbiddenError(PlantStoreError):
    """Not stored: the token lacks the permission to create plants."""


class RefusedError(PlantStoreError):
    """Not stored, and repeating the request does not help: check the address."""


class UnavailableError(PlantStoreError):
    """Not stored: try again later."""


class OutcomeUnknownError(PlantStoreError):
    """The plant may be stored now, or may be stored later. Keep the plant, and pass it to `create_again` later.

    If `error` is 5000, the service has a bug: report it to the operator.
    """


@dataclasses.dataclass(frozen=True)
class Plant:
    """A plant to create.

    id: from -2**63 to 2**63 - 1. It identifies one plant permanently: see `new_plant_id`.
    name: may be empty.
    """

    id: int
    name: str
    tag: str | None = None


def new_plant_id() -> int:
    """Returns a random id. With a million plants, the chance that any two collide is 3 in 100 million."""
    return secrets.randbits(64) - 2**63


class PlantStoreClient:
    """Creates plants. Use one instance for the whole program, from any thread: its creates share connections."""

    def __init__(
        self,
        address: str,
        token: str | Callable[[], str],
        *,
        retry_for: float = 60.0,
        timeout: float = 20.0,
    ) -> None:
        """Raises ValueError if the address is not an HTTP URL.

        address: the service's address, including its base path, such as "https://plants.example.com".
        token: the bearer token, or a function that returns a valid one: it is called for every attempt.
        retry_for: how long `create` keeps starting attempts, in seconds.
        timeout: how long one attempt may take, in seconds. The service responds within 15 seconds.
        """
        url = urllib.parse.urlsplit(address)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("address: must be an HTTP URL")
        url.port  # raises ValueError
        self._scheme, self._host = url.scheme, url.netloc
        self._path = url.path.rstrip("/") + "/plants"
        self._token = token
        self._retry_for = retry_for
        self._timeout = timeout
        self._idle: list[Connection] = []

    def create(self, plant: Plant) -> None:
        """Returns when the plant is stored. Repeats the request while that is safe and useful: a plant is never
        stored twice. Raises a subclass of PlantStoreError.
        """
        self._create(plant, may_be_stored=False)

    def create_again(self, plant: Plant) -> None:
        """Creates a plant whose earlier create may have stored it: after OutcomeUnknownError, or after a crash.

        Pass the same plant. If the id is taken, this plant counts as stored. That is true if no other client uses the
        id, as with random ids. Raises as `create` does.
        """
        self._create(plant, may_be_stored=True)

    def close(self) -> None:
        """Closes the idle connections."""
        while (connection := self._idle_connection()) is not None:
            connection.close()

    def __enter__(self) -> PlantStoreClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create(self, plant: Plant, may_be_stored: bool) -> None:
        fields = {"id": plant.id, "name": plant.name}
        if plant.tag is not None:
            fields["tag"] = plant.tag
        body = json.dumps(fields).encode()
        end = time.monotonic() + self._retry_for
        attempt = 1
        while True:
            try:
                return self._attempt(body, plant.name)
            except PlantStoreError as failure:
                if isinstance(failure, PlantIdTakenError) and may_be_stored:
                    return
                may_be_stored = may_be_stored or isinstance(failure, OutcomeUnknownError)
                pause = failure.retry_after + random.random() * 0.1 * 2**attempt
                if not _is_temporary(failure) or time.monotonic() + pause > end:
                    if not may_be_stored or isinstance(failure, OutcomeUnknownError):
                        raise
                    raise _as_unknown(failure) from failure
            time.sleep(pause)
            attempt += 1

    def _attempt(self, body: bytes, name: str) -> None:
        """Sends the request once. Returns if the plant is stored."""
        headers = {"Authorization": f"Bearer {self._bearer_token()}", "Content-Type": "application/json"}
        connection = self._connected()
        try:
            response, text = self._exchange(connection, body, headers)
        except (OSError, http.client.HTTPException) as cause:
            connection.close()
            raise OutcomeUnknownError(f"no response: {cause or type(cause).__name__}") from cause
        if connection.sock is not None:
            self._idle.append(connection)
        fields = _fields_of(text)
        if response.status != 200 or fields.get("name") != name:
            raise _failure_of(response, fields)

    def _bearer_token(self) -> str:
        try:
            token = self._token if isinstance(self._token, str) else self._token()
        except Exception as cause:
            raise UnauthorizedError("no token was returned") from cause
        # RFC 6750 section 2.1. For any other, an error of http.client would repeat the token.
        if re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", token) is None:
            raise UnauthorizedError("the token has characters that no bearer token has")
        return token

    def _connected(self) -> Connection:
        """Returns an open connection. Raises UnavailableError without one: nothing was sent."""
        while (idle := self._idle_connection()) is not None:
            if not _is_dropped(idle):
                return idle
            idle.close()
        kind = http.client.HTTPSConnection if self._scheme == "https" else http.client.HTTPConnection
        connection = kind(self._host, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as cause:
            connection.close()
            raise UnavailableError(f"no connection: {cause}") from cause
        return connection

    def _idle_connection(self) -> Connection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _exchange(
        self, connection: Connection, body: bytes, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Follows no redirect: it can lead to a login page, whose status is 200."""
        # The connection's own timeout limits each read, however many there are.
        timer = threading.Timer(self._timeout, _shut_down, [connection.sock])
        timer.daemon = True
        timer.start()
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            return response, response.read()
        except (OSError, http.client.HTTPException) as cause:
            if timer.finished.is_set():
                raise TimeoutError(f"timed out after {self._timeout:g} seconds") from cause
            raise
        finally:
            timer.cancel()


def _shut_down(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended
        # The method of a TLS socket would let another thread go on reading without TLS.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _is_dropped(connection: Connection) -> bool:
    """Returns whether the other side has ended an idle connection, or sent what nobody has asked for."""
    sock = connection.sock
    timeout = sock.gettimeout()
    sock.settimeout(0)
    try:
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        sock.settimeout(timeout)
    return True


def _failure_of(response: http.client.HTTPResponse, fields: dict[str, Any]) -> PlantStoreError:
    error = fields.get("error")
    if type(error) is not int:  # only the service's failures have a number: this one comes from a proxy
        error = None
    message = f"unexpected response with status {response.status}" if error is None else str(fields.get("message"))
    seconds = response.getheader("Retry-After", "")  # a proxy may send a date
    return _class_of(response.status, error)(
        message,
        error=error,
        status=response.status,
        request_id=response.getheader("X-Request-Id"),
        retry_after=min(float(seconds), MAX_RETRY_AFTER) if seconds.isdecimal() else 0.0,
    )


def _class_of(status: int, error: int | None) -> type[PlantStoreError]:
    if error == 4006:
        return PlantIdTakenError
    if error in (4001, 4003, 4004, 4005):
        return InvalidPlantError
    if error in (4080, 5030, 5032) or status == 429:
        return UnavailableError
    if status == 401:
        return UnauthorizedError
    if status == 403:
        return ForbiddenError
    # A success that is not the service's: a proxy may have made it out of anything.
    if status >= 500 or status < 300:
        return OutcomeUnknownError
    return RefusedError


def _is_temporary(failure: PlantStoreError) -> bool:
    if isinstance(failure, OutcomeUnknownError):
        return failure.error != 5000
    return isinstance(failure, UnavailableError)


def _as_unknown(failure: PlantStoreError) -> OutcomeUnknownError:
    return OutcomeUnknownError(
        f"an earlier attempt may have stored the plant; now: {failure}",
        error=failure.error,
        status=failure.status,
        request_id=failure.request_id,
        retry_after=failure.retry_after,
    )


def _fields_of(text: bytes) -> dict[str, Any]:
    """Returns the fields of a JSON object; none for any other text."""
    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}

"""Reading a container's log once: one raw request (core/v1 PodLogOptions), passed on from the cursor."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from xlaunch.cluster.api import Api, ApiError, namespaced
from xlaunch.core.errors import NetworkError
from xlaunch.core.follow import Cursor, Reader
from xlaunch.core.logtext import Splitter, since_time

# Neighbouring lines may be out of order by less than this many seconds
MARGIN_SECONDS = 2.0
# So many times in a row a running container's log that lacks the cursor's line is put back
DOUBTS = 3


@dataclass(frozen=True)
class Start:
    """Where the first log begins: its last `tail` lines, or those of the last `since` seconds; None for all of it."""

    tail: int | None = None
    since: int | None = None


@dataclass(frozen=True)
class Request:
    """Which log to read and how: `follow` while it is being written, `previous` for the instance before."""

    follow: bool = False
    previous: bool = False
    start: Start = Start()
    stamps: bool = False


@dataclass(frozen=True)
class Outcome:
    """How reading ended: where the cursor is now, whether anything new came, and what broke the stream, if anything."""

    cursor: Cursor
    progressed: bool
    failure: NetworkError | ApiError | None

    def after(self, *, following: bool) -> Cursor:
        """The cursor, with what the end of the stream says of the log: that has ended once nothing more comes."""
        idle = not self.progressed
        drained = idle and not following and self.failure is None
        return replace(self.cursor, drained=drained, failures=self.cursor.failures + 1 if idle else 0)


def read_log(
    api: Api,
    cursor: Cursor,
    request: Request,
    *,
    idle_timeout: float,
    expired: Callable[[], bool],
    tell: Callable[[Reader], None],
) -> Generator[bytes, None, Outcome]:
    """Yields what is new in the log of the cursor's target until the stream ends, breaks, or time has `expired`.

    `tell` sees the reader after each batch, before its bytes are yielded. Where lines are missing nothing is passed on
    at first: a container that has just been restarted serves its new log some time before its pod's status says so
    (seen with a real kube-apiserver 1.35.4: the kubelet's status update is another request).
    """
    reader, splitter = Reader(cursor, stamps=request.stamps), Splitter()
    failure: NetworkError | ApiError | None = None
    progressed = False
    try:
        with api.stream(log_path(api, cursor), query=log_query(cursor, request), idle_timeout=idle_timeout) as body:
            while not expired() and (data := body.read()):
                text = b"".join(map(reader.take, splitter.feed(data)))
                if reader.gap and request.follow and cursor.failures < DOUBTS:
                    return Outcome(cursor, progressed=False, failure=None)
                tell(reader)
                if text:
                    progressed = True
                    yield text
    except (NetworkError, ApiError) as error:
        failure = error
    text = b"".join(map(reader.take, splitter.finish()))
    tell(reader)
    if text:
        yield text
    return Outcome(reader.cursor, progressed or bool(text), failure)


def log_path(api: Api, cursor: Cursor) -> str:
    """The log subresource of the target's pod."""
    assert cursor.target is not None
    return namespaced(api, "v1", "pods", cursor.target.pod, "log")


def log_query(cursor: Cursor, request: Request) -> list[tuple[str, str]]:
    """From a little before the cursor, or from `start` where nothing was passed on yet.

    `sinceTime` is a plain query parameter, which the official client's log call lacks.
    """
    assert cursor.target is not None
    query = [("container", cursor.target.container), ("timestamps", "true")]
    query += [("follow", "true")] if request.follow else []
    query += [("previous", "true")] if request.previous else []
    if not cursor.empty:
        return [*query, ("sinceTime", since_time(cursor.last or cursor.part_key, MARGIN_SECONDS))]
    query += [("tailLines", str(request.start.tail))] if request.start.tail is not None else []
    query += [("sinceSeconds", str(request.start.since))] if request.start.since is not None else []
    return query

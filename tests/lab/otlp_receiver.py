"""An OpenTelemetry collector for tests: takes OTLP over HTTP on loopback and decodes it by the vendor's own schema."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Receiver:
    """The receiver of a collector's requests; `refusals` are the statuses that it answers first."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self.refusals: list[int] = []
        self.asked = threading.Event()
        self.url = ""

    @contextmanager
    def listening(self, port: int = 0) -> Iterator[str]:
        """Listen while the block runs; yield the address."""

        class Request(BaseHTTPRequestHandler):
            def do_POST(request) -> None:
                status = self._take(request)
                answer = ExportTraceServiceResponse().SerializeToString()
                request.send_response(status)
                request.send_header("Content-Length", str(len(answer)))
                request.end_headers()
                request.wfile.write(answer)
                self.asked.set()

            def log_message(request, format: str, *args: object) -> None:
                """Log nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", port), Request)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            self.url = f"http://127.0.0.1:{server.server_port}"
            yield self.url
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def named(self, name: str) -> list[Span]:
        """Return the spans of this name."""
        return [span for span in self.spans if span.name == name]

    def _take(self, request: BaseHTTPRequestHandler) -> int:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        if self.refusals:
            return self.refusals.pop(0)
        self.paths.append(request.path)
        self.bodies.append(body)
        self.headers.append({name.casefold(): value for name, value in request.headers.items()})
        told = ExportTraceServiceRequest.FromString(body)
        for group in told.resource_spans:
            self.resources.append(attributes(group.resource))
            for scope in group.scope_spans:
                self.spans += scope.spans
        return 200


def attributes(told: Any) -> dict[str, Any]:
    """Return the attributes of a span, an event or a resource as plain values."""
    return {one.key: _plain(one.value) for one in told.attributes}


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_plain(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)

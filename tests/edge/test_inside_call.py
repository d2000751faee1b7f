"""An application is called without a socket."""

from engine.edge.inside_call import InsideCalls, respond
from engine.exchange.caller_connection import NO_CONNECTION, InternalCaller


class App:
    """Answers with what it was called with."""

    def serve(self, environ, start_response, connection):
        start_response("207 Many", [("x", "y")])
        self.connection = connection

        def body():
            yield environ["PATH_INFO"].encode()
            yield connection.buffered_body() or b""

        return body()


def test_a_response_has_its_status_headers_and_body():
    response = respond(App(), {"PATH_INFO": "/a"}, NO_CONNECTION)
    assert (response.status, response.headers) == (207, [("x", "y")])
    assert response.read() == b"/a"


def test_a_call_has_its_caller_its_body_and_the_way_for_pieces():
    app, caller = App(), InternalCaller(None, "digest")

    def send(piece):
        return True

    response = InsideCalls(app)({"PATH_INFO": "/a"}, b"body", caller, send)
    assert list(response) == [b"/a", b"body"]
    assert (app.connection.internal, app.connection.try_send) == (caller, send)
    assert app.connection.read(2) == b"bo"

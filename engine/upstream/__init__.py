"""Which upstream to send a request to, and how often: select the model, choose a target, build the
request, attempt, retry, fail over, relay the response. Read `forward.py` first.

`models/` finds the targets of a request, `choose/` orders them, `attempts/` asks one after another:
`requests/` builds what is sent by `client/`, the HTTP/1.1 client, and `responses/` is what comes
back. `targets/` is what is known of each target, `health/` and `addresses/` learn it beside the
requests, `admission/` bounds them. `objects/` are requests for what callers keep at upstreams,
`websockets/` all of these for WebSockets.

Theory of operation: the layers of a response. Whatever changes the bytes of a body is a
`relay.filter.Filter`. `attempts/attempt.py` wraps the response of the client in a FilteredResponse
for each filter, layer by layer, and the relay reads the outermost. Each is there only if it has
work to do:

    filter                reads what passes    there, if                so that
    UpstreamResponse      the connection       always                   one HTTP body is read
    Decoding              UpstreamResponse     framing: encoded, and    its bytes can be read
                                               events said or wanted
    AmazonEvents,         either of these      framing: Amazon's        all below read server-sent
    ArrayEvents                                messages, or an array    events
                                               where events are wanted
    Filter, its end       either of the        framing: a whole answer  the caller gets the stream
    replaced              first two            where events are wanted  that it asked for
    JudgedStream,         either of the        framing: the caller      the stream is judged and
    EventArray            first two            wants an array, or       metered as events; passes
                                               Amazon's messages        as an array or as it is
    _EditedEvents,        any of these         attempt: the target has  edits see the upstream's
    EditedJson                                 transforms of responses  format
    TranslatedEvents,     any of these         attempt: the target      the caller gets its own
    ArrayOfEvents,                             speaks another           format, errors included
    _Answer                                    language, or streams
                                               what is wanted whole
    Cleaner               any but the last     relay: events, unless    the caller's SDK reads them
                                               of a translation

Invariants:

- Only the client waits: `read` of a layer reads the layer below, up to the first output. Its
  `beat` is the client's, and its `on_data`, which the event loop calls, is put behind the filter.
- A read returns bytes, `b""` at the end only, or raises: Silence, after which it can be repeated,
  or a failure; one that a filter finds comes behind the output before it.
- A body that has its last byte is finished in the same read: it is complete without another one.
- Bytes are put back (`unread`) below the layers that change them. Where the first content shows
  that the headers were wrong (Misframed), the layers are thrown away and built again around the
  response of the client.
- Usage is read in the upstream's format: before edits, which may remove it, and translations.
- A transparent dialect, and a status outside 2xx, gets none of the layers of
  `responses/framed_response.py`.
- The steps of a `Pipeline`, between relay and server, are functions of whole events: they hold no
  bytes, and the end of the body completes nothing in them.
"""

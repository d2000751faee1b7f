"""Which upstream to send a request to, and how often: select the model, choose a target, build the
request, attempt, retry, fail over, relay the response. Read `forward.py` first. `client/` is the
HTTP/1.1 client.

Theory of operation: the layers of a response. `attempt.py` wraps the response of the client, layer
by layer, and the relay reads the outermost. Each layer is there only if it has work to do:

    layer                  wraps              wrapped by, if            so that
    UpstreamResponse       the connection     always                    one HTTP body is read
    DecodedResponse        UpstreamResponse   framing: encoded, and     its bytes can be read
                                              events said or wanted
    ConvertedResponse      either of these    framing: Amazon's         all above read server-sent
                                              messages, or an array     events
                                              where events are wanted
    JudgedResponse,        either of the      framing: the caller       the stream is judged and
    EventArray             first two          wants an array, or        metered as events; passes
                                              Amazon's messages         as an array or as it is
    EditedResponse         any of these       attempt: the target has   edits see the upstream's
                                              transforms of responses   format
    TranslatedBody,        any of these       attempt: the target       the caller gets its own
    TranslatedStream                          speaks another language   format, errors included

Invariants:

- A read returns bytes, `b""` at the end only, or raises: Silence, after which it can be repeated,
  or an UpstreamFailure; one that a layer finds comes behind the output before it.
- Bytes are put back (`unread`) below the layers that change them. Where the first content shows
  that the headers were wrong (Misframed), the layers are thrown away and built again around the
  response of the client.
- Usage is read in the upstream's format: before edits, which may remove it, and translations.
- A transparent dialect, and a status outside 2xx, gets none of the layers of `framing.py`.
- TranslatedStream passes the upstream's bytes; its filter `events` translates them, and the first
  content and the relay read through that.
"""

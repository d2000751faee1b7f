"""Files of Anthropic: what it says of one, and the form that uploads one."""

from engine.dialects.anthropic.files import FILES
from engine.dialects.interface.files import FileFacts


def test_a_file_needs_nothing_but_itself():
    value = {"filename": "a.txt", "mime_type": "text/plain", "size_bytes": 5}
    assert FILES.facts(value) == FileFacts("a.txt", "text/plain", 5)
    upload = FILES.upload(FILES.facts(value))
    assert (upload.part, upload.fields) == ("file", {})
    assert dict(FILES.headers)["anthropic-beta"] == "files-api-2025-04-14"


def test_what_is_not_said_has_a_default():
    assert FILES.facts({"filename": 3}) == FileFacts("file", "application/octet-stream")

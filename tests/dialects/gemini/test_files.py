"""Files of the Gemini API: what it says of one, and the resumable upload."""

from engine.dialects.gemini.files import FILES
from engine.dialects.interface.files import FileFacts


def test_an_upload_begins_with_what_is_known_of_the_file():
    facts = FILES.facts({"displayName": "a", "mimeType": "text/plain", "sizeBytes": "5"})
    assert facts == FileFacts("a", "text/plain", 5)
    upload = FILES.upload(facts)
    assert upload.body == {"file": {"displayName": "a", "mimeType": "text/plain"}}
    assert dict(upload.headers)["x-goog-upload-header-content-length"] == "5"
    assert upload.part == ""


def test_a_file_ends_before_two_days_are_over():
    assert 0 < FILES.lifetime < 48 * 3600

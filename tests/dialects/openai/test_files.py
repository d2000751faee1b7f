"""Files of OpenAI: what it says of one, and the form that uploads one."""

from engine.dialects.interface.files import FileFacts
from engine.dialects.openai.files import FILES
from tests.support.each import each


@each(
    ("name", "media_type", "purpose"),
    [
        ("a.pdf", "application/pdf", "user_data"),
        ("a.png", "image/png", "vision"),
        ("a", "application/octet-stream", "user_data"),
    ],
)
def test_a_file_is_uploaded_for_what_chats_do_with_it(name, media_type, purpose):
    facts = FILES.facts({"filename": name, "bytes": 7, "purpose": "batch"})
    assert facts == FileFacts(name, media_type, 7)
    upload = FILES.upload(facts)
    assert (upload.part, upload.fields) == ("file", {"purpose": purpose})

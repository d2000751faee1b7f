"""`console:` as values, and the paths that its pages take."""

from engine.config.console import Console, SignInConfig
from tests.support.configs import read_config, read_errors
from tests.support.each import each

KEY = "0123456789abcdef0123456789abcdef"
BLOCK = "issuer: https://a.example, client_id: pages"


def read(more: str) -> SignInConfig | None:
    return read_config(f"console: {{sign_in: {{{BLOCK}, {more}}}}}").console.sign_in


def test_nobody_signs_in_by_default():
    assert read_config("").console.sign_in is None


def test_what_is_left_out_has_defaults():
    sign_in = read(f"keys: ['{KEY}']")
    assert sign_in == SignInConfig("https://a.example", "pages", (KEY,))
    assert sign_in is not None
    assert (sign_in.client_secret, sign_in.session) == ("", 8 * 3600.0)
    assert sign_in.scopes == ("openid", "profile", "email")


def test_empty_keys_and_scopes_that_come_twice_are_left_out():
    sign_in = read(f"keys: ['', '{KEY}'], scopes: [openid, email, openid], session: 30m")
    assert sign_in is not None
    assert (sign_in.keys, sign_in.scopes) == ((KEY,), ("openid", "email"))
    assert sign_in.session == 1_800.0


def test_secrets_are_not_shown():
    sign_in = read(f"keys: ['{KEY}'], client_secret: s3cret-value")
    assert KEY not in repr(sign_in)
    assert "s3cret" not in repr(sign_in)


@each("session", ["30s", "8d"])
def test_the_length_of_a_session_is_bounded(session):
    text = f"console: {{sign_in: {{{BLOCK}, keys: ['{KEY}'], session: {session}}}}}"
    assert [code for _, _, code in read_errors(text)] == ["MW104"]


def test_all_pages_are_served_by_default():
    assert read_config("").console == Console(enabled=True, playground=True, tools=True, docs=True)


@each(
    ("path", "page"),
    [
        ("/", "home page"),
        ("/docs", "reference"),
        ("/openapi.json", "reference"),
        ("/console/playground", "playground"),
        ("/console/models.json", "playground"),
        ("/console/tools", "page of tools"),
        ("/console/tools.json", "page of tools"),
        ("/console/page/home.css", "page files"),
        ("/console/session", ""),
        ("/console", ""),
        ("/v1/models", ""),
    ],
)
def test_a_path_of_the_console_has_a_page(path, page):
    assert Console().page_at(path) == page
    assert Console(enabled=False).page_at(path) == ""


def test_where_people_sign_in_the_paths_of_that_are_taken():
    sign_in = SignInConfig("https://a.example", "pages", ("key",))
    for path in ("/console/sign-in", "/console/sign-in/callback", "/console/session"):
        assert Console(sign_in=sign_in).page_at(path) == "sign-in"


def test_a_page_that_is_off_leaves_its_paths_free():
    assert Console(docs=False).page_at("/docs") == ""
    assert Console(playground=False).page_at("/console/playground") == ""

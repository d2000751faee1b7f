"""`console:` as values, and the paths that its pages take."""

from engine.config.console import Console
from engine.config.sign_in import SignInConfig
from tests.support.configs import read_config
from tests.support.each import each


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

"""Accessibility of the pages: keyboard, small and large screens, both themes, no JavaScript."""

from __future__ import annotations

import pytest

from tests.support.axe import violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import (
    CONVERSATION,
    IDLE,
    LAST,
    PLAYGROUND,
    chat,
    choose,
    enter,
    forget,
    send,
)
from tests.support.running import ALL, Platform
from tests.support.thorough import some

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)


def test_a_reload_forgets_the_token_unless_keep_is_checked(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "hello")
    page.open(console.url + PLAYGROUND)
    assert page.run("document.getElementById('token').value") == ""
    stored = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
    assert ALL not in page.run(stored)
    enter(page, console.url)
    page.click("#keep")
    page.open(console.url + PLAYGROUND)
    page.until("document.querySelector('#token-status .good') !== null")
    page.click("#keep")
    assert ALL not in page.run(stored)


def test_a_chat_by_keyboard_only(page: Driver, console: Platform) -> None:
    forget(page, console.url)
    page.open(console.url + PLAYGROUND)
    focus = "document.activeElement.id"
    for _ in range(12):
        page.press("Tab")
        if page.run(focus) == "token":
            break
    page.type(ALL)
    page.press("Enter")
    page.until("document.querySelector('#token-status .good') !== null")
    for _ in range(25):
        page.press("Tab")
        if page.run(focus) == "draft":
            break
    page.type("typed")
    page.press("Enter", shift=True)
    page.type("by hand")
    page.press("Enter")
    page.until(f"{LAST}?.querySelector('.body').innerText === 'typed\\nby hand' && {IDLE}")
    assert page.run(focus) == "draft"
    page.until("document.getElementById('announcements').innerText.includes('Reply complete.')")
    page.assert_no_errors()


def test_every_focused_element_has_an_outline(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "```py\n1\n```\n\n[x](https://a.b/)")
    page.run("document.activeElement.blur(), document.body.focus()")
    stops: list[str] = []
    for _ in range(60):
        page.press("Tab")
        if page.run("document.activeElement === document.body"):
            continue  # the page's end: Tab starts again
        name, ring = page.run(
            "(() => { const node = document.activeElement; const style = getComputedStyle(node);"
            " return [node.id || node.ariaLabel || node.textContent.slice(0, 20),"
            " style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2] })()"
        )
        assert ring, name
        if name in stops[:1]:
            break
        stops.append(name)
    keys = {"token", "check", "model", "format", "add-lane", "system", "history-open"}
    keys |= {"code", "clear", "scroller"}
    more = {"Copy your message", "Edit your message", "Retry this reply", "Copy the code", "send"}
    more |= {"Show the request of this reply as code"}
    assert keys <= set(stops)
    assert more | {"attach", "draft", "Light or dark"} <= set(stops)


def test_the_code_dialog_opens_and_closes_by_keyboard(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    page.run("document.getElementById('code').focus()")
    page.press("Enter")
    page.until("document.getElementById('dialog').open")
    assert page.run("document.getElementById('dialog').contains(document.activeElement)")
    page.press("Escape")
    page.until("!document.getElementById('dialog').open")
    assert page.run("document.activeElement.id") == "code"


def test_the_composer_stays_visible_above_a_phones_keyboard(
    page: Driver, console: Platform
) -> None:
    """The page gets the height that the keyboard leaves (`interactive-widget=resizes-content`)."""
    enter(page, console.url, width=360)
    chat(page, "\n\n".join(f"line {n}" for n in range(40)))
    metrics = {"width": 360, "height": 330, "deviceScaleFactor": 1, "mobile": True}
    page.command("Emulation.setDeviceMetricsOverride", **metrics)
    page.fill("draft", "\n".join(f"line {n}" for n in range(40)))
    page.run("document.getElementById('draft').focus()")
    for name in ("draft", "send"):
        page.until(
            f"(({{top, bottom}}) => top >= 0 && bottom <= innerHeight)"
            f"(document.getElementById('{name}').getBoundingClientRect())"
        )
    assert page.run("document.getElementById('scroller').clientHeight") > 40


@pytest.mark.parametrize(
    ("theme", "width"),
    some([("light", 360), ("dark", 1440), ("dark", 360), ("light", 768)], 2),
)
def test_pages_pass_axe(page: Driver, console: Platform, axe: str, theme: str, width: int) -> None:
    page.open(console.url + "/", theme=theme, width=width)
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    enter(page, console.url, theme=theme, width=width)
    chat(page, "# Head\n\n- [x](https://a.b/)\n\n```py\n1\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n`x` **y**")
    choose(page, "pt-9")
    chat(page, "nobody")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("theme", "width"), some([("dark", 360), ("light", 1440)], 1))
def test_opened_parts_pass_axe(
    page: Driver, console: Platform, axe: str, theme: str, width: int
) -> None:
    enter(page, console.url, "mw-wrong", theme=theme, width=width)
    assert violations(page, axe) == []
    enter(page, console.url, theme=theme, width=width)
    page.run(
        "{ const data = new DataTransfer();"
        "data.items.add(new File(['x'], 'x.png', {type: 'image/png'}));"
        "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data})) }"
    )
    page.until("document.querySelectorAll('#images img').length === 1")
    chat(page, "hello")
    page.run(f"{LAST}.querySelector('.raw').open = true")
    page.run("document.querySelector('.user [aria-label^=Edit]').click()")
    assert violations(page, axe) == []
    page.click("#code")
    page.until("document.getElementById('dialog').open")
    assert violations(page, axe) == []


def test_the_chosen_theme_is_stored(page: Driver, console: Platform) -> None:
    page.open(console.url + "/", theme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.run(colour)
    page.click(".theme")
    dark = page.run(colour)
    assert light != dark
    page.open(console.url + PLAYGROUND, theme="light")
    assert page.run(colour) == dark
    page.run("localStorage.clear()")


def test_home_works_without_javascript(page: Driver, console: Platform) -> None:
    page.open(console.url + "/", script=False)
    assert page.text("#base") == f"{console.url}/v1"
    page.run("document.getElementById('chat-1').checked = true")
    assert "from openai import OpenAI" in page.text("main")
    assert "gpt-4o" in page.text("table")
    page.assert_no_errors()
    page.open(console.url + "/")


def test_scrolling_up_stops_the_view_from_following(page: Driver, console: Platform) -> None:
    """The view follows the text until the user scrolls up, and again from the end."""
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    distance = (
        "(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight)"
    )
    distance += "(document.getElementById('scroller'))"
    height = "document.getElementById('scroller').scrollHeight"
    send(page, "\n\n".join(f"paragraph {n}" for n in range(150)))
    page.until(f"{LAST}.querySelector('.body').childElementCount > 8")
    assert page.run(distance) < 2
    wheel = {"type": "mouseWheel", "x": 800, "y": 300, "deltaX": 0}
    page.command("Input.dispatchMouseEvent", **wheel, deltaY=-60)
    page.until(f"{distance} > 50")
    before = page.run(height)
    page.until(f"{height} > {before} + 100")
    assert page.run(distance) > 100
    page.run("document.getElementById('scroller').scrollTop = 1e6")
    before = page.run(height)
    page.until(f"{height} > {before} + 100")
    assert page.run(distance) < 2
    page.press("Escape")
    page.until(IDLE)


def test_a_reply_changes_none_of_two_hundred_earlier_messages(
    page: Driver, console: Platform
) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    page.run(CONVERSATION)
    page.until("document.querySelectorAll('.turn').length === 200")
    page.run(
        "window.changes_ = []; new MutationObserver((all) => changes_.push(...all)).observe("
        "document.getElementById('turns'), {subtree: true, childList: true, characterData: true})"
    )
    chat(page, " ".join("word" for _ in range(60)))
    turn = "change.target.closest?.('.turn') ?? change.target.parentElement?.closest('.turn')"
    changed = f"new Set(changes_.map((change) => {turn}).filter((turn) => turn))"
    assert page.run(f"{changed}.size === 1 && {changed}.has({LAST})")
    hidden = "[...document.querySelectorAll('.turn')].filter((turn) => "
    hidden += "getComputedStyle(turn).contentVisibility === 'auto').length"
    assert page.run(hidden) > 180  # laid out only where they are visible

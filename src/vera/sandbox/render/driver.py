"""One page in one headless Chromium: loaded, left to settle, and its DOM written down. Runs inside the box.

A separate file for the box: standard library only, Python 3.9 or later. It speaks the Chrome DevTools
Protocol over a pair of pipes (`--remote-debugging-pipe`: JSON messages that end with a zero byte), so nothing
has to be installed beside the browser, and there is no port that a page could speak to.

Usage: driver.py JSON, with `argv` (of the browser), `url`, `seconds` (for loading and settling), `grace`
(seconds for taking the DOM after that, and once more for its picture), `budget_ms` (of the page's own clock),
`most_bytes` (of the DOM), `dom` (the file for it), `picture`, `layout` (files for what it looks like, and for
where its text is), `width`, `most_height` (of the picture, in pixels) and `log` (a file for what the browser
says). Prints one line of JSON, the fields of `Answer` in `rendered.py`.
"""

# ruff: noqa: PTH123 - pathlib is no part of what the box's Python has to load

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import sys
import time
from typing import Any

BROWSER_READS, BROWSER_WRITES = 3, 4
# Where the pipes' ends stand until the browser's own numbers are free.
FIRST_SPARE = 100
READ_SIZE = 1 << 20
LAST_WORDS = 300
# Of the picture of a page: the height of the window, and what WebP may lose.
SCREEN_HEIGHT = 900
QUALITY = 55
MAX_PIECES = 20_000


class Problem(Exception):
    """The page cannot be had; `kind` as in `Answer`."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Browser:
    """The browser's process and its pipes; at most `most_buffered` bytes of a message are taken."""

    def __init__(self, argv: list[str], log: str, most_buffered: int) -> None:
        """Raises Problem when it does not run."""
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, orders, FIRST_SPARE),
            (os.POSIX_SPAWN_DUP2, answers, FIRST_SPARE + 1),
            (os.POSIX_SPAWN_DUP2, FIRST_SPARE, BROWSER_READS),
            (os.POSIX_SPAWN_DUP2, FIRST_SPARE + 1, BROWSER_WRITES),
        ]
        try:
            self._pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setpgroup=0)
        except OSError as error:
            raise Problem("failed", f"the browser does not run ({error})") from None
        os.close(orders)
        os.close(answers)
        self._log = log
        self._most = most_buffered
        self._buffer = bytearray()
        self._number = 0

    def send(self, method: str, params: dict[str, Any], session: str) -> int:
        """Send one command; the number by which its answer is known. Raises Problem."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        try:
            os.write(self._orders, json.dumps(message).encode() + b"\0")
        except OSError:
            raise self._gone() from None
        return self._number

    def receive(self, deadline: float) -> list[dict[str, Any]]:
        """The messages that one read completes; none when the time was up first. Raises Problem."""
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._answers], [], [], left)[0]:
            return []
        data = os.read(self._answers, READ_SIZE)
        if not data:
            raise self._gone()
        self._buffer += data
        if b"\0" not in data:
            if len(self._buffer) > self._most:
                raise Problem("too_large", "its DOM is too large")
            return []
        whole, _, rest = bytes(self._buffer).rpartition(b"\0")
        self._buffer[:] = rest
        return [json.loads(message) for message in whole.split(b"\0")]

    def end(self) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)

    def _gone(self) -> Problem:
        with open(self._log, errors="replace") as file:
            said = " ".join(file.read()[-LAST_WORDS:].split())
        return Problem(
            "failed", f"the browser ended too early: {said}" if said else "the browser ended early"
        )


class Page:
    """The one tab, and what was heard of it."""

    def __init__(self, browser: Browser, deadline: float) -> None:
        self.deadline = deadline
        self.settled = False
        self.url = ""
        self.response: dict[str, Any] = {}
        self._browser = browser
        self._session = ""
        self._frame = ""
        self._responses: dict[str, dict[str, Any]] = {}
        self._answers: dict[int, dict[str, Any]] = {}

    def open(self) -> str:
        """An empty tab that is listened to; the browser's name and version. Raises Problem."""
        product = str(self.call("Browser.getVersion")["product"])
        self.call("Browser.setDownloadBehavior", behavior="deny")
        self._frame = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=self._frame, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Inspector"):
            self.call(f"{domain}.enable")
        return product

    def load(self, url: str, budget_ms: float) -> None:
        """Go to the URL, then let the page's own clock run for so long: it runs ahead while nothing is being
        loaded, and stands still meanwhile. Raises Problem when no document comes."""
        failed = self.call("Page.navigate", url=url).get("errorText", "")
        if failed:
            raise Problem("failed", failed)
        policy = "pauseIfNetworkFetchesPending"
        self.call("Emulation.setVirtualTimePolicy", policy=policy, budget=budget_ms)
        while not self.settled and time.monotonic() < self.deadline:
            self._listen()

    def dom(self, seconds: float) -> str:
        """The document as HTML, taken within so many seconds. Raises Problem."""
        self.deadline = time.monotonic() + seconds
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        return str(self.call("DOM.getOuterHTML", nodeId=root)["outerHTML"])

    def picture(self, width: int, most_height: int, seconds: float) -> tuple[bytes, list[list[Any]], int]:
        """What the page looks like at that width (WebP), its text as pieces with their places (text, x, y,
        width, height), and the height of the picture. Raises Problem."""
        self.deadline = time.monotonic() + seconds
        screen = {"width": width, "height": SCREEN_HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        self.call("Emulation.setVirtualTimePolicy", policy="advance")
        whole = self.call("Page.getLayoutMetrics")["cssContentSize"]
        height = max(1, min(int(whole["height"]), most_height))
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.call(
            "Page.captureScreenshot", format="webp", quality=QUALITY, clip=clip, captureBeyondViewport=True
        )
        snapshot = self.call("DOMSnapshot.captureSnapshot", computedStyles=[])
        return base64.b64decode(shot["data"]), text_pieces(snapshot, height), height

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one command. Raises Problem, also when the time is up."""
        number = self._browser.send(method, params, self._session)
        while number not in self._answers:
            if time.monotonic() >= self.deadline:
                raise Problem(
                    "timeout", "the page had not come, or kept the browser busy, when the time was up"
                )
            self._listen()
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Problem("failed", f"{method}: {answer['error'].get('message', '')}")
        result: dict[str, Any] = answer["result"]
        return result

    def _listen(self) -> None:
        for message in self._browser.receive(self.deadline):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._on_event(message.get("method", ""), message.get("params", {}))

    def _on_event(self, name: str, params: dict[str, Any]) -> None:
        if name == "Emulation.virtualTimeBudgetExpired":
            self.settled = True
        elif name == "Inspector.targetCrashed":
            raise Problem("failed", "the page crashed the browser (it may want too much memory)")
        elif name == "Page.javascriptDialogOpening":
            # An open alert would hold up the page for ever.
            self._browser.send("Page.handleJavaScriptDialog", {"accept": False}, self._session)
        elif name == "Page.frameNavigated" and params["frame"]["id"] == self._frame:
            frame = params["frame"]
            self.url = frame["url"] + frame.get("urlFragment", "")
            self.response = self._responses.get(frame["loaderId"], {})
        elif name == "Network.responseReceived" and params.get("type") == "Document":
            self._responses[params["loaderId"]] = params["response"]


def text_pieces(snapshot: dict[str, Any], height: int) -> list[list[Any]]:
    """The pieces of text of a snapshot's document, in their order, with their places above `height`."""
    document, strings = snapshot["documents"][0], snapshot["strings"]
    boxes, texts = document["textBoxes"], document["layout"]["text"]
    pieces: list[list[Any]] = []
    columns = (boxes[name] for name in ("layoutIndex", "bounds", "start", "length"))
    for index, (x, y, wide, high), start, length in zip(*columns):  # noqa: B905 - Python 3.9
        if y >= height or len(pieces) >= MAX_PIECES or texts[index] < 0:
            continue
        units = strings[texts[index]].encode("utf-16-le", "surrogatepass")[2 * start : 2 * (start + length)]
        pieces.append([units.decode("utf-16-le", "replace"), round(x), round(y), round(wide), round(high)])
    return pieces


def draw(page: Page, order: dict[str, Any]) -> int:
    """Keep what the page looks like, and the height of the picture; 0 where that cannot be had: the DOM is
    what counts."""
    try:
        data, pieces, height = page.picture(order["width"], order["most_height"], order["grace"])
    except (Problem, KeyError, IndexError, TypeError, ValueError):
        return 0
    with open(order["picture"], "wb") as file:
        file.write(data)
    with open(order["layout"], "w", encoding="utf-8", errors="replace") as file:
        json.dump(pieces, file)
    return height


def render(order: dict[str, Any], browser: Browser) -> dict[str, Any]:
    """The answer, when the DOM is in its file. Raises Problem."""
    page = Page(browser, time.monotonic() + order["seconds"])
    product = page.open()
    page.load(order["url"], order["budget_ms"])
    data = page.dom(order["grace"]).encode("utf-8", "replace")
    if len(data) > order["most_bytes"]:
        raise Problem("too_large", f"its DOM is larger than {order['most_bytes']} bytes")
    with open(order["dom"], "wb") as file:
        file.write(data)
    answer = {
        "browser": product,
        "url": page.url,
        "status": page.response.get("status"),
        "media_type": page.response.get("mimeType", ""),
        "tls": page.response.get("securityDetails", {}).get("protocol", ""),
        "settled": page.settled,
    }
    return {**answer, "height": draw(page, order)}  # the page's clock goes on for it


def main(text: str) -> int:
    order = json.loads(text)
    browser = None
    try:
        # Of JSON, in which a character may take six bytes.
        browser = Browser(order["argv"], order["log"], 6 * order["most_bytes"] + READ_SIZE)
        answer = render(order, browser)
    except Problem as problem:
        answer = {"kind": problem.kind, "problem": str(problem)}
    finally:
        if browser is not None:
            browser.end()
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

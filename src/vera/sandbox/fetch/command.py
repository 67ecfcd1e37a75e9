#!/usr/bin/env python3
"""The command `fetch [--render] URL` of a box: the host gets the page, keeps it and prints its text here.

With --render the page is shown by a browser, in its own box, and the text is that of its DOM.

A separate file for the box: standard library only, Python 3.9 or later. It asks through the box's proxy;
the name that it asks for exists nowhere else.
"""

import http.client
import os
import sys
from urllib.parse import quote, urlsplit


def main(arguments: "list[str]") -> int:
    urls = [word for word in arguments if word != "--render"]
    if len(urls) != 1 or urls[0].startswith("-"):
        sys.stderr.write("usage: fetch [--render] URL\n")
        return 2
    query = "render=1&url=" if len(arguments) > 1 else "url="
    proxy = urlsplit(os.environ.get("http_proxy", "")).netloc
    if not proxy:
        sys.stderr.write("fetch: this sandbox has no network.\n")
        return 1
    try:
        connection = http.client.HTTPConnection(proxy)
        connection.request("GET", "http://fetch.invalid/?" + query + quote(urls[0], safe=""))
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"fetch: the host does not answer ({error}).\n")
        return 1
    out = sys.stdout if answer.status == 200 else sys.stderr
    out.buffer.write(text)
    out.flush()
    return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Texts that must never change under the same rules: evidence is cited by their bytes.

Who changes a digest here raises RULES in that format's file (a change of the line rule: in all of them).
"""

import hashlib

import pytest

from vera.extraction.canonical import extract

PARAGRAPH = (
    "The licence was revised in No. 7 of the gazette; see Art. 5 and e.g. the note of Dr. Lee on it. "
    'It says "no." Then it says that a written offer must be valid for three years!  And so it is. '
    "研究即验证，模型只选择而不输入引文。任何人都可以检查每一个字节。 "
)
LONG = PARAGRAPH * 4 + ",".join(map(str, range(300))) + " " + "x" * 900
HTML = (
    f"<title>T</title><h1>Head</h1><p>{LONG}</p><ul><li>one<li>two</ul><pre>\n a\n  b</pre>"
    "<table><tr><td>1990<sup>3</sup><td><td>5 kt<tr><td><p>a<p>b<td>c</table><div hidden>h</div>e\u0301"
)
JSON = '{"a": [1.10, 2, [3, {"b": "' + "c" * 400 + '"}]], "a": ' + str(list(range(100))) + "}"


@pytest.mark.parametrize(
    ("name", "source", "rules", "digest"),
    [
        ("a.txt", f"One\r\ntwo\x0c\u2028\x00\n{LONG}", 2, "2c70a2962915111e"),
        ("a.md", f"# One\n\n{LONG}", 4, "31675701c70bbce7"),
        ("a.csv", f'a,b\n"{LONG}",2', 2, "2d5d530ac6e35784"),
        ("a.json", JSON, 1, "24cf8dcc4f94bb52"),
        ("a.html", HTML, 4, "535d16da39ab4add"),
    ],
)
def test_the_text_is_as_it_was(name: str, source: str, rules: int, digest: str) -> None:
    found = extract(source.encode(), name)
    assert hashlib.sha256(found.text).hexdigest()[:16] == digest
    assert found.extractor.endswith(f"/rules-{rules}")

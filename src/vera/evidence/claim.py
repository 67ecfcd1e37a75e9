"""Claims: what an answer states, sentence by sentence, and where it says it found that."""

from typing import Literal

import msgspec

Relation = Literal["SUPPORTS", "CONTRADICTS", "QUALIFIES", "IRRELEVANT"]
"""What lines of a source say of a claim."""


class Cite(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines `first` to `last` of an evidence; both None for the lines of it that were shown."""

    evidence: str
    first: int | None = None
    last: int | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One statement of an answer.

    `key` is c1, c2, … in order of appearance. `text` is the statement without citations and markup;
    `start` to `end` its place in the answer, in characters, citations included. `form` is

    - `statement`: it says something;
    - `extract`: it only points at a source ("1. GPL-3.txt [ev_0003:257-262]"), so it states that these lines
      are there;
    - `absence`: it says that the sources do not tell, which is no statement about the world.

    Of `load_bearing` claims each must be supported before an answer is. An absence does not count for the
    verdict, nor does a sentence without a citation and without a number, name, date or quotation: nothing is
    checked of it, it is shown as unchecked, and an answer that holds one is at most PARTIAL.
    """

    key: str
    text: str
    start: int
    end: int
    cites: tuple[Cite, ...] = ()
    form: str = "statement"
    load_bearing: bool = True

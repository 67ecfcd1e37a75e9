"""The walk down the lines of a message in the text form: what is label, action, text, and what is cut.

The rules are in `text`. The walk goes from one special line to the next (`lines.SPECIAL`) and skips the
insides of every JSON object that it can read, so nothing quoted in one is ever looked at.
"""

import re

from vera.protocol import lines
from vera.protocol.fields import Draft
from vera.protocol.json_recovery import Broken, Found, read_object
from vera.protocol.turn import Action, FormatError
from vera.protocol.variants import Reading, action_of, unknown_shape

MAX_FAILED_SCANS = 8
"""So often an object that turns out broken is looked for over many lines, then within its line only."""

_ORDER = ("THOUGHT", "action", "NOTE", "EVIDENCE_USED", "STATUS_UPDATE")
_REQUIRED = {"THOUGHT", "action", "EVIDENCE_USED", "STATUS_UPDATE"}
_MEANT_AS_OBJECT = re.compile(r"\{\s*+(?:[\"'“”}]|\w{1,40}+\s*+:)")
_WORD = re.compile(r"\w")


class Reader:
    """One walk, from the first line to the last or to the line where an invented observation begins.

    `section` is where the walk is: `before` the first label; in the `thought`, `note`, `evidence` or
    `status`; `outside` of them; or `over`, in a second turn, where actions are counted and nothing else.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.failed_scans = 0
        self.never_closed: set[str] = set()
        self.cut = False
        self._begin()

    def read(self) -> Draft:
        """The parts of the turn as they were found, with the errors that only the walk can see."""
        handlers = {
            "object": self._object,
            "reasoned": self._reasoned,
            "fence": self._fence,
            "observation": self._observation,
            "part": self._part,
        }
        while not self.cut:
            special = lines.SPECIAL.search(self.text, self.position)
            self._plain(self.text[self.position : special.start() if special else len(self.text)])
            if special is None:
                break
            handlers[special.lastgroup or ""](special)
        return self._closed()

    def _begin(self) -> None:
        self.draft = Draft()
        self.section = "before"
        self.written: dict[str, list[str]] = {"thought": [], "note": []}
        self.order: list[str] = []
        self.strictly: set[str] = set()
        self.misplaced: FormatError | None = None
        self.data: FormatError | None = None
        self.prose_after_action = False

    def _closed(self) -> Draft:
        draft = self.draft
        if "THOUGHT" in self.order:
            draft.thought = lines.unescape("".join(self.written["thought"]))
        if "NOTE" in self.order:
            draft.note = lines.unescape("".join(self.written["note"]))
        ranks = [_ORDER.index(name) for name in self.order]
        if ranks != sorted(ranks):
            draft.recover("label_order")
        if draft.action is None:
            draft.action = self.misplaced or self.data
        if self.cut and _REQUIRED - set(self.order):
            draft.errors.append(
                FormatError(
                    "hallucinated_observation",
                    "Your message was read up to the line that begins with OBSERVATION. Never write that "
                    "line; the observation comes after your turn. End your message with STATUS_UPDATE.",
                )
            )
        return draft

    def _plain(self, chunk: str) -> None:
        """Text that holds nothing special, from here to the next special line."""
        if self.section in self.written:
            self.written[self.section].append(chunk)
        elif self.section == "evidence":
            value = chunk.partition("\n")[0]
            more = lines.MORE_IDS.match(chunk, len(value))
            end = more.end() if more else len(value)
            self.draft.evidence_used = chunk[:end]
            self.section = "outside"
            self._stray(chunk[end:])
        elif self.section == "status":
            value, _, rest = chunk.lstrip().partition("\n")
            self.draft.status_update = value
            self.section = "outside"
            self._stray(rest)
        else:
            self._stray(chunk)

    def _stray(self, chunk: str) -> None:
        """Text that belongs to no part: dropped and named; or reasoning that ends in the middle of a line."""
        closing = lines.END_OF_REASONING.search(chunk)
        self._dropped(chunk[closing.end() :] if closing and self._forget() else chunk)

    def _dropped(self, chunk: str) -> None:
        if not _WORD.search(chunk):
            return
        if self.section == "before":
            self.draft.recover("preamble")
        elif self.section == "outside":
            self.draft.recover("stray_text")
            self.prose_after_action = self.prose_after_action or self.order[-1:] == ["action"]

    def _forget(self) -> bool:
        """All so far was reasoning. Not so after a broken action: it may be an answer that quotes the tag."""
        if isinstance(self.draft.action, FormatError):
            return False
        self._begin()
        self.draft.recover("reasoning")
        return True

    def _text(self, start: int, end: int) -> None:
        """What looked special is text of the section it is in; the walk goes on at `end`."""
        if self.section in self.written:
            self.written[self.section].append(self.text[start:end])
        else:
            self._dropped(self.text[start:end])
        self.position = end

    def _reasoned(self, special: re.Match[str]) -> None:
        self._text(special.start(), special.end())
        self._forget()

    def _observation(self, special: re.Match[str]) -> None:
        self.cut = True
        self.position = special.start()
        self.draft.recover("hallucinated_observation")

    def _fence(self, special: re.Match[str]) -> None:
        if self.section in self.written:
            self._quoted(special, special.end())
        else:
            self.position = special.end()

    def _quoted(self, special: re.Match[str], end: int) -> None:
        """Text, with all that follows in the same fenced block if `special` begins one."""
        mark = special.group().lstrip()[:1]
        if mark in lines.CLOSING_FENCE and mark not in self.never_closed and self.section in self.written:
            closing = lines.CLOSING_FENCE[mark].search(self.text, end)
            if closing is None:
                self.never_closed.add(mark)
            else:
                end = closing.end()
        self._text(special.start(), end)

    def _part(self, special: re.Match[str]) -> None:
        written = special["name"]
        name = next(name for name in _ORDER if name[0] == written[0].upper())
        if self.section == "over":
            self.position = special.end()
        elif name == "NOTE" and self.section == "thought" and not (written.isupper() or special["mark"]):
            # "Note: …" begins many an English sentence.
            self._text(special.start(), special.end())
        else:
            self.position = special.end()
            self._enter(name, strict=special.group() == f"{name}:")

    def _enter(self, name: str, *, strict: bool) -> None:
        if name == "THOUGHT" and self.draft.action is not None:
            self.section = "over"
            self.draft.recover("second_turn")
            return
        again = self._is_repeated(name, strict=strict)
        if name in ("THOUGHT", "NOTE"):
            self.section = name.lower()
            self.written[self.section].extend("\n" if again else "")
        elif again and (name in self.strictly or not strict):
            self.section = "outside"
        else:
            self.section = "evidence" if name == "EVIDENCE_USED" else "status"
        if strict:
            self.strictly.add(name)

    def _is_repeated(self, name: str, *, strict: bool) -> bool:
        """Whether a label was there before; it is noted, with what is wrong with it."""
        again = name in self.order
        if again:
            self.draft.recover("repeated_label")
        else:
            self.order.append(name)
        if not strict:
            self.draft.recover("label_style")
        return again

    def _object(self, special: re.Match[str]) -> None:
        found = self._scan(special.end() - 1)
        if isinstance(found, Broken):
            self._broken_object(special, found)
            return
        reading = action_of(found.value)
        if reading is None:
            if self._may_act(special) and self.data is None:
                self.data = unknown_shape(found.value)
            self._quoted(special, found.end)
        elif self._may_act(special):
            for group, name in (("label", "action_label"), ("wrap", "fenced")):
                self.draft.recover(*([name] if special[group] else []))
            self.draft.recover(*found.repaired)
            closing = lines.WRAP_END.match(self.text, found.end) if special["wrap"] else None
            self._act(reading, closing.end() if closing else found.end)
        else:
            self._further(special, found.end)

    def _broken_object(self, special: re.Match[str], broken: Broken) -> None:
        """A broken action, or text that only looks like an object."""
        start = special.end() - 1
        end = self._line_end(start)
        if self._may_act(special) and (special["label"] or _MEANT_AS_OBJECT.match(self.text, start)):
            self._act(_broken(broken), end)
        else:
            self._quoted(special, end)

    def _may_act(self, special: re.Match[str]) -> bool:
        """Whether an action may stand here: the first, after THOUGHT, and in no note unless labelled."""
        if self.draft.action is not None or "THOUGHT" not in self.order:
            return False
        return self.section != "note" or bool(special["label"])

    def _scan(self, start: int) -> Found | Broken:
        patient = self.failed_scans < MAX_FAILED_SCANS
        found = read_object(self.text, start, None if patient else self._line_end(start))
        self.failed_scans += isinstance(found, Broken)
        return found

    def _line_end(self, start: int) -> int:
        end = self.text.find("\n", start)
        return len(self.text) if end < 0 else end

    def _act(self, reading: Reading | FormatError, end: int) -> None:
        if isinstance(reading, Reading):
            self.draft.action = reading.action
            self.draft.recover(*reading.deviations)
        else:
            self.draft.action = reading
        self.order.append("action")
        self.section = "outside"
        self.position = end

    def _further(self, special: re.Match[str], end: int) -> None:
        """An action that is not the turn's: counted, never run."""
        self.draft.ignored_actions += 1
        if self.draft.action is None:
            place = "under NOTE" if self.section == "note" else "before THOUGHT"
            self.misplaced = FormatError(
                "missing_action",
                f"The action is {place}, so it was not run. Write it on a separate line directly under "
                "THOUGHT.",
            )
        elif isinstance(self.draft.action, Action) and self.prose_after_action and self.order[-1] == "action":
            self.draft.action = FormatError(
                "ambiguous_action",
                "Your message has two actions with text between them, so it is not clear which one you "
                "mean and nothing was run. Write one action, and quote no other at the beginning of a line.",
            )
        if self.section in self.written:
            self._quoted(special, end)
        else:
            self.position = end


def _broken(broken: Broken) -> FormatError:
    return FormatError(
        broken.code,
        f"The action cannot be read as JSON: {broken.reason}. Write it again on one line; inside strings "
        'write \\" for a quotation mark, \\n for a line break and \\\\ for a backslash.',
    )

"""Reports of `vera check` as a SARIF 2.1.0 log (OASIS standard, 27 March 2020)."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vera.audit.meanings import MEANINGS
from vera.cli.check_place import absolute, region, relative, uri
from vera.report.printable import printable
from vera.version import __version__

if TYPE_CHECKING:
    from vera.document_check.findings import Problem
    from vera.document_check.run import Report

_PAGE = "https://github.com/vera-agent/vera/blob/main/docs/reference/findings.md"
_ROOT = "%SRCROOT%"
_UNCHECKED = "source_unchecked"

_LEVELS = {"hard": "error", "hint": "warning", "unchecked": "none"}
"""Of a kind other than `fail`, SARIF (3.27.9) knows no other level than `none`."""


class Checked(NamedTuple):
    """A report, and the lines of its file; None for a file that has none (docx, PDF)."""

    report: "Report"
    lines: Sequence[str] | None


def as_sarif(checked: Sequence[Checked], failed: Sequence[tuple[str, str]], code: int) -> dict[str, Any]:
    """One run over all documents. `failed` are those that could not be checked, with the reason; `code` is
    the exit code of the command."""
    results = [each for one in checked for each in _results(one)]
    rules = sorted({each["ruleId"] for each in results})
    for each in results:
        each["ruleIndex"] = rules.index(each["ruleId"])
    invocation: dict[str, Any] = {
        "executionSuccessful": not failed,
        "exitCode": code,
        "toolExecutionNotifications": [*map(_notification, failed), *_notes(checked)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "VERA",
                        "semanticVersion": __version__,
                        "informationUri": "https://github.com/vera-agent/vera",
                        "rules": [_rule(each) for each in rules],
                    }
                },
                "invocations": [invocation],
                "columnKind": "utf16CodeUnits",
                "newlineSequences": ["\r\n", "\n", "\r"],
                "originalUriBaseIds": {
                    _ROOT: {"description": {"text": "The folder in which vera check was run."}}
                },
                "artifacts": [
                    {
                        "location": _location(one.report.document),
                        "roles": ["analysisTarget"],
                        "hashes": {"sha-256": one.report.sha256},
                    }
                    for one in checked
                ],
                "results": results,
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    meaning = MEANINGS[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("_")),
        "shortDescription": {"text": meaning.says},
        "help": {"text": meaning.help},
        "helpUri": _PAGE,
    }


def _results(one: Checked) -> Iterator[dict[str, Any]]:
    document, found = one.report.document, one.report.findings
    seen: Counter[str] = Counter()
    for problem in found.problems:
        yield _result(one, problem, _fingerprint(seen, problem.code, problem.claim, problem.detail))
    for missing in found.unchecked:
        for line in missing.lines or (1,):
            yield {
                **_judged(_UNCHECKED, "unchecked"),
                "message": _message(f"{missing.source}: {missing.reason}"),
                "locations": [_place(document, None if one.lines is None else {"startLine": line})],
                "partialFingerprints": _fingerprint(seen, _UNCHECKED, missing.source, ""),
            }


def _result(one: Checked, problem: "Problem", fingerprints: Mapping[str, str]) -> dict[str, Any]:
    said, at = problem.message, None
    if one.lines is None:
        said = f"Line {problem.line} of the document's text: {said}"
    else:
        place = region(problem, one.lines)
        at = {"startLine": place.line}
        if place.column:
            at |= {"startColumn": place.column, "endColumn": place.end_column}
    properties = {"statement": problem.claim, "detail": problem.detail, "source": problem.source}
    return {
        **_judged(problem.code, problem.severity),
        "message": _message(said),
        "locations": [_place(one.report.document, at)],
        "partialFingerprints": fingerprints,
        "properties": {name: value for name, value in properties.items() if value},
    }


def _message(text: str) -> dict[str, str]:
    """A message as plain text: `[words](address)` would be a link (3.11.6), and may come from a document."""
    return {"text": printable(text).replace("](", "] (")}


def _judged(code: str, severity: str) -> dict[str, Any]:
    kind = "open" if severity == "unchecked" else "fail"
    return {"ruleId": code, "kind": kind, "level": _LEVELS[severity]}


def _place(document: str, at: Mapping[str, int] | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _location(document)}
    return {"physicalLocation": place | ({"region": at} if at else {})}


def _location(document: str) -> dict[str, str]:
    below = relative(document)
    if below is None:
        return {"uri": absolute(document).as_uri()}
    return {"uri": uri(below), "uriBaseId": _ROOT}


def _fingerprint(seen: Counter[str], *parts: str) -> dict[str, str]:
    """The same for the same finding when lines around it come and go; of several alike each its own."""
    words = "\0".join(" ".join(part.split()) for part in parts)
    key = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    seen[key] += 1
    return {"veraFinding/v1": f"{key}:{seen[key]}"}


def _notification(failed: tuple[str, str]) -> dict[str, Any]:
    document, reason = failed
    return {"level": "error", "message": _message(reason), "locations": [_place(document, None)]}


def _notes(checked: Sequence[Checked]) -> Iterator[dict[str, Any]]:
    """What is said of a whole document: parts that were not read, and how its lines are counted."""
    for one in checked:
        unread = one.report.findings.unread
        for note in (*([f"Unchecked: {unread}."] if unread else []), *one.report.notes):
            yield {
                "level": "note",
                "message": _message(note),
                "locations": [_place(one.report.document, None)],
            }

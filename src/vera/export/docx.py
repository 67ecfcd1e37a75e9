"""The answer as a Word document with real footnotes: Office Open XML (ECMA-376), by the standard library.

python-docx writes no footnotes. A citation is a footnote with its source, its lines and when they were read;
a mark such as "(supported)" stays in the text, and what was dropped is struck out.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from vera.evidence.citation import find_citations
from vera.export.finished import Finished, sources_of
from vera.report.answer import LIMITS_TITLE, Report, closing_line, mode_line
from vera.report.footnotes import Footnotes
from vera.report.html.answer import Block, Inline, blocks
from vera.report.printable import printable

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006"
_P = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STRUCK = re.compile(r"~~(.+?)~~", re.DOTALL)
_FIRST_NOTE = 2
"""The numbers before it are the two separators that Word wants."""

_MOMENT = (1980, 1, 1, 0, 0, 0)
"""Of the members of the zip file: the same session gives the same bytes."""


def docx(finished: Finished) -> bytes:
    """The document: question, verdict, answer with footnotes, sources, and what the evidence cannot rule
    out."""
    shown = finished.report
    cited, notes = Footnotes(shown.quotes), list[str]()
    body = [
        _paragraph("Title", _run(finished.task.strip())),
        _paragraph("Verdict", _run(closing_line(shown))),
    ]
    for part in blocks(shown.text, ()):
        body += _block(part, cited, notes)
    body += _after(finished, shown)
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": _relations(("styles", "styles.xml"), ("footnotes", "footnotes.xml")),
        "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{"".join(body)}</w:body></w:document>',
        "word/footnotes.xml": _footnotes(notes),
        "word/styles.xml": _styles(),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, xml in parts.items():
            file.writestr(zipfile.ZipInfo(name, _MOMENT), (_HEAD + xml).encode("utf-8", "replace"))
    return made.getvalue()


def _after(finished: Finished, shown: Report) -> Iterator[str]:
    """What follows the answer."""
    if shown.noted:
        yield _paragraph("", _run(shown.noted))
    findings = [f"{claim.mark}: {text}" for claim in shown.claims for text in claim.findings]
    sources = [f"{each.source} {', '.join(each.places)}" for each in sources_of(finished)]
    listed = (("Findings", findings), ("Sources", sources), (LIMITS_TITLE.lstrip("# "), shown.limits))
    for title, texts in listed:
        if texts:
            yield _paragraph("Heading1", _run(title))
            yield from (_paragraph("ListParagraph", _run(f"• {text}")) for text in texts)
    if mode := mode_line(shown):
        yield _paragraph("", _run(mode))


def _block(part: Block, cited: Footnotes, notes: list[str]) -> Iterator[str]:
    styles = {"heading": "Heading1", "list": "ListParagraph", "numbered": "ListParagraph", "code": "Code"}
    for inlines in part.parts:
        bullet = _run("• ") if part.kind == "list" else ""
        runs = "".join(_inline(each, cited, notes) for each in inlines)
        yield _paragraph(styles.get(part.kind, ""), bullet + runs)


def _inline(piece: Inline, cited: Footnotes, notes: list[str]) -> str:
    """A piece of text, or the footnotes of a citation in its place."""
    if not piece.cites:
        made, at = [], 0
        for found in _STRUCK.finditer(piece.text):
            made += [_run(piece.text[at : found.start()]), _run(found[1], "<w:strike/>")]
            at = found.end()
        return "".join([*made, _run(piece.text[at:])])
    marks = []
    for each in find_citations(piece.text):
        notes.append(cited.text(each.evidence, each.first, each.last))
        number = _FIRST_NOTE + len(notes) - 1
        marks.append(f'<w:r>{_raised()}<w:footnoteReference w:id="{number}"/></w:r>')
    return _run(", ", _raised(bare=True)).join(marks)


def _footnotes(notes: Sequence[str]) -> str:
    separators = "".join(
        f'<w:footnote w:type={quoteattr(kind)} w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        for number, kind in enumerate(("separator", "continuationSeparator"))
    )
    made = "".join(
        f'<w:footnote w:id="{number}">'
        + _paragraph("FootnoteText", f"<w:r>{_raised()}<w:footnoteRef/></w:r>{_run(f' {text}')}")
        + "</w:footnote>"
        for number, text in enumerate(notes, _FIRST_NOTE)
    )
    return f'<w:footnotes xmlns:w="{_W}">{separators}{made}</w:footnotes>'


def _run(text: str, properties: str = "") -> str:
    """A run of text; line breaks stay, and nothing in it becomes markup."""
    if not text:
        return ""
    lines = [f'<w:t xml:space="preserve">{escape(line)}</w:t>' for line in printable(text).split("\n")]
    if properties and not properties.startswith("<w:rPr>"):
        properties = f"<w:rPr>{properties}</w:rPr>"
    return f"<w:r>{properties}{'<w:br/>'.join(lines)}</w:r>"


def _raised(*, bare: bool = False) -> str:
    raised = '<w:vertAlign w:val="superscript"/>'
    return raised if bare else f"<w:rPr>{raised}</w:rPr>"


def _paragraph(style: str, runs: str) -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{runs}</w:p>"


def _content_types() -> str:
    parts = (("document", "document.main"), ("footnotes", "footnotes"), ("styles", "styles"))
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>' for name, kind in parts
    )
    return (
        f'<Types xmlns="{_P}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(*parts: tuple[str, str]) -> str:
    made = "".join(
        f'<Relationship Id="rId{number}" Type="{_R}/relationships/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(parts, 1)
    )
    return f'<Relationships xmlns="{_P}/relationships">{made}</Relationships>'


def _styles() -> str:
    """The few styles that the paragraphs name. Sizes are half points, spaces twentieths of a point."""
    usual = '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/>'
    styles = (
        ("Title", "Title", "", '<w:b/><w:sz w:val="36"/>'),
        ("Verdict", "Verdict", '<w:spacing w:after="240"/>', "<w:b/>"),
        ("Heading1", "heading 1", '<w:keepNext/><w:spacing w:before="240"/>', '<w:b/><w:sz w:val="28"/>'),
        ("ListParagraph", "List Paragraph", '<w:ind w:left="360" w:hanging="360"/>', ""),
        ("Code", "Code", "", '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/><w:sz w:val="20"/>'),
        ("FootnoteText", "footnote text", '<w:spacing w:after="40"/>', '<w:sz w:val="18"/>'),
    )
    made = "".join(
        f'<w:style w:type="paragraph" w:styleId="{each}"><w:name w:val="{name}"/>'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
        for each, name, paragraph, run in styles
    )
    return (
        f'<w:styles xmlns:w="{_W}"><w:docDefaults><w:rPrDefault><w:rPr>{usual}</w:rPr></w:rPrDefault>'
        '<w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr></w:pPrDefault></w:docDefaults>'
        f"{made}</w:styles>"
    )

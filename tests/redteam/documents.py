"""Documents of an attack: a text as it is, or `KIND: what it is made of`."""

import base64
import io
import zipfile
from typing import Any

from support.documents import make_docx, make_pdf, make_xlsx, paragraph

ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
)
P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def make(made: str | dict[str, Any]) -> bytes:
    """The bytes of a document."""
    if isinstance(made, str):
        return made.encode()
    ((kind, content),) = made.items()
    return KINDS[kind](content)


def docx(content: Any) -> bytes:
    """Paragraphs: a text, `{RUN PROPERTIES IN XML: text}`, or XML of Word's own."""
    if isinstance(content, str):
        return make_docx(content)
    if isinstance(content, dict):
        parts = dict(content)
        return make_docx(_word(parts.pop("body")), **parts)
    return make_docx(_word(content))


def _word(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(each if each.startswith("<w:") else paragraph(each) for each in content)


def xlsx(content: Any) -> bytes:
    """Rows in XML, or lists of cells; `styles` and `book` in XML, `sheets` as name: rows, `hidden` a name."""
    if not isinstance(content, dict):
        return make_xlsx(_rows(content))
    parts = dict(content)
    sheets = parts.pop("sheets", None) or {"One": parts.pop("rows")}
    return make_xlsx(*map(_rows, sheets.values()), names=tuple(sheets), **parts)


def _rows(content: Any) -> str:
    if isinstance(content, str):
        return content
    rows = (row if isinstance(row, str) else _row(number, row) for number, row in enumerate(content, 1))
    return "".join(rows)


def _row(number: int, cells: list[Any]) -> str:
    made = (
        f'<c r="{chr(65 + column)}{number}"><v>{cell}</v></c>'
        if isinstance(cell, int | float)
        else f'<c r="{chr(65 + column)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for column, cell in enumerate(cells)
    )
    return f'<row r="{number}">{"".join(made)}</row>'


def pdf(content: Any) -> bytes:
    """Lines of one page; or `content`, the operators of its stream, and `annotations`, in PDF's own words."""
    if isinstance(content, list):
        return make_pdf(content)
    body, annotations = (content.get(name, "").encode("latin-1") for name in ("content", "annotations"))
    title = content.get("title", "").encode("latin-1").replace(b"(", b"\\(").replace(b")", b"\\)")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        b" /Contents 4 0 R /Annots [%s] >>" % annotations,
        b"<< /Title (%s) >>" % title,
    ]
    file, table = b"%PDF-1.7\n", b""
    for number, each in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    end = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    end += b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(file),
    )
    return file + end


def odt(content: Any) -> bytes:
    """XML of the text's body; or `body`, `styles` (automatic styles) and `meta`."""
    parts = {"body": content} if isinstance(content, str) else content
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {ODF} office:version="1.2">'
        f"<office:automatic-styles>{parts.get('styles', '')}</office:automatic-styles>"
        f"<office:body><office:text>{parts['body']}</office:text></office:body></office:document-content>"
    )
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": text}
    if "meta" in parts:
        members["meta.xml"] = (
            f"<office:document-meta {ODF}><office:meta>{parts['meta']}</office:meta></office:document-meta>"
        )
    return archive(members, zipfile.ZIP_STORED)


def pptx(content: Any) -> bytes:
    """Slides: the XML of each one's shapes, or `{shapes, show, notes}`."""
    slides = [each if isinstance(each, dict) else {"shapes": each} for each in content]
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/slide" Target="slides/slide{n}.xml"/>'
        for n in range(1, len(slides) + 1)
    )
    members: dict[str, Any] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "ppt/presentation.xml": f"<p:presentation {P}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
    }
    for number, slide in enumerate(slides, 1):
        members[f"ppt/slides/slide{number}.xml"] = (
            f'<p:sld {P} show="{slide.get("show", 1)}"><p:cSld><p:spTree>{slide["shapes"]}</p:spTree>'
            "</p:cSld></p:sld>"
        )
        if "notes" in slide:
            members[f"ppt/slides/_rels/slide{number}.xml.rels"] = (
                f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
                f'Type="{OFFICE}/notesSlide" Target="../notesSlides/notesSlide{number}.xml"/></Relationships>'
            )
            members[f"ppt/notesSlides/notesSlide{number}.xml"] = (
                f"<p:notes {P}><p:cSld><p:spTree>{slide['notes']}</p:spTree></p:cSld></p:notes>"
            )
    return archive(members)


def archive(content: dict[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these members, each a document. That of an OpenDocument file begins with its plain type."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, each in content.items():
            made.writestr(name, make(each))
    return file.getvalue()


def pages(content: list[list[str]]) -> bytes:
    """A PDF with the lines of each of its pages."""
    return make_pdf(*content)


KINDS = {
    "docx": docx,
    "xlsx": xlsx,
    "pdf": pdf,
    "pages": pages,
    "odt": odt,
    "pptx": pptx,
    "zip": archive,
    "base64": base64.b64decode,
}

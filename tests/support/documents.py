"""Small documents made in code: a PDF, a Word document, a workbook."""

import io
import zipfile
import zlib
from xml.sax.saxutils import escape, quoteattr

from vera.extraction.page_picture import PageReply, PageRequest
from vera.extraction.page_picture_client import page_pixels, png

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
ENCRYPTED = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]" % (
    b"41" * 32,
    b"42" * 32,
)


def make_pdf(*pages: list[str], title: str = "", trailer: bytes = b"") -> bytes:
    """A PDF 1.4 file with the given lines on each page, in Helvetica."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Title (%s) >>" % title.encode()]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for lines in pages:
        shown = b" ".join(b"(%s) Tj T*" % _pdf_string(line) for line in lines)
        content = b"BT /F1 12 Tf 72 720 Td 14 TL %s ET" % shown
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            b" /Resources << /Font << /F1 4 0 R >> >> /Contents %d 0 R >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _file(objects, b"/Info 3 0 R %s" % trailer)


def _file(objects: list[bytes], trailer: bytes) -> bytes:
    file = b"%PDF-1.4\n"
    table = b""
    for number, body in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    count = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
    end += b"trailer\n<< /Size %d /Root 1 0 R %s >>\n" % (count, trailer)
    return file + end + b"startxref\n%d\n%%%%EOF\n" % len(file)


def make_zip(**parts: str | bytes) -> bytes:
    """A zip of parts; in their names `__` stands for a slash."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


def make_docx(body: str, **other: str) -> bytes:
    """A Word document with this XML in its body; `other` parts by name without `.xml`."""
    parts = {"word__document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>"}
    parts |= {f"word__{name}.xml": content for name, content in other.items()}
    return make_zip(**parts)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{escape(text)}</w:t></w:r></w:p>"


def make_xlsx(
    *sheets: str,
    names: tuple[str, ...] = ("One",),
    hidden: str = "",
    strings: str = "",
    styles: str = "",
    book: str = "",
) -> bytes:
    """A workbook with this XML as the rows of each sheet."""
    listed = ""
    for i, name in enumerate(names, 1):
        state = ' state="hidden"' if name == hidden else ""
        listed += f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"{state}/>'
    relations = "".join(
        f'<Relationship Id="rId{i}" Target="worksheets/sheet{i}.xml"/>' for i in range(1, len(sheets) + 1)
    )
    parts = {
        "xl__workbook.xml": f"<workbook {S} {R}>{book}<sheets>{listed}</sheets></workbook>",
        "xl___rels__workbook.xml.rels": (
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>'
        ),
        "xl__sharedStrings.xml": f"<sst {S}>{strings}</sst>",
        "xl__styles.xml": f"<styleSheet {S}>{styles}</styleSheet>",
    }
    parts |= {
        f"xl__worksheets__sheet{i}.xml": f"<worksheet {S}><sheetData>{rows}</sheetData></worksheet>"
        for i, rows in enumerate(sheets, 1)
    }
    return make_zip(**parts)


def _pdf_string(line: str) -> bytes:
    return line.encode("latin-1").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def scanned_page(*lines: str) -> PageReply:
    """The pixels of a page with these lines, as a scanner gives them."""
    return page_pixels(PageRequest(make_pdf(list(lines)), 1, larger=2.0))


def make_picture(*lines: str) -> bytes:
    """A PNG on which these lines are written."""
    page = scanned_page(*lines)
    return png(page.width, page.height, page.pixels)


def make_scan(*pages: list[str]) -> bytes:
    """A PDF that holds pictures of its pages and no text."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for lines in pages:
        drawn = scanned_page(*lines)
        data = zlib.compress(drawn.pixels)
        objects.append(
            b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB"
            b" /BitsPerComponent 8 /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream"
            % (drawn.width, drawn.height, len(data), data)
        )
        content = b"612 0 0 792 0 0 cm /P Do"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /P %d 0 R >> >>"
            b" /Contents %d 0 R >>" % (len(objects) - 1, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _file(objects, b"")

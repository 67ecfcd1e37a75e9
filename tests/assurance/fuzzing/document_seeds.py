"""Small documents of each format, as programs write them, and ways to change what is packed in them."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

from assurance.fuzzing import mutate
from assurance.fuzzing.mutate import Draw
from support.bombs import bomb
from support.containers import mail, mbox, tarred, zipped
from support.documents import make_docx, make_pdf, make_xlsx, paragraph

HTML = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8><title>Terms</title><style>.x{display:none}"
    b"b{text-decoration:line-through}</style></head><body><nav>Home</nav><h1>Terms</h1><p class=x>hidden</p>"
    b"<p>The offer is valid for <b>two</b> three&nbsp;years &amp; a day.<ol start=3><li>a<li value=7>b</ol>"
    b"<table><tr><th colspan=2>Fee<td rowspan=3>5 %</table><pre>\n a\n</pre><svg><text>s</text></svg>"
    b"<details><summary>s</summary>d</details><template>t</template></body></html>"
)
HTML_OTHER = (
    "<html><head><meta http-equiv=content-type content='text/html; charset=shift_jis'></head><body>"
    "<div hidden>h</div><p style='visibility:hidden'>v<p dir=rtl>שלוש</p><ruby>漢<rt>かん</rt></ruby>"
    "<del>old</del><ins>new</ins><sup>2</sup></body></html>"
).encode("shift_jis", "xmlcharrefreplace")
EML = mail(
    "Offer", "Three years.\n", {"a.txt": b"inner\n", "b.html": HTML, "c.zip": zipped({"d.txt": b"d\n"})}
)
EML_OTHER = (
    b"From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nSubject: =?iso-2022-jp?b?GyRCJDMbKEI=?=\r\n"
    b"Date: Thu, 01 Jan 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n"
    b" boundary=\"b; x\"; charset*0*=utf-8''x\r\n\r\n--b; x\r\nContent-Type: text/html; charset=utf-16\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nPGI+eDwvYj4=\r\n--b; x--\r\n"
)
MARKDOWN = (
    b"---\ntitle: Terms\ndate: 2026-01-02\n---\n# Terms [^1]\n\nThe **offer** is ~~two~~ three years "
    b'[here](http://a.test/b "t") and `code`.\n\n> quoted\n\n```py\nx = 1\n```\n| a | b |\n|---|:-:|\n'
    b"| 1 | 2 |\n\n[^1]: http://c.test/\n\n- [ ] open\n1. one\n"
)
CSV = b'a;"b ""c""";d\n1,5;"2\n3";\n\xef\xbb\xbf4;5;6\n'
TSV = b"a\tb\tc\n1\t2\t3\n"
JSON = b'{"terms": [{"years": 3, "open": null, "n": 1e3, "t": "x\\ud83d\\ude00"}], "a": {"b": {"c": [1, 2]}}}'
JSONL = b'{"a": 1}\n{"a": "two", "b": [3]}\n\n{"a": null}\n'
TEXT = (
    "The written offer must be valid for at least three years.\n\n§ 2 Fees\n\n  a) 5 % of EUR 1,200.50\n"
    "  b) nothing; see section 3.1(a)\n\nAntwort: drei Jahre. 回答：三年。 الجواب\fpage 2\n"
).encode()
XML = '<?xml version="1.0" encoding="UTF-8"?>'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta")
)


def pptx() -> bytes:
    shape = (
        "<p:sp><p:nvSpPr><p:cNvPr id='2' name='x' hidden='0'/></p:nvSpPr><p:txBody><a:p><a:r>"
        "<a:rPr strike='sngStrike'/><a:t>two</a:t></a:r><a:r><a:t> three years</a:t></a:r></a:p></p:txBody>"
        "</p:sp>"
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>c</a:t></a:r></a:p></a:txBody></a:tc>"
        "</a:tr></a:tbl></p:graphicFrame>"
    )
    slide = f'<p:sld {_P} {_A} show="1"><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>'
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{_RELATIONS}">'
            '<Relationship Id="rId1" Target="slides/slide1.xml"/><Relationship Id="rId2" Target="/ppt/slides/'
            'slide2.xml"/></Relationships>',
            "ppt/slides/slide1.xml": slide,
            "ppt/slides/slide2.xml": slide.replace("two", "2"),
            "ppt/presentation.xml": f"<p:presentation {_P} {_R}><p:sldIdLst><p:sldId id='256' r:id='rId1'/>"
            "<p:sldId id='257' r:id='rId2'/></p:sldIdLst></p:presentation>",
        }
    )


def odt() -> bytes:
    body = (
        "<text:h>Terms</text:h><text:p text:style-name='S'>two<text:s text:c='2'/>three<text:tab/>"
        "<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note></text:p><table:table>"
        "<table:table-row table:number-rows-repeated='3'><table:table-cell "
        "table:number-columns-repeated='2'><text:p>c</text:p></table:table-cell></table:table-row>"
        "</table:table>"
    )
    styles = (
        "<style:style style:name='S' style:parent-style-name='T'><style:text-properties "
        "text:display='none'/></style:style>"
    )
    content = (
        f"{XML}<office:document-content {_ODF}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return packed({"content.xml": content}, "application/vnd.oasis.opendocument.text")


def epub() -> bytes:
    chapter = (
        f"{XML}<!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><body><h1>One</h1><p>Three.</p>"
        "</body></html>"
    )
    return packed(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="c" '
            'href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/>'
            "</spine>"
            "</package>",
            "OPS/c.xhtml": chapter,
        },
        "application/epub+zip",
    )


def packed(parts: Mapping[str, str | bytes], mime: str = "") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        if mime:
            archive.writestr("mimetype", mime, zipfile.ZIP_STORED)
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def squeezed_pdf() -> bytes:
    """A PDF with its content in a compressed stream, as programs write it."""
    drawn = b"BT /F1 12 Tf 72 720 Td (Three years.) Tj T* [(k) -250 (e)] TJ ET 72 719 m 90 719 l S"
    content = zlib.compress(drawn)
    plain = make_pdf(["x"], ["y"])
    at = plain.index(b"<< /Length")
    end = plain.index(b"endstream", at)
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(content)
    return plain[:at] + head + content + b"\n" + plain[end:]


DOCX = make_docx(
    paragraph("Three years.")
    + paragraph("two", "<w:strike/>")
    + paragraph("unseen", "<w:vanish/>")
    + "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    + "<w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
    + "</w:p>",
)
XLSX = make_xlsx(
    "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='XFD1'><f>1+1</f><v>2</v></c></row>"
    "<row r='1048576' hidden='1'><c r='B2' s='1'><v>45000.5</v></c></row>",
    strings="<si><t>Years</t></si><si><r><rPr><strike/></rPr><t>x</t></r></si>",
    styles="<numFmts><numFmt numFmtId='164' formatCode='yyyy-mm-dd'/></numFmts><cellXfs><xf numFmtId='0'/>"
    "<xf numFmtId='164'/></cellXfs>",
)
PDFS = (make_pdf(["Three years."], ["Page two"], title="Terms"), squeezed_pdf())

DOCUMENTS: dict[str, tuple[bytes, ...]] = {
    "html": (HTML, HTML_OTHER),
    "eml": (EML, EML_OTHER),
    "pdf": PDFS,
    "docx": (DOCX,),
    "xlsx": (XLSX,),
    "pptx": (pptx(),),
    "odt": (odt(),),
    "epub": (epub(),),
    "md": (MARKDOWN,),
    "csv": (CSV,),
    "tsv": (TSV,),
    "json": (JSON,),
    "jsonl": (JSONL,),
    "txt": (TEXT, "Grüße\r\n".encode("utf-16"), "Ответ".encode("cp1251")),
}
MEMBERS = {"a.txt": TEXT, "b/c.html": HTML, "d.eml": EML, "e.zip": zipped({"f.txt": b"f\n"})}
_TAR = tarred(MEMBERS, "w", tarfile.TarInfo("folder/"))
CONTAINERS: dict[str, tuple[bytes, ...]] = {
    "zip": (zipped(MEMBERS), zipped(MEMBERS, zipfile.ZIP_STORED), zipped({"x.tar.gz": gzip.compress(_TAR)})),
    "tar": (_TAR,),
    "tar.gz": (gzip.compress(_TAR),),
    "tar.bz2": (bz2.compress(_TAR),),
    "tar.xz": (lzma.compress(_TAR),),
    "mbox": (mbox(EML, EML_OTHER, mail("two", "Second.\n\nFrom here on it is prose.\n")),),
    "eml": (EML, EML_OTHER),
}


def changed(draw: Draw, name: str) -> bytes:
    """A document of that format, changed as bytes or in what is packed in it."""
    seeds = DOCUMENTS.get(name) or CONTAINERS[name]
    if draw.random() < 0.6:
        match name:
            case "docx" | "xlsx" | "pptx" | "odt" | "epub" | "zip":
                return _with_a_part_changed(draw, draw.choice(seeds))
            case "pdf":
                return _with_streams_changed(draw, draw.choice(seeds))
            case "tar.gz" | "tar.bz2" | "tar.xz":
                return _packed_again(draw, name, mutate.data(draw, [_TAR]))
    return mutate.data(draw, seeds)


def _with_a_part_changed(draw: Draw, package: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    mime = parts.pop("mimetype", b"").decode()
    for name in draw.sample(list(parts), draw.choice((1, 1, 2)) if len(parts) > 1 else 1):
        parts[name] = _part(draw, parts[name], list(parts.values()))
    if draw.random() < 0.1:
        parts[draw.choice(("../x", "/x", "a" * 60_000, "x\x00y", "\u202e", "word/document.xml"))] = b"x"
    return packed(parts, mime)


def _part(draw: Draw, part: bytes, others: list[bytes]) -> bytes:
    match draw.randrange(12):
        case 0:
            return bytes(draw.choice((1 << 10, 1 << 24)))
        case 1:
            return b"<!DOCTYPE a [<!ENTITY b 'cccccccccc'>]>" + part
        case 2:
            at = part.rfind(b"</") if b"</" in part else 0
            deep = draw.choice((100, 1000, 100_000))
            return part[:at] + b"<w:p>" * deep + b"</w:p>" * deep + part[at:]
    return mutate.data(draw, [part, *others])


def _with_streams_changed(draw: Draw, pdf: bytes) -> bytes:
    """The streams of a PDF changed, and packed again."""
    found, made = 0, b""
    while (at := pdf.find(b"stream\n", found)) >= 0 and (end := pdf.find(b"endstream", at)) >= 0:
        content = pdf[at + 7 : end]
        try:
            content = zlib.decompress(content)
        except zlib.error:
            made += pdf[found:at] + b"stream\n" + mutate.data(draw, [content], 1 << 18)
        else:
            changed = draw.choice((mutate.data(draw, [content], 1 << 18), bytes(1 << 22)))
            made += pdf[found:at] + b"stream\n" + zlib.compress(changed)
        found = end
    return made + pdf[found:]


def _packed_again(draw: Draw, name: str, archive: bytes) -> bytes:
    if draw.random() < 0.05:
        return bomb(1, 64)
    archive = archive * draw.choice((1, 1, 1, 3))
    return {"tar.gz": gzip.compress, "tar.bz2": bz2.compress, "tar.xz": lzma.compress}[name](archive)

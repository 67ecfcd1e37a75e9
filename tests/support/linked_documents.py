"""Small documents of several formats with links in them."""

import io
import zipfile
from collections.abc import Sequence

ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "style")
)
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def packed(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def odt(body: str) -> bytes:
    content = (
        f'<office:document-content {ODF} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body>'
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def pptx(runs: str, relation: str) -> bytes:
    slide = f"<p:sld {P} {A} {R}><p:sp><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp></p:sld>"
    return packed(
        {
            "ppt/slides/slide1.xml": slide,
            "ppt/slides/_rels/slide1.xml.rels": f"<Relationships {RELATIONS}>{relation}</Relationships>",
            "ppt/_rels/presentation.xml.rels": f"<Relationships {RELATIONS}>"
            '<Relationship Id="rId1" Target="slides/slide1.xml"/></Relationships>',
            "ppt/presentation.xml": f'<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id="rId1"/>'
            "</p:sldIdLst></p:presentation>",
        }
    )


def epub(body: str) -> bytes:
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": f"<html><body>{body}</body></html>",
        }
    )


def rtf(body: str) -> bytes:
    return f"{{\\rtf1\\ansi {body}\\par}}".encode()


LINK = '<text:a xlink:type="simple" xlink:href="{}">report</text:a>'
FIELD = '{{\\field{{\\*\\fldinst {{HYPERLINK "{}" }}}}{{\\fldrslt {{\\ul report}}}}}}'
NOTE = (
    '<text:note text:id="f1"><text:note-citation>1</text:note-citation><text:note-body><text:p>{}</text:p>'
    "</text:note-body></text:note>"
)
CLICK = '<a:r><a:rPr><a:hlinkClick r:id="rId2"/></a:rPr><a:t>report</a:t></a:r>'


def written(kind: str, paragraphs: Sequence[str], target: str) -> bytes:
    """A document with these paragraphs, in which `{}` is a link to the target."""
    match kind:
        case "odt":
            return odt("".join(f"<text:p>{each.format(LINK.format(target))}</text:p>" for each in paragraphs))
        case "epub":
            link = f'<a href="{target}">report</a>'
            return epub("".join(f"<p>{each.format(link)}</p>" for each in paragraphs))
        case "rtf":
            return rtf("\\par ".join(each.replace("{}", FIELD.format(target)) for each in paragraphs))
        case _:
            runs = (each.replace("{}", f"</a:t></a:r>{CLICK}<a:r><a:t>") for each in paragraphs)
            relation = f'<Relationship Id="rId2" Target="{target}" TargetMode="External"/>'
            return pptx("</a:p><a:p>".join(f"<a:r><a:t>{each}</a:t></a:r>" for each in runs), relation)

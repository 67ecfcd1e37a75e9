"""How often the built-in model presents lines of real manuals as an answer, and how often rightly.

    python benchmarks/manuals.py --prepare DIR
    python benchmarks/manuals.py --texts DIR --check [--questions FILE]
    python benchmarks/manuals.py --texts DIR [--questions FILE] [--misses]

`--prepare` downloads Debian's documentation packages (apt-get, dpkg-deb) and lays their pages out in DIR: a
folder for each corpus of SOURCES. The questions lie in benchmarks/manuals/: in each corpus a third is asked
nearly in the manual's words, a third in other words, and a third has no answer there; some are in German
and French. (The fifth: 8, 3 and 4 in each.) Each set was asked once before its misses were looked at; the
first eight are development data since, and give the weights of `vera.builtin.acceptance`. The ninth, written
apart, was asked once by these weights. From the sixth on each line has a short answer and a reason.
A question is QUOTED when the model presents lines as an answer, and right when the lines it cites hold the
expected words; "closest matches" are not an answer. Intervals are Wilson's at 95 %.
`--check` asks nothing: it looks whether each question's page holds the expected words.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from extractive import Played, opened, plain, play, share

from vera.extraction.extractor import Extractor

ROOT = Path(__file__).resolve().parent
QUESTIONS = ROOT / "manuals" / "questions.jsonl"
CLASSES = ("near", "paraphrased", "unanswerable")
LABEL_OF_NEAREST = "Nearest lines found"

LILYPOND = "usr/share/doc/lilypond/html/Documentation"
ESSAYS = ("automated*", "building*", "engraving*", "*literature*", "music*", "putting*", "the-*")
WEB_PAGES = (
    *("bug-reports", "community", "easier-editing", "faq", "features", "freedom", "help-us", "internals"),
    *("introduction", "productions", "reviews", "text-input"),
)

SOURCES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "debian": (
        ("developers-reference", "usr/share/developers-reference/*.html", ""),
        ("debian-faq", "usr/share/doc/debian/FAQ/*.en.html", "faq-"),
    ),
    "servers": (
        ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/runtime-config*.html", ""),
        ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/app-*.html", ""),
        ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/auth-*.html", ""),
        ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/backup*.html", ""),
        ("git-doc", "usr/share/doc/git-doc/git-[bcfgmprsw]*.html", ""),
    ),
    "german-french": (
        ("developers-reference-de", "usr/share/developers-reference/de/*.html", ""),
        ("debian-faq-fr", "usr/share/doc/debian/FAQ/fr/*.html", "faq-"),
    ),
    "held-out-english": (
        ("debian-policy", "usr/share/doc/debian-policy/policy.html/ch-*.html", ""),
        ("borgbackup-doc", "usr/share/doc/borgbackup-doc/html/**/*.html", ""),
    ),
    "held-out-servers": (("exim4-doc-html", "usr/share/doc/exim4-doc-html/**/*.html", ""),),
    "held-out-german-french": (
        ("debian-faq-de", "usr/share/doc/debian/FAQ/de/*.html", "faq-"),
        ("developers-reference-fr", "usr/share/developers-reference/fr/*.html", ""),
    ),
    "third-mail": (
        ("postfix-doc", "usr/share/doc/postfix/html/*.html", "postfix-"),
        ("mutt", "usr/share/doc/mutt/html/[a-t][!a]*.html", "mutt-"),
    ),
    "third-python": (
        ("python3.11-doc", "usr/share/doc/python3.11/html/tutorial/*.html", "tutorial-"),
        ("python3.11-doc", "usr/share/doc/python3.11/html/howto/*.html", "howto-"),
        ("python3.11-doc", "usr/share/doc/python3.11/html/faq/*.html", "faq-"),
        ("python3.11-doc", "usr/share/doc/python3.11/html/using/*.html", "using-"),
        ("python3.11-doc", "usr/share/doc/python3.11/html/library/[a-c]*.html", "library-"),
    ),
    "third-german-french": (
        ("installation-guide-amd64", "usr/share/doc/installation-guide-amd64/de/*.html", "install-"),
        ("aptitude-doc-fr", "usr/share/doc/aptitude/html/fr/[cpr]*.html", "aptitude-"),
    ),
    "fourth-names": (("bind9-doc", "usr/share/doc/bind9-doc/arm/[cdghr]*.html", "bind-"),),
    "fourth-database": (("sqlite3-doc", "usr/share/doc/sqlite3/[acdflqtw]*.html", "sqlite-"),),
    "fourth-german-french": (
        ("harden-doc", "usr/share/doc/harden-doc/html/de-DE/*.html", "harden-"),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/fr/*.html", "apache-"),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/fr/howto/*.html", "apache-howto-"),
    ),
    "fifth-proxy": (
        ("privoxy", "usr/share/doc/privoxy/user-manual/*.html", "privoxy-"),
        ("privoxy", "usr/share/doc/privoxy/faq/*.html", "privoxy-faq-"),
    ),
    "fifth-time": (("ntpsec-doc", "usr/share/doc/ntpsec-doc/html/*.html", "ntp-"),),
    "fifth-german-french": (
        ("debian-handbook", "usr/share/doc/debian-handbook/html/fr-FR/sect.[hinpqr]*.html", "cahier-"),
        ("debian-handbook", "usr/share/doc/debian-handbook/html/de-DE/sect.[dfktu]*.html", "handbuch-"),
    ),
    "sixth-history": (("debian-history", "usr/share/doc/debian-history/docs/*.en.html", ""),),
    "sixth-fetch": (("fetchmail", "usr/share/doc/fetchmail/*.html", ""),),
    "sixth-german-french": (
        ("maint-guide-de", "usr/share/doc/maint-guide-de/html/*.html", ""),
        ("maint-guide-fr", "usr/share/doc/maint-guide-fr/html/*.html", ""),
    ),
    "seventh-money": (
        ("homebank-data", "usr/share/doc/homebank-data/help/*.html", "homebank-"),
        ("eqonomize-doc", "usr/share/doc/eqonomize/html/C/*.html", "eqonomize-"),
    ),
    "seventh-maps": (("gpsbabel-doc", "usr/share/doc/gpsbabel/html/*.html", ""),),
    "seventh-german-french": (
        ("gimp-help-de", "usr/share/gimp/2.0/help/de/gimp-concepts*.html", ""),
        ("gimp-help-de", "usr/share/gimp/2.0/help/de/gimp-selection*.html", ""),
        ("gimp-help-de", "usr/share/gimp/2.0/help/de/gimp-tool*.html", ""),
        ("gm-assistant-doc", "usr/share/doc/gm-assistant/html/userguide_fr/*.html", "meneur-"),
        ("enigma-doc", "usr/share/doc/enigma-doc/manual/enigma_fr.html", ""),
    ),
    "eighth-music": (
        ("beets-doc", "usr/share/doc/beets/html/faq.html", "beets-"),
        ("beets-doc", "usr/share/doc/beets/html/guides/*.html", "beets-guide-"),
        ("beets-doc", "usr/share/doc/beets/html/reference/*.html", "beets-ref-"),
        ("beets-doc", "usr/share/doc/beets/html/plugins/[a-l]*.html", "beets-plugin-"),
    ),
    "eighth-power": (
        ("nut-doc", "usr/share/doc/nut-doc/html/FAQ.html", "nut-"),
        ("nut-doc", "usr/share/doc/nut-doc/html/user-manual/ar01s*.html", "nut-"),
        ("nut-doc", "usr/share/doc/nut-doc/html/user-manual/ap[b-h]*.html", "nut-"),
        ("apcupsd-doc", "usr/share/doc/apcupsd/manual/manual.html", "apcupsd-"),
    ),
    "eighth-german-french": (
        *(("lilypond-doc-html-de", f"{LILYPOND}/essay/{page}.de.html", "lily-essay-") for page in ESSAYS),
        *(("lilypond-doc-html-de", f"{LILYPOND}/web/{page}.de.html", "lily-web-") for page in WEB_PAGES),
        ("debian-edu-doc-de", "usr/share/doc/debian-edu-doc-de/debian-edu-bookworm-manual.html", ""),
        ("texworks-help-fr", "usr/share/texworks-help/fr/[A-Z]*.html", "texworks-"),
        ("claws-mail-doc", "usr/share/doc/claws-mail/manual/fr/claws-mail-manual.html", ""),
    ),
    "ninth-security": (
        *(
            ("putty-doc", f"usr/share/doc/putty-doc/{pages}", "putty-")
            for pages in ("Chapter*.html", "Appendix*.html")
        ),
        *(
            ("keepass2-doc", f"usr/share/doc/keepass2/Chm/help/base/{pages}", "keepass-")
            for pages in ("[!is]*.html", "sec*.html", "im*.html", "int*.html")
        ),
        *(
            ("keepass2-doc", f"usr/share/doc/keepass2/Chm/help/v2/{pages}", "keepass-v2-")
            for pages in ("[!i]*.html", "io*.html")
        ),
    ),
    "ninth-video": (
        *(
            ("openshot-qt-doc", f"usr/share/doc/openshot-qt/html/{pages}", "openshot-")
            for pages in ("[!gis]*.html", "im*.html", "ins*.html", "int*.html")
        ),
        ("zoneminder-doc", "usr/share/doc/zoneminder-doc/html/[acf]*.html", "zoneminder-"),
        *(
            ("zoneminder-doc", f"usr/share/doc/zoneminder-doc/html/userguide/{pages}", "zoneminder-guide-")
            for pages in ("[!i]*.html", "intro*.html")
        ),
        (
            "zoneminder-doc",
            "usr/share/doc/zoneminder-doc/html/userguide/options/*.html",
            "zoneminder-options-",
        ),
    ),
    "ninth-german-french": (
        *(
            ("udo-doc-de", f"usr/share/doc/udo-doc-de/html/{pages}", "udo-")
            for pages in ("[!i]*.html", "ins*.html", "int*.html")
        ),
        *(
            ("weechat-doc", f"usr/share/doc/weechat-doc/html/{pages}", "weechat-")
            for pages in ("weechat_faq.de.html", "weechat_quickstart.de.html")
        ),
        *(
            ("live-manual-html", f"usr/share/doc/live-manual/html/live-manual/{pages}", "live-")
            for pages in ("[a-g]*.fr.html", "ins*.fr.html", "[m-s]*.fr.html", "the*.fr.html")
        ),
        *(
            (
                "auto-multiple-choice-doc",
                f"usr/share/doc/auto-multiple-choice/html/auto-multiple-choice.fr/{pages}",
                "amc-",
            )
            for pages in ("[!i]*.html", "int*.html")
        ),
    ),
}
"""Corpus: Debian package, its pages, and what is put before a page's name."""
NO_PAGES = frozenset(("search.html", "genindex.html", "index.html"))


class Question(msgspec.Struct, frozen=True):
    """A question; the cited lines have to hold one of `answer`, which is empty where no text answers."""

    corpus: str
    language: str
    kind: str = msgspec.field(name="class")
    question: str
    file: str | None
    answer: tuple[str, ...]

    def is_right(self, played: Played) -> bool:
        wanted = [plain(words) for words in self.answer]
        return any(words in plain(cited.text) for cited in played.cited for words in wanted)


def is_quoted(played: Played) -> bool:
    """Whether lines are presented as an answer, not as closest matches."""
    return bool(played.cited) and LABEL_OF_NEAREST not in played.answer


def prepare(folder: Path) -> None:
    """Download the packages of SOURCES and copy their pages into `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        packages = sorted({package for rows in SOURCES.values() for package, _, _ in rows})
        subprocess.run(["apt-get", "-qq", "download", *packages], cwd=scratch, check=True)
        for package in packages:
            archive = next(Path(scratch).glob(f"{package}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", archive, Path(scratch, package)], check=True)
        for corpus, rows in SOURCES.items():
            (folder / corpus).mkdir(parents=True, exist_ok=True)
            for package, pages, prefix in rows:
                for page in sorted(Path(scratch, package).glob(pages)):
                    if page.name not in NO_PAGES and page.is_file():
                        shutil.copyfile(page, folder / corpus / f"{prefix}{page.name}")


def unfounded(texts: Path, questions: Sequence[Question]) -> Iterator[Question]:
    """The questions whose page (any of the corpus where none is named) holds none of the expected words."""
    with Extractor() as extractor:
        for question in questions:
            wanted = [plain(words) for words in question.answer]
            pages = (texts / question.corpus).glob(question.file or "*.html")
            read = (plain(extractor.extract(page.read_bytes(), page.name).text.decode()) for page in pages)
            if wanted and not any(words in text for text in read for words in wanted):
                yield question


def ask(texts: Path, questions: Sequence[Question]) -> Iterator[tuple[Question, Played]]:
    """Each question with what the model did, one corpus after another."""
    for corpus in dict.fromkeys(question.corpus for question in questions):
        with opened(texts / corpus) as index:
            for question in questions:
                if question.corpus == corpus:
                    yield question, play(index, question.question)


def rows(played: Sequence[tuple[Question, Played]]) -> Iterator[str]:
    """The table, a line for each class and language and one for all."""
    yield f"{'questions':34} {'n':>3}  {'QUOTED':>18}  {'right of QUOTED':>18}  {'right lines shown':>18}"
    groups = [
        *((kind, lambda q, kind=kind: q.kind == kind) for kind in CLASSES),
        *(
            (f"{kind}, German and French", lambda q, kind=kind: q.kind == kind and q.language != "en")
            for kind in CLASSES
        ),
        ("all", lambda q: True),
    ]
    for name, belongs in groups:
        mine = [(question, run) for question, run in played if belongs(question)]
        quoted = [question.is_right(run) for question, run in mine if is_quoted(run)]
        shown = sum(question.is_right(run) for question, run in mine)
        shares = (share(len(quoted), len(mine)), share(sum(quoted), len(quoted)), share(shown, len(mine)))
        yield f"{name:34} {len(mine):3}  " + "  ".join(f"{each:>18}" for each in shares)


def main() -> None:
    """Prepare the texts, or ask the questions and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prepare", type=Path, metavar="DIR", help="download the manuals into DIR")
    parser.add_argument("--texts", type=Path, metavar="DIR", help="the folder that --prepare has made")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--check", action="store_true", help="only look whether the pages hold the answers")
    parser.add_argument("--misses", action="store_true", help="show what is wrong or was missed")
    options = parser.parse_args()
    if options.prepare:
        prepare(options.prepare)
        return
    if options.texts is None or not options.texts.is_dir():
        parser.error("give the manuals with --texts DIR (made by --prepare DIR)")
    lines = options.questions.read_text().splitlines()
    questions = [msgspec.json.decode(line, type=Question) for line in lines]
    if options.check:
        missing = [
            f"{each.corpus}/{each.file}: {each.question}" for each in unfounded(options.texts, questions)
        ]
        print("\n".join([*missing, f"{len(questions)} questions, {len(missing)} without their words"]))
        raise SystemExit(1 if missing else 0)
    played = []
    for question, run in ask(options.texts, questions):
        played.append((question, run))
        wrong = is_quoted(run) and not question.is_right(run)
        if options.misses and (wrong or (question.kind == "near" and not is_quoted(run))):
            places = (f"{cited.path}:{cited.first} {plain(cited.text)[:200]}" for cited in run.cited)
            print("WRONG " if wrong else "MISSED", question.kind, question.question, *places, sep="\n    ")
    print("\n".join(rows(played)))


if __name__ == "__main__":
    main()

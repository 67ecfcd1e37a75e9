"""An entry of a bibliography names a file of the person as its attachment."""

from redteam.gathered import gather, text_of
from redteam.place import Place

CLAIM = "A file of the person is a document."
TRICK = "The field file of a .bib entry leads out of the folder, up and by an absolute path."
MUST_NOT_BE = ("LEAKED",)
TWIN = "The file lies beside the bibliography."
MUST_BE = "GATHERED"

SECRET = "what is private"
ENTRY = "@article{{k{number}, title={{A title}}, file={{{path}}}}}\n"


def attack(place: Place) -> str:
    secret = place.folder / "secret.txt"
    secret.write_text(SECRET)
    return _gathered(place, "../secret.txt", str(secret), f":{secret}:text/plain", "a/../../secret.txt")


def twin(place: Place) -> str:
    return _gathered(place, "a.txt")


def _gathered(place: Place, *paths: str) -> str:
    library = place.folder / "library"
    library.mkdir()
    (library / "a.txt").write_text("Members may vote by hand.\n")
    entries = "".join(ENTRY.format(number=n, path=path) for n, path in enumerate(paths))
    (library / "books.bib").write_text(entries)
    gather(place, f"x=bibtex:{library / 'books.bib'}")
    text = text_of(place)
    return "LEAKED" if SECRET in text else "GATHERED" if "by hand" in text else "REFUSED"

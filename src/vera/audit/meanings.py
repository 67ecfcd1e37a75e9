"""What each finding of a document means, and what to do about it: the rules of a SARIF log."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A finding in a sentence, and what its reader can do."""

    says: str
    help: str


_GIVE = "Give the value that is in the source, cite a source that has this one, or drop it."
_QUOTE = "Quote the source exactly, or drop the quotation marks."
_READ = "Read the source again and say what it says."
_CITE = "Cite a source that says it, or drop the statement."
_OTHER = "Use a source that can carry the statement."

MEANINGS: dict[str, Meaning] = {
    "amount_absent": Meaning("A percentage, price or measure is nowhere in the cited sources.", _GIVE),
    "asked_source_uncited": Meaning("The source that was asked for is not cited.", _CITE),
    "bad_window": Meaning("A bound of the time that was asked for is no date.", "Write it like 2021-05-03."),
    "bytes_altered": Meaning("The text of a source is not what its hash says.", "Read the source again."),
    "bytes_missing": Meaning("The text of a source cannot be read.", "Read the source again."),
    "count_differs": Meaning("The source counts the same thing and comes to another number.", _GIVE),
    "coverage_missing": Meaning("A statement denies something, and no cited source says so.", _CITE),
    "date_absent": Meaning("A date, year or time is nowhere in the cited sources.", _GIVE),
    "lead_cited": Meaning("A search result is cited.", "Cite the page itself."),
    "lines_blank": Meaning("The cited lines hold no letter and no digit.", _CITE),
    "lines_unread": Meaning("The cited lines were not read.", _CITE),
    "maybe_superseded": Meaning(
        "Another file may replace the cited source.", "Read it, and cite what holds now."
    ),
    "modality": Meaning("The source says may, about or some; the statement says it plainly.", _READ),
    "name_absent": Meaning("A name is nowhere in the cited sources.", _GIVE),
    "name_unclear": Meaning("A name is not in the cited sources in any form that is known.", _READ),
    "negation": Meaning("Either the statement or its source denies, the other does not.", _READ),
    "no_date": Meaning("A time is asked for, and the page shows no date of publication.", _OTHER),
    "no_such_lines": Meaning("The source has no such lines.", _CITE),
    "not_independent": Meaning("A statement rests on too few independent sources.", _OTHER),
    "number_absent": Meaning("A number is nowhere in the cited sources.", _GIVE),
    "number_not_in_span": Meaning("A number is in the source, but not in the cited lines.", _CITE),
    "number_unclear": Meaning("A value that may be counted or worked out is not in the source.", _GIVE),
    "opposed": Meaning("A sentence of the source says the opposite.", _READ),
    "outside_window": Meaning("A page was published outside the time that was asked for.", _OTHER),
    "quotation_false": Meaning("Words between quotation marks are in no cited source.", _QUOTE),
    "quotation_frame": Meaning("Its source gives the quotation to somebody else, or denies it.", _QUOTE),
    "quotation_gap": Meaning("What an ellipsis leaves out denies or limits the quotation.", _QUOTE),
    "quotation_not_in_span": Meaning("A quotation is in the source, but not in the cited lines.", _CITE),
    "quotation_term": Meaning("One or two words between quotation marks are in no cited source.", _QUOTE),
    "quotation_uncited": Meaning("A quotation has no citation.", _CITE),
    "quotation_unsourced": Meaning("The sentence of a quotation names no source.", "Name its source."),
    "read_by_ocr": Meaning(
        "The numbers of a statement rest on a source that OCR read from a picture.",
        "Compare them with the page, or cite a source that holds text.",
    ),
    "reference_not_found": Meaning(
        "Crossref and OpenAlex know no such work.",
        "They are not complete: check that the work exists and that its title is right.",
    ),
    "reference_retracted": Meaning("A cited work was retracted.", "Say so, or cite another work."),
    "reference_title": Meaning("The DOI of a reference is that of another title.", "Correct the reference."),
    "reference_unchecked": Meaning("A reference could not be looked up.", "Try again, or check it by hand."),
    "reference_unregistered": Meaning("The DOI of a reference is not registered.", "Correct the reference."),
    "reference_year": Meaning("A cited work was published in another year.", "Correct the reference."),
    "set_unproven": Meaning("A statement says that these are all, and no source lists them.", _CITE),
    "source_unchecked": Meaning(
        "A source could not be read, so what is said of it was not checked.",
        "Give the source with --sources or --fetch, or check the statement by hand.",
    ),
    "superlative": Meaning("A statement says only, first, all or largest; its source does not.", _READ),
    "superseded": Meaning(
        "Another file, or another place of the source, ends or replaces what is cited.",
        "Cite what holds now.",
    ),
    "too_many_citations": Meaning("More is cited than is read.", "Check the document in parts."),
    "too_many_lines": Meaning("More lines are cited than are read for one statement.", _CITE),
    "unknown_evidence": Meaning("A citation names evidence that does not exist.", _CITE),
    "value_altered": Meaning("The source gives this value with another bound, sign, era or order.", _GIVE),
    "weekday_differs": Meaning("The source names another weekday.", _GIVE),
    "words_absent": Meaning("The source holds few of the words of the statement.", _CITE),
}
"""By the code of the finding. `docs/reference/findings.md` says more of each."""

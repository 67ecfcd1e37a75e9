"""A set of documents with planted facts and of questions with known answers: `vera eval --generate`.

Documents, facts and questions are made up and follow from the seed alone. A third of the questions has no
answer in the documents; a third of all is asked in other words than those of the documents.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vera.bench.eval_data import DataError, ExpectedPlace, Question
from vera.bench.eval_documents import Fact, Missing, write_documents
from vera.bench.eval_world import Attribute, World

DOCUMENTS = "documents"
QUESTIONS = "questions.jsonl"
_REWORDED = 1 / 3


def generate(folder: Path, count: int, seed: int, world: World) -> int:
    """Write documents, and `questions.jsonl` with `count` questions, into `folder`; gives the number of
    documents. The same seed, count and world give the same bytes.

    Raises OSError when something cannot be written, FileExistsError when the folder is not empty, DataError
    when the world has too little to ask about.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty. Name a new folder.")
    dice = random.Random(f"vera eval {seed}")
    written = write_documents(dice, count, world)
    without = count // 3
    if len(written.facts) < count - without or len(written.missing) < without:
        raise DataError(
            f"the documents that were drawn hold {len(written.facts)} facts, too few for {count} questions. "
            "Take another --seed, or give the --world more attributes."
        )
    asked = [_answerable(dice, fact) for fact in dice.sample(written.facts, count - without)]
    asked += [_unanswerable(dice, each) for each in _of_every_group(dice, written.missing, without)]
    dice.shuffle(asked)
    documents = folder / DOCUMENTS
    documents.mkdir(parents=True)
    for document in written.documents:
        (documents / document.name).write_bytes(document.text.encode())
    lines = (
        msgspec.json.encode(msgspec.structs.replace(question, id=f"q{number:04}")) + b"\n"
        for number, question in enumerate(asked, 1)
    )
    (folder / QUESTIONS).write_bytes(b"".join(lines))
    return len(written.documents)


def _of_every_group(dice: random.Random, missing: Sequence[Missing], count: int) -> list[Missing]:
    """So many missing things, of each group alike as far as it has them."""
    groups: dict[str, list[Missing]] = {}
    for each in dice.sample(missing, len(missing)):
        groups.setdefault(each.group, []).append(each)
    chosen: list[Missing] = []
    while len(chosen) < count and any(groups.values()):
        chosen += [group.pop() for group in groups.values() if group]
    return chosen[:count]


def _answerable(dice: random.Random, fact: Fact) -> Question:
    question, group = _asked(dice, fact.attribute, fact.entity, fact.year)
    return Question(
        question=question,
        answer=tuple(dict.fromkeys((fact.value.text, *fact.value.accepted))),
        input_dir=DOCUMENTS,
        evidence=(ExpectedPlace(file=fact.file, quotation=fact.said),),
        group=f"answerable, {group}",
    )


def _unanswerable(dice: random.Random, missing: Missing) -> Question:
    question, _ = _asked(dice, missing.attribute, missing.entity, missing.year)
    return Question(
        question=question, answer=None, input_dir=DOCUMENTS, group=f"unanswerable, {missing.group}"
    )


def _asked(dice: random.Random, attribute: Attribute, entity: str, year: int) -> tuple[str, str]:
    """A question, and whether it is put in the documents' words."""
    reworded = dice.random() < _REWORDED
    template = dice.choice(attribute.reworded if reworded else attribute.ask)
    words = "other words" if reworded else "near words"
    return template.format(e=entity, y=year), words

"""What the built-in model says of itself in its answers, on its own or in place of another model.

These sentences state nothing of the world, so they are not audited. They are written here once, for the model
that says them and for the reader of claims. Answers are hashed, so a sentence that is changed stays in
EARLIER: sessions that hold it replay as they did. A change raises the version of `vera.audit.claims`.
"""

EXTRACTS = (
    "These are extracts chosen by word match, not a synthesis: no language model was configured or found."
)
NO_SYNTHESIS = (
    "Extracts are chosen by word match, without a synthesis: no language model was configured or found."
)
CLOSEST = (
    "These are extracts chosen by word match, not a synthesis: the model gave no usable answer, and these are"
    " the closest lines."
)
NO_MODEL_ANSWER = "Extracts are chosen by word match, without a synthesis: the model gave no usable answer."
NOTHING = "No lines were found that answer this question."
UNSURE = "No lines were found that surely answer this question; those below are the nearest."
NEAREST = "Nearest lines found"
NO_DOCUMENTS = (
    "No documents were given to look in: name a folder with --input, or start a model server "
    "(vera doctor says what this machine has)."
)
NO_SEARCH = "No search could be made: the question holds no word to search for, or every search failed."

EARLIER = (
    "No lines were found that answer this question for sure: something of it is missing in those below, the "
    "nearest.",
    "No documents were given to look in: name a folder with --input-dir, or start a model server "
    "(vera doctor says what this machine has).",
)

DISCLOSURES = (
    EXTRACTS,
    NO_SYNTHESIS,
    CLOSEST,
    NO_MODEL_ANSWER,
    NOTHING,
    UNSURE,
    NEAREST,
    NO_DOCUMENTS,
    NO_SEARCH,
    *EARLIER,
)

"""Which questions may be answered by "none": told from their form, and left to a reader where that does not
tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.question import negative_question

NEGATIVE = [
    ("Has Apple released a car yet?", "so_far"),
    ("has windows 12 launched yet", "so_far"),
    ("Is Windows 12 out yet?", "so_far"),
    ("Hasn't the treaty entered into force yet?", "so_far"),
    ("Has the EU already adopted the directive?", "so_far"),
    ("Have the results been published so far?", "so_far"),
    ("As of 2024, has any state ratified the protocol to date?", "so_far"),
    ("Is there any drug approved for celiac disease?", "existence"),
    ("Is there a cure for rabies?", "existence"),
    ("Are there still wild Przewalski horses?", "existence"),
    ("Were there survivors of the wreck?", "existence"),
    ("In Germany, is there a law on deepfakes?", "existence"),
    ("Does a proof of the Goldbach conjecture exist?", "existence"),
    ("Find out whether there is a museum of dentistry in Vienna.", "existence"),
    ("Was the Concorde ever certified in Brazil?", "ever"),
    ("Did Einstein ever visit Australia?", "ever"),
    ("Has the U.S. government ever defaulted on its debt?", "ever"),
    ("Has Dr. Smith ever been convicted?", "ever"),
    ("I need to know whether Tesla has ever built a motorcycle.", "ever"),
    ("Did anyone ever swim across the Atlantic?", "ever"),
    ("Did anybody survive?", "any"),
    ("Has anyone climbed the mountain in winter?", "any"),
    ("Do any EU states allow it?", "any"),
    ("Does the licence grant any patent rights?", "any"),
    ("Does the form of the contract matter at all?", "any"),
    ("Which drugs, if any, are approved for it?", "any"),
    ("Who, if anyone, was convicted?", "any"),
    ("Can you tell me whether any drug is approved for it?", "any"),
    ("Who is the only person to have won both prizes?", "only"),
    ("Who's the only woman on the board?", "only"),
    ("What is the sole source of the element?", "only"),
    ("Which mammal is the only one that lays eggs?", "only"),
    ("Is Saturn the only planet with rings?", "only"),
    ("Does no EU state tax it?", "denial"),
    ("Is it true that no state has ratified the treaty?", "denial"),
    ("Is nobody responsible for it?", "denial"),
    ("Which EU states have not ratified the convention?", "denial"),
    ("Who never signed the treaty?", "denial"),
    ("What is not covered by the warranty?", "denial"),
    ("Verify that Apple has never sold a television set.", "denial"),
    ("True or false: no drug is approved for celiac disease.", "denial"),
    ("Apple has never sold a car. Is that true?", "denial"),
    ("Summarise the case. Was the verdict ever overturned? Use the court's own site.", "ever"),
    (
        "The firm was founded in 1990 in Ulm.\n\nQuestions:\n1. Who owns it?\n2. Has it been sold yet?",
        "so_far",
    ),
    ("What is the Concorde, and was it ever certified in Brazil?", "ever"),
    ("Gibt es ein zugelassenes Medikament gegen Zöliakie?", "existence"),
    ("Hat Apple schon ein Auto vorgestellt?", "so_far"),
    ("Wurde die Concorde jemals in Brasilien zugelassen?", "ever"),
    ("Wer ist der einzige Überlebende?", "only"),
    ("Welche Staaten haben das Abkommen nicht ratifiziert?", "denial"),
    ("Y a-t-il un médicament autorisé ?", "existence"),
    ("Est-ce qu'Apple a déjà lancé une voiture ?", "so_far"),
    ("Qui est le seul survivant ?", "only"),
    ("¿Hay algún medicamento aprobado?", "existence"),
    ("¿Ha lanzado Apple ya un coche?", "so_far"),
    ("¿Quién es el único superviviente?", "only"),
    ("有没有批准的药物？", "existence"),
    ("苹果已经发布汽车了吗？", "so_far"),
    ("Существует ли одобренное лекарство?", "existence"),
    ("Has SpaceX landed humans on Mars yet?", "so_far"),
    ("Has Half-Life 3 been released already?", "so_far"),
    ("Did the FDA ever approve thalidomide?", "ever"),
    ("Are there any countries without an army?", "existence"),
    ("Is there a vaccine against HIV?", "existence"),
    ("Was anyone killed in the collapse?", "any"),
    ("Has nobody noticed the error in the proof?", "denial"),
    ("Have any of the authors retracted the paper?", "any"),
    ("Who was the only US president to resign?", "only"),
    ("What is the only even prime?", "only"),
    ("Which planets have never been visited by a probe?", "denial"),
    ("Does any living person hold the title?", "any"),
    ("Is the Riemann hypothesis proven yet?", "so_far"),
    ("Are there female emperor penguins that incubate eggs?", "existence"),
    ("Please find out if the company has ever paid a dividend.", "ever"),
    ("Determine whether any court has ruled on the clause.", "any"),
    ("Was there ever a woman pope?", "existence"),
    ("Did no one object to the merger?", "denial"),
    ("Which members did not vote?", "denial"),
    ("Is there evidence that the drug works?", "existence"),
    ("Has there been a recall of the device?", "existence"),
    ("Is it the case that no state has signed?", "denial"),
    ("Do we know whether anyone survived?", "any"),
    ("I would like to know if there is a German translation of the book.", "existence"),
    ("Are there no exceptions to the rule?", "existence"),
    ("Hasn't anyone replicated the experiment?", "any"),
    ("Which of these firms has never paid tax in Ireland?", "denial"),
    ("Has the bridge ever been closed to traffic since 1937?", "ever"),
    ("Is Hubert still alive, and has he ever published a novel?", "any"),
    (
        "The firm makes pumps. Our client says it holds patents. Does it hold any patents in Japan?",
        "any",
    ),
    ("Confirm that the author never visited Tibet.", "denial"),
    ("Fact-check: No woman has ever won the prize twice.", "denial"),
    ("Gab es jemals eine Königin von Preußen als Regentin?", "existence"),
    ("Ist Windows 12 bereits erschienen?", "so_far"),
    ("Gibt es noch lebende Zeugen?", "existence"),
    ("Hat irgendjemand den Vertrag unterschrieben?", "any"),
    ("Existe-t-il une preuve ?", "existence"),
    ("A-t-il jamais été condamné ?", "denial"),
    ("¿Existe una vacuna contra el VIH?", "existence"),
    ("¿Alguna vez ganó el premio?", "ever"),
    ("Where, if anywhere, is the species still found?", "any"),
    ("Did the ship carry any passengers?", "any"),
    ("was beethoven ever married", "ever"),
    ("Look into whether the vendor has published a fix so far.", "so_far"),
    ("Which country is the sole producer?", "only"),
    ("Who among the founders never returned?", "denial"),
]

NOT_NEGATIVE = [
    "What color is the only car in the photo?",
    "What percentage of voters did not vote in 2020?",
    "Rewrite this paragraph so that no sentence is longer than ten words.",
    "Pick a bus, regardless of whether there are any seats.",
    "Please summarise what is known so far about the outage.",
    "Write a summary of the Python docs; do not use Wikipedia.",
    "Write a summary; do not use Wikipedia",
    "Summarise the report in five sentences.",
    "Please do not guess. What is the height of K2?",
    "What is the height of K2?",
    "When did the Berlin Wall fall?",
    "How much does the licence cost?",
    "How many moons does Mars have?",
    "How do I sort a list in Python?",
    "Why is the sky blue?",
    "Why does glass not conduct electricity?",
    "Where was Ada Lovelace born?",
    "Who discovered penicillin?",
    "Who was the first person ever to reach the South Pole?",
    "What was the tallest building ever built?",
    "When did the only survivor die?",
    "What is a no-fly zone?",
    "What should I do if the car does not start?",
    "List all members of the EU.",
    "Compare the two licences, and use only official sources.",
    "Find any information you can about the treaty and never cite blogs.",
    "Can you list the members of the EU?",
    "Could you please explain how vaccines work?",
    "Can anyone tell me the height of K2?",
    "Do you know how tall K2 is?",
    "Do not use Wikipedia.",
    "Do any necessary calculations and report the sum.",
    "Have a look at the data and describe it.",
    "Let me know if there are any questions.",
    "Translate “Has Apple released a car yet?” into German.",
    "Explain what this prints:\n```\nif not any(x): print('is there any?')\n```",
    "Apple car release date",
    "The height of K2 is what?",
    "Still no answer from them, so write a reminder that is actually polite.",
    "",
    "   \n\n ",
    "Was ist die Hauptstadt von Australien?",
    "Wie hoch ist der K2?",
    "Fasse den Bericht zusammen und benutze kein Wikipedia.",
    "Quelle est la hauteur du K2 ?",
    "¿Cuál es la altura del K2?",
    "珠穆朗玛峰有多高？它的高度是多少？",
    "Какая высота К2?",
    "What year did the war end?",
    "How many people live in Ulm?",
    "Summarize the attached PDF.",
    "Which river flows through Vienna?",
    "Write a poem about the only tree in the yard.",
    "Explain why there is no highest prime.",
    "What is the difference between TCP and UDP?",
    "Calculate the mean of the column and report any outliers.",
    "When was the last time it was ever seen?",
    "Who wrote Faust?",
    "What are the side effects of ibuprofen?",
    "Give me a list of all presidents. Do not include vice presidents.",
    "Create a table of any missing values in the file.",
    "Could you summarise the paper for me?",
    "How can I tell if there are bugs in my code?",
    "What does the law say about dogs not on a leash?",
    "How long did the Roman republic last?",
    "In which year was the treaty signed?",
    "Use the files in /input. Never invent numbers. What was the revenue in 2021?",
    "Draft a letter to the tenant; if no answer has come yet, mention the deadline.",
    "Name the chemical formula of water.",
    "Why has nobody been back to the Moon?",
    "What happens at the end of the film?",
    "If there is no data, say so. What is the GDP of Chad?",
    "Was kostet die Fahrkarte?",
    "Wann wurde die Brücke gebaut?",
    "Combien d'habitants compte Lyon ?",
    "Quand le mur est-il tombé ?",
    "¿Cuándo se fundó la ciudad?",
    "How do I check if there is any free memory?",
    "Find the email address of the dean and quote the page.",
    "Tell me about the history of Ulm.",
    "Which is larger, Mars or Venus?",
    "To whom did the king not bow?",
]

FOR_A_READER = [
    "Did Apple release a car?",
    "Has Apple released a car?",
    "Is Berlin the capital of Germany?",
    "Was Ada Lovelace born in London?",
    "Is the capital Sydney or Canberra?",
    "Does Python have a garbage collector?",
    "Can any even number be written as a sum of two primes?",
    "Will Apple ever build a car?",
    "Is there a way to sort a list in place?",
    "Is this the tallest building ever built?",
    "Check whether the bridge was built in 1937.",
    "Verify that the bridge was built in 1937.",
    "Apple sold its first car in 2020. Is that true?",
    "Isn't Paris in France?",
    "Hat Apple ein Auto vorgestellt?",
    "苹果发布汽车了吗？",
    "Did Napoleon win at Waterloo?",
    "Is water wet?",
    "Is Paris bigger than London?",
    "Does the contract allow subletting?",
    "Was the bridge built by Roebling?",
    "Can penguins fly?",
    "Should I use UDP for video?",
    "Has Germany won the world cup?",
    "Check if the sum is right.",
    "Is the earth flat?",
    "Are whales mammals?",
    "Did the court rule for the plaintiff?",
    "Est-ce que Paris est la capitale ?",
    "Ist Berlin die Hauptstadt?",
]


@pytest.mark.parametrize(("question", "form"), NEGATIVE)
def test_the_form_shows_that_none_may_be_the_answer(question: str, form: str) -> None:
    found = negative_question(question)
    assert (found.negative, found.form) == (True, form)
    assert found.reason.endswith(".") and len(found.reason) < 250


@pytest.mark.parametrize("question", NOT_NEGATIVE)
def test_a_question_for_a_value_and_an_order_are_no_negative_question(question: str) -> None:
    assert negative_question(question).negative is False


@pytest.mark.parametrize("question", FOR_A_READER)
def test_a_plain_question_for_yes_or_no_is_left_to_a_reader(question: str) -> None:
    found = negative_question(question)
    assert (found.negative, found.form) == (None, "yes_no")


def test_the_reason_quotes_the_clause_that_showed_it() -> None:
    found = negative_question("Tell me of the car. Has Apple released one yet?")
    assert found.reason == "“has apple released one yet?” asks whether something has happened until now."


@given(st.text(max_size=2000) | st.text(alphabet="is there any not yet ever?.,\n whoif¿'", max_size=2000))
def test_any_text_has_a_form(text: str) -> None:
    found = negative_question(text)
    assert found.negative in (True, False, None)
    assert len(found.reason) < 250


@pytest.mark.parametrize(
    "part", ["is there ", "whether ", "which a ", "?", "any ever ", "¿ha ", "```", "(“", "- "]
)
def test_a_long_hostile_text_is_read_in_part(part: str) -> None:
    assert negative_question(part * (1_000_000 // len(part))).reason

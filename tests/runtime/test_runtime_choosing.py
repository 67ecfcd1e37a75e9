"""Best of N from the settings of a run: what is sampled, who chooses, whom it asks, and with which key."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from support.lanes import INFO, FunctionModel
from support.scripted_server import ScriptedServer
from vera.agent.errors import SetupError
from vera.config.loading import defaults
from vera.config.selection import ActionVerifierSettings
from vera.model.connect import connect
from vera.model.types import Message, Model, ModelInfo, Request
from vera.runtime.choosing import NAMED_ALIKE, Choosing, open_choosing, options_of, sampling_of, templates_of
from vera.selection.options import Sampling, SelectionOptions


class Quiet:
    """Progress that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def now(self, text: str) -> None:
        """What is only shown while it happens."""


def chosen(model: Model | None = None, **changes: object) -> tuple[Choosing | None, Quiet]:
    """What `open_choosing` makes of settings with `__` for the dot."""

    async def opened() -> tuple[Choosing | None, Quiet]:
        progress = Quiet()
        settings = defaults({key.replace("__", "."): value for key, value in changes.items()})
        async with AsyncExitStack() as stack:
            made = await open_choosing(settings, model or answering(), stack, progress)
            return made, progress

    return asyncio.run(opened())


def answering(kind: str = "openai") -> Model:
    model = FunctionModel(lambda messages: "")
    model.info = ModelInfo(kind=kind, name=INFO.name, protocol="text")
    return model


def test_one_candidate_is_no_choosing_whatever_the_verifier_is() -> None:
    assert chosen()[0] is None
    nowhere = "http://127.0.0.1:9/v1"
    assert chosen(action_verifier__enabled=True, action_verifier__model__base_url=nowhere)[0] is None


def test_the_built_in_model_is_not_sampled_and_that_is_said() -> None:
    made, progress = chosen(answering("builtin"), candidate_sampling__num_candidates=4)
    assert made is None
    assert progress.said == ["one candidate a step: the built-in model always gives the same turn"]


def test_without_a_verifier_there_is_no_selector_and_nobody_to_ask() -> None:
    made, _ = chosen(candidate_sampling__num_candidates=4)
    assert made is not None and made.judge is None and made.options.selector == ""


@pytest.mark.parametrize("kind", ["majority", "first_valid", "shortest", "random"])
def test_a_selector_that_asks_nobody_opens_no_model(kind: str) -> None:
    made, progress = chosen(
        candidate_sampling__num_candidates=4,
        action_verifier__enabled=True,
        action_verifier__verifier_type=kind,
        action_verifier__model__base_url="http://127.0.0.1:9/v1",
    )
    assert made is not None and made.judge is None and made.options.selector == kind
    assert progress.said == []


@pytest.mark.parametrize("kind", ["llm", "pairwise"])
def test_the_model_that_answers_judges_where_no_other_is_named(kind: str) -> None:
    model = answering()
    for name in ("", INFO.name):
        made, progress = chosen(
            model,
            candidate_sampling__num_candidates=2,
            action_verifier__enabled=True,
            action_verifier__verifier_type=kind,
            action_verifier__model__name=name,
        )
        assert made is not None and made.judge is model
        assert progress.said == []


@pytest.mark.parametrize("candidates", [1, 2])
def test_a_type_that_nobody_brings_starts_no_run(candidates: int) -> None:
    with pytest.raises(SetupError, match=r"must be one of first_valid, .* not reward_model") as refused:
        chosen(
            candidate_sampling__num_candidates=candidates,
            action_verifier__verifier_type="reward_model",
        )
    assert refused.value.exit_code == 2
    assert "--plugin reward_model" in str(refused.value)


def test_another_model_is_said_with_its_address() -> None:
    with ScriptedServer([], model="judge-70b") as server:
        made, progress = chosen(
            candidate_sampling__num_candidates=2,
            action_verifier__enabled=True,
            action_verifier__verifier_type="llm",
            action_verifier__model__base_url=server.root,
        )
    assert made is not None and made.judge is not None
    assert made.judge.info.name == "judge-70b"
    assert progress.said == [f"selector: judge-70b (openai at {server.base_url})"]


@pytest.mark.parametrize(
    ("named", "elsewhere", "sent"),
    [(True, False, "Bearer worker-key"), (False, False, ""), (True, True, "")],
    ids=["another model there", "a server that was found", "another server"],
)
def test_the_key_of_the_model_that_answers_goes_only_to_the_address_that_a_person_named(
    named: bool, elsewhere: bool, sent: str
) -> None:
    async def ask(server: ScriptedServer, other: ScriptedServer) -> None:
        changes: dict[str, object] = {
            "candidate_sampling.num_candidates": 2,
            "action_verifier.enabled": True,
            "model.key": "worker-key",
            "model.base_url": server.root if named else "",
            "action_verifier.model.name": "" if elsewhere else "judge-70b",
            "action_verifier.model.base_url": other.root if elsewhere else "",
        }
        async with AsyncExitStack() as stack:
            model = await connect(server.base_url, protocol="text")
            stack.push_async_callback(model.close)
            made = await open_choosing(defaults(changes), model, stack, Quiet())
            assert made is not None and made.judge is not None
            await made.judge.complete(Request(messages=(Message(role="user", content="Which?"),)))

    with ScriptedServer(["1"], other_models=["judge-70b"]) as server, ScriptedServer(["1"]) as other:
        asyncio.run(ask(server, other))
    (asked,) = (other if elsewhere else server).requests
    assert asked.headers.get("authorization", "") == sent


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"action_verifier__verifier_class": "no_such.Thing"}, 2, "cannot be loaded"),
        ({"action_verifier__system_template": "{{ nothing }}"}, 2, "cannot be filled in"),
        ({"action_verifier__model__base_url": "http://127.0.0.1:9/v1"}, 5, "The selector's model: "),
    ],
)
def test_what_cannot_be_used_is_a_sentence_and_an_exit_code(
    changes: dict[str, object], code: int, said: str
) -> None:
    with pytest.raises(SetupError) as caught:
        chosen(candidate_sampling__num_candidates=2, action_verifier__enabled=True, **changes)
    assert said in str(caught.value) and caught.value.exit_code == code


def test_null_is_not_sent_and_the_rest_of_the_sampling_is() -> None:
    settings = defaults(
        {
            "candidate_sampling.num_candidates": 8,
            "candidate_sampling.use_n": False,
            "candidate_sampling.straggler_s": 5,
            "candidate_sampling.sampling_kwargs.temperature": 1.1,
            "candidate_sampling.sampling_kwargs.top_p": 0.9,
            "candidate_sampling.sampling_kwargs.seed": 3,
            "candidate_sampling.sampling_kwargs.max_tokens": 500,
        }
    )
    assert sampling_of(settings.candidate_sampling) == Sampling(
        num_candidates=8,
        use_n=False,
        temperature=1.1,
        max_tokens=500,
        fields={"top_p": 0.9, "seed": 3},
        straggler_s=5.0,
    )
    plain = sampling_of(defaults({"candidate_sampling.sampling_kwargs.temperature": None}).candidate_sampling)
    assert (plain.temperature, plain.fields) == (None, {})


def test_every_option_of_a_selection_is_a_setting_of_the_same_name() -> None:
    assert NAMED_ALIKE
    assert {*NAMED_ALIKE, "selector"} == set(SelectionOptions.__struct_fields__)
    assert set(NAMED_ALIKE) <= ActionVerifierSettings.model_fields.keys()


def test_the_settings_without_a_change_are_the_options_without_a_change() -> None:
    settings = defaults({"action_verifier.enabled": True}).action_verifier
    assert options_of(settings) == SelectionOptions(selector="pairwise")
    assert sampling_of(defaults().candidate_sampling) == Sampling(temperature=0.8)


def test_a_class_counts_before_a_type() -> None:
    changes = {"action_verifier.enabled": True, "action_verifier.verifier_class": "a.B"}
    assert options_of(defaults(changes).action_verifier).selector == "a.B"
    assert options_of(defaults({**changes, "action_verifier.enabled": False}).action_verifier).selector == ""


def test_the_packaged_templates_are_those_without_a_name() -> None:
    assert templates_of(defaults().action_verifier) is not None

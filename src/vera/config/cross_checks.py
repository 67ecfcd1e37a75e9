"""Settings that are right one by one and wrong together."""

from vera.config.settings import Settings


def do_not_fit(settings: Settings) -> list[str]:
    """A sentence for each pair of settings that cannot be used together."""
    return [
        *_cost_without_prices(settings),
        *_templates_without_a_place(settings),
        *_report_that_may_not_search(settings),
    ]


def idle(settings: Settings) -> list[str]:
    """A sentence for each setting that the person switched on and that does nothing."""
    if settings.action_verifier.enabled and settings.candidate_sampling.num_candidates == 1:
        return [
            "action_verifier.enabled has no effect: with one candidate a step there is nothing to choose "
            "from. Sample more of them: --num-candidates 4, or candidate_sampling.num_candidates."
        ]
    return []


def _cost_without_prices(settings: Settings) -> list[str]:
    budget = settings.budget
    missing = [f"budget.{name}" for name in ("input_price", "output_price") if getattr(budget, name) is None]
    if not budget.cost or not missing:
        return []
    return [
        f"budget.cost: a limit on cost needs the prices of a million tokens: set {' and '.join(missing)}, "
        f"for example -c {missing[0]}=2.5"
    ]


def _report_that_may_not_search(settings: Settings) -> list[str]:
    if settings.run.form != "report" or settings.run.lane != "execute":
        return []
    return ["run.form: a report searches for its answers, so it goes with run.lane=research only."]


def _templates_without_a_place(settings: Settings) -> list[str]:
    verifier = settings.action_verifier
    if bool(verifier.prompt_name) == (verifier.prompt_dir is not None):
        return []
    given, missing = ("prompt_name", "prompt_dir") if verifier.prompt_name else ("prompt_dir", "prompt_name")
    return [
        f"action_verifier.{given} needs action_verifier.{missing}: templates are read from the files "
        "<prompt_name>.system.md.j2 and <prompt_name>.selection.md.j2 in prompt_dir."
    ]

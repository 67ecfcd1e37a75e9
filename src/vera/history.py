"""What a lane has done, as its gates see it: counts and streaks, folded from the log.

`fold` is pure and what it keeps is bounded, so a lane of 10,000 steps costs a step as much as one of ten.
"""

import msgspec

from vera import events
from vera.events import Event, Target

KEPT = 100
"""Families, moves, domains and constraints that are remembered at most, the newest."""

DOMAINS_KEPT = 1000
"""Domains that are remembered at most, the first."""

FORCED_CALLS = 3
"""Tool calls after which a stagnating lane may answer again, also when they brought nothing new."""

WRITING = ("note", "submit")
"""Tools that only say what is known: as moves of the search they are none."""

WEB_SEARCHES = ("web_search", "brave_search", "brave_news")
"""Tools that ask the engines of the web."""

SEARCHES = ("search", *WEB_SEARCHES)
"""Tools whose results are leads."""

ATTEMPTS_KEPT = 4
"""Kinds of turn that brought nothing new, as they are told to a model that is stuck."""

ATTEMPT_SHOWN = 80
"""Characters of each."""


class Streak(msgspec.Struct, frozen=True):
    """The same thing `count` times in a row."""

    key: str = ""
    count: int = 0

    def then(self, key: str) -> "Streak":
        """The streak after one more of `key`; '' ends it."""
        if not key:
            return Streak()
        return Streak(key, self.count + 1 if key == self.key else 1)


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """A registrable domain that answered with content; times are Unix time."""

    target: Target
    first_ts: float
    last_ts: float


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stands open since `step`."""

    key: str
    text: str
    step: int


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A lane's past in numbers.

    `noted_step` is the step of the model's last note, `calls` counts tool calls that ran, `searched` attempts
    at any engine. `negative` says whether the question may be answered by "none" (`question` is how that was
    found). Of the search: `moves` are (domain, family) of the last calls, `families` those asked, `tries` how
    often each was asked since the last lines that can be cited (`tried`), `vectors` the intents used,
    `last_vector` the last, `reached` the domains that answered with content, search engines left out, and
    `contacts` those that commands were connected to, whatever came.

    In a row: calls on one domain, failures of one source class and of one type, one move while unresolved,
    one final-like file, turns cut at the model's limit, turns that only repeated themselves. `idle` counts
    unresolved turns without anything new, `forced` the calls that a stagnating lane still owes, `sent_back`
    answers that were refused since the last call, `reminders` those given of the feedback of now, `nudged`
    records by type and `spoke` the step of the last of each. `fresh` says of the turn of now whether it
    brought something new or paid the last call owed, `turned_away` which connections of the call of now were
    refused. `blocked_step` is the step of the last call that was refused.

    `idle_halves` counts the turns in a row that brought no line not seen before, whatever the status: 2 for
    each, 1 for a search with new hits, the last of them at `hits_step` (`idle_turns`). `new_step` is the step
    of the last turn before them, and `attempts` what they were, the last of them, each once.

    A run that is resumed gets what limits it again (`reopened`): `reopened_step` and `read_before` are the
    step and the number of `reached` at which it was.
    """

    negative: bool = False
    question: str = ""
    noted_step: int = 0
    calls: int = 0
    searched: int = 0
    moves: tuple[tuple[str, str], ...] = ()
    families: tuple[str, ...] = ()
    tries: tuple[tuple[str, int], ...] = ()
    vectors: tuple[str, ...] = ()
    last_vector: str = ""
    reached: tuple[Reached, ...] = ()
    contacts: tuple[str, ...] = ()
    on_domain: Streak = Streak()
    class_failures: Streak = Streak()
    failures: Streak = Streak()
    same_move: Streak = Streak()
    drafts: Streak = Streak()
    cut_turns: int = 0
    looped_turns: int = 0
    idle: int = 0
    forced: int = 0
    sent_back: int = 0
    reminders: int = 0
    nudged: tuple[tuple[str, int], ...] = ()
    spoke: tuple[tuple[str, int], ...] = ()
    fresh: bool = False
    turned_away: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    ending: events.Policy | None = None
    blocked_step: int = 0
    reopened_step: int = 0
    read_before: int = 0
    idle_halves: int = 0
    new_step: int = 0
    hits_step: int = 0
    attempts: tuple[str, ...] = ()

    @property
    def idle_turns(self) -> int:
        """Turns in a row that brought no line not seen before; of searches with new hits every second."""
        return self.idle_halves // 2

    def times(self, gate: type[events.Policy] | str) -> int:
        """How often a gate spoke, by its record or, without a separate one, by its name."""
        return dict(self.nudged).get(gate if isinstance(gate, str) else gate.__name__, 0)

    def last_spoke(self, gate: type[events.Policy] | str) -> int:
        """The step at which a gate spoke last since the run began or was resumed; 0 for never."""
        return dict(self.spoke).get(gate if isinstance(gate, str) else gate.__name__, 0)

    def tried(self, family: str, domain: str = "") -> int:
        """How often the family was asked since the last lines that can be cited: of search tools, or with
        `domain` of the pages of one domain."""
        return dict(self.tries).get(_asked(family, domain), 0)

    def domains(self, *, official: bool) -> tuple[str, ...]:
        """The domains that answered with content and speak officially on the subject, or the others."""
        return tuple(each.target.domain for each in self.reached if each.target.official == official)

    def reopened(self, step: int) -> "History":
        """The history of a lane that ended at `step` and goes on: what it counted towards an end is over."""
        return msgspec.structs.replace(
            self,
            ending=None,
            idle=0,
            forced=0,
            cut_turns=0,
            looped_turns=0,
            drafts=Streak(),
            spoke=(),
            constraints=tuple(each for each in self.constraints if not each.key.startswith("policy_")),
            reopened_step=step,
            read_before=len(self.reached),
            idle_halves=0,
            new_step=step,
            attempts=(),
        )


def fold(past: History, event: Event, *, unresolved: bool, in_call: bool) -> History:
    """The history after one event of its lane; `unresolved` is the lane's status, `in_call` whether a call is
    under way. Pure."""
    replace = msgspec.structs.replace
    match event:
        case events.QuestionForm():
            return replace(past, negative=event.negative, question=event.reason)
        case events.Assistant():
            cut = past.cut_turns + 1 if event.finish_reason == "length" else 0
            looped = past.looped_turns + 1 if event.finish_reason == events.REPETITION else 0
            return replace(past, cut_turns=cut, looped_turns=looped, fresh=False)
        case events.Note():
            return replace(past, noted_step=event.step)
        case events.ToolStarted():
            return replace(past, calls=past.calls + 1, sent_back=0, turned_away=())
        case events.Search():
            return replace(past, searched=past.searched + 1)
        case events.Move():
            return _move(past, event, unresolved=unresolved)
        case events.Tool():
            was_cut_off = event.outcome == "interrupted"
            past = past if was_cut_off else _attempt(past, event.step, event.tool)
            return _turn_ends(past, unresolved=unresolved)
        case events.ConstraintAdded():
            kept = tuple(each for each in past.constraints if each.key != event.key)
            added = Constraint(key=event.key, text=event.text, step=event.step)
            return replace(past, constraints=(*kept, added)[-KEPT:])
        case events.ConstraintResolved():
            kept = tuple(each for each in past.constraints if each.key != event.key)
            return replace(past, constraints=kept)
        case events.VerifierGradient():
            return replace(past, reminders=0)
        case events.VerifierToAgent():
            return replace(_new(past, event.step), drafts=Streak(), ending=None)
        case events.Policy():
            return _policy(past, event, unresolved=unresolved, in_call=in_call)
        case _:
            return past


def _move(past: History, move: events.Move, *, unresolved: bool) -> History:
    """A refused call is no evidence and no move; a note and a file handed in are no moves either."""
    past = _brought(past, move)
    if move.outcome == "blocked":
        return msgspec.structs.replace(past, blocked_step=move.step)
    if move.tool in WRITING:
        return past
    owed = 0 if move.fresh or not past.forced else past.forced - 1
    fresh = move.fresh or (past.forced > 0 and not owed)
    past = msgspec.structs.replace(
        past,
        failures=past.failures.then(move.failure_type),
        same_move=Streak() if move.fresh or not unresolved else past.same_move,
        drafts=_drafts(past.drafts, move),
        idle=0 if fresh else past.idle,
        forced=owed,
        fresh=past.fresh or fresh,
        reached=_reached(past.reached, move),
        contacts=tuple(dict.fromkeys((*past.contacts, *move.visited)))[:KEPT],
        on_domain=_on_domain(past.on_domain, move),
    )
    place = move.targets[0].domain if move.targets else ""
    if place or move.query_family:
        past = _search_move(past, move, place, unresolved=unresolved)
    return past


def _search_move(past: History, move: events.Move, place: str, *, unresolved: bool) -> History:
    """What a call that named an address or asked something was.

    The text of a command says little, so what a shell command only names counts as no query, no intent and no
    failure of a source: it counts once the command was connected there. A search of the files has none of the
    intents of a search of the web.
    """
    family, is_shell = move.query_family, move.tool == "shell"
    was_asked = bool(move.asked_at if is_shell else family)
    tries = past.tries
    if was_asked:
        where = in_shell(move.asked_at) if is_shell else place
        tries = _counted(tries, _asked(family, where), past.tried(family, where) + 1)
    vectors, last_vector = past.vectors, past.last_vector
    counts = bool(move.reached) or was_asked if is_shell else move.tool != "search"
    if move.query_vector and counts:
        vectors = vectors if move.query_vector in vectors else (*vectors, move.query_vector)[-KEPT:]
        last_vector = move.query_vector
    class_failures = past.class_failures
    if move.tool == "fetch" and move.targets:
        failed = move.targets[0].source_class if move.outcome == "failed" else ""
        class_failures = class_failures.then(failed)
    same_move = past.same_move
    if unresolved and not move.fresh:
        same_move = same_move.then(f"{move.move_type}:{place}:{family}")
    is_attempt = move.tool in WEB_SEARCHES and move.failure_type != "bad_arguments"
    return msgspec.structs.replace(
        past,
        searched=max(1, past.searched) if is_attempt else past.searched,
        moves=(*past.moves, (place, family))[-KEPT:],
        families=_last(past.families, family) if family else past.families,
        tries=() if move.found else tries,
        vectors=vectors,
        last_vector=last_vector,
        class_failures=class_failures,
        same_move=same_move,
    )


def in_shell(domain: str) -> str:
    """The place by which queries of commands are counted: a page that is fetched is another try."""
    return f"shell {domain}"


def _asked(family: str, place: str) -> str:
    """What tries are counted by: a page that carries a query is not the search for it."""
    return f"{place} {family}" if place else family


def _counted(pairs: tuple[tuple[str, int], ...], key: str, count: int) -> tuple[tuple[str, int], ...]:
    return (*(each for each in pairs if each[0] != key), (key, count))[-KEPT:]


def _last(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return (*(each for each in names if each != name), name)[-KEPT:]


def _on_domain(before: Streak, move: events.Move) -> Streak:
    """How often one domain was visited in a row. A search is no visit; a command was where it was connected
    to, whatever it names, and one that was at several domains is not at one of them."""
    if move.tool == "shell":
        domains = move.visited
    else:
        domains = tuple(target.domain for target in (*move.targets, *move.reached)[:1] if target.domain)
    if not domains:
        return before
    return before.then(domains[0]) if len(domains) == 1 else Streak()


def _reached(before: tuple[Reached, ...], move: events.Move) -> tuple[Reached, ...]:
    """The domains that have answered, each once, in the order of their first answer. What a search engine
    shows is a lead."""
    for target in move.reached:
        if not target.domain or target.source_class == "search":
            continue
        known = next((each for each in before if each.target.domain == target.domain), None)
        if known is not None:
            later = msgspec.structs.replace(known, last_ts=move.ts)
            before = tuple(later if each is known else each for each in before)
        elif len(before) < DOMAINS_KEPT:
            before = (*before, Reached(target=target, first_ts=move.ts, last_ts=move.ts))
    return before


def _drafts(before: Streak, move: events.Move) -> Streak:
    """How often one final-like file was written; a call that brings anything new is other work."""
    if move.fresh:
        return Streak()
    return before.then(move.wrote[0]) if move.wrote else before


def _turn_ends(past: History, *, unresolved: bool) -> History:
    if not unresolved:
        return msgspec.structs.replace(past, idle=0, forced=0, fresh=False)
    idle = past.idle if past.fresh or past.forced else past.idle + 1
    return msgspec.structs.replace(past, idle=idle, fresh=False)


def _policy(past: History, event: events.Policy, *, unresolved: bool, in_call: bool) -> History:
    name = event.gate if isinstance(event, events.PolicyGate) else type(event).__name__
    past = msgspec.structs.replace(
        past,
        nudged=_counted(past.nudged, name, past.times(name) + 1),
        spoke=_counted(past.spoke, name, event.step),
    )
    if isinstance(event, events.PolicyReminder):
        past = msgspec.structs.replace(past, reminders=past.reminders + 1)
    if isinstance(event, events.PolicyStagnation) and not past.forced:
        past = msgspec.structs.replace(past, forced=FORCED_CALLS)
    if event.effect == "end":
        past = msgspec.structs.replace(past, ending=event)
    if event.effect == "refuse" and in_call:
        said = f"{event.reason} {event.way_forward}".strip()
        return msgspec.structs.replace(past, turned_away=(*past.turned_away, said)[-KEPT:])
    return _turned_back(past, event, unresolved=unresolved) if event.reply else past


def _turned_back(past: History, event: events.Policy, *, unresolved: bool) -> History:
    """A turn that a gate answered in place of a tool has ended."""
    broken = isinstance(event, events.PolicyParseError)
    what = "a turn that broke the format" if broken else "an answer"
    if not (broken or event.tool):
        past = msgspec.structs.replace(past, sent_back=past.sent_back + 1)
    return _turn_ends(_attempt(past, event.step, event.tool or what), unresolved=unresolved)


def _brought(past: History, move: events.Move) -> History:
    """What a move says of the turn that makes it: new lines end the idle turns, new hits are half of one, and
    of any other its query or address is remembered."""
    if move.fresh and not (move.tool in SEARCHES and not move.found):
        return _new(past, move.step)
    about = move.query or next((target.url for target in move.targets), "")
    what = f"{move.tool} {about}"[:ATTEMPT_SHOWN].strip()
    return msgspec.structs.replace(
        past,
        attempts=_last(past.attempts, what)[-ATTEMPTS_KEPT:],
        hits_step=move.step if move.fresh else past.hits_step,
    )


def _new(past: History, step: int) -> History:
    """Something new came in this step."""
    return msgspec.structs.replace(past, idle_halves=0, new_step=step, attempts=())


def _attempt(past: History, step: int, what: str) -> History:
    """The history after a turn, with what it was: another idle one, unless it brought something new."""
    if past.new_step == step:
        return past
    attempts = past.attempts
    if not any(each.split(" ")[0] == what for each in attempts):
        attempts = _last(attempts, what)[-ATTEMPTS_KEPT:]
    halves = 1 if past.hits_step == step else 2
    return msgspec.structs.replace(past, idle_halves=past.idle_halves + halves, attempts=attempts)

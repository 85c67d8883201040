"""Standing requests: which are still wanted, and which the question calls up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmslim_memory.selection.shelf import Weighed, fits
from llmslim_memory.selection.terms import terms, word_set

KINDS = ("request", "withdrawal")
RETIRES = 0.5
"""The share of a withdrawal's words that must stand in a request for it to be the one withdrawn."""
SUPERSEDES = 0.6
"""How alike two requests must be for the later one to stand for both."""
TURN_WEIGHT = 0.6

_WITHDRAWING = word_set(
    "stop quit ignor forget disregard scrap drop cancel skip said told ask wrote earlier previous old last former stand"
    " request instruct rule wish longer need any anymor always never mind no don"
)
_CONDITION = re.compile(r"\b(?:when(?:ever)?|if|every time|each time|any ?time) (?:i|we)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:never|don't|do not|avoid|stop|no longer|not)\b", re.IGNORECASE)

_CALLS = (
    (r"\b(?:when|what (?:time|date|day)|which day|how (?:soon|long until)|due|deadline|upcoming)\b",
     "date time schedul deadlin due timelin meet appoint event calendar plan"),
    (r"\b(?:how much|cost|price|afford|budget|pay|spend|cheap|expensive)\b", "cost price budget money financi amount expens currenc pay"),
    (r"\b(?:suggest|recommend|good|best|options?|should i (?:read|watch|buy|try|get|check))\b", "recommend suggest option advic"),
    (r"\b(?:implement|code|function|script|program|build|set ?up|feature|endpoint|class|write a)\b",
     "implement code snippet program exampl technic develop"),
    (r"\b(?:librar\w*|packages?|frameworks?|dependenc\w*|technolog\w*|tech stack|tools?|software|apps?|versions?)\b",
     "librari depend packag framework softwar version tool technolog stack app"),
    (r"\b(?:login|password|secur\w*|safe\w*|private|privacy|protect\w*|auth\w*|encrypt\w*)\b", "secur privaci authent author data encrypt protect"),
    (r"\b(?:calculat\w*|chance|probab\w*|odds|solve|equation|math\w*|formula)\b", "calcul probabl math problem formula concept"),
    (r"\b(?:eat|cook|dinner|lunch|breakfast|recipes?|meals?|dish(?:es)?|food|restaurants?|snacks?|dessert|cake|bake|drink|wine|taco|pizza|soup|salad|groceries|menu)\b", "food recip meal cook restaur eat diet vegetarian vegan allerg lactos gluten intoler dairi meat fish spici tast drink"),
    (r"\b(?:travel|trip|flight|hotel|vacation|holiday|visit)\b", "travel trip flight hotel vacat holiday visit"),
    (r"\b(?:sources?|cite|citations?|references?|paper|essay|draft|edit\w*|revis\w*)\b", "citat refer sourc format write edit revis draft essay"),
    (r"\b(?:error|bug|exception|fail\w*|debug\w*|crash\w*)\b", "error bug debug handl troubleshoot except"),
    (r"\b(?:html|css|webpage|web page|layout|markup)\b", "markup html structur layout page web"),
)  # fmt: skip
CALLS = tuple((re.compile(cue, re.IGNORECASE), word_set(words)) for cue, words in _CALLS)
"""What a question is about that words of a request would name otherwise: cue in the question, terms in the request."""
CALLED = 0.35


def live(requests: Sequence[Weighed], withdrawals: Sequence[Weighed]) -> list[Weighed]:
    """The requests, oldest first, those that a later turn withdrew or replaced marked as dropped."""
    told = [(one.mark.turn, terms(one.text) - _WITHDRAWING) for one in withdrawals]
    wanted = sorted(((one, terms(one.text)) for one in requests), key=lambda asked: _place(asked[0]))
    judged = []
    for at, (one, words) in enumerate(wanted, start=1):
        if any(turn > one.mark.turn and _retires(said, words) for turn, said in told):
            judged.append(one._replace(reason="withdrawn"))
        elif any(_supersedes(other, theirs, one, words) for other, theirs in wanted[at:]):
            judged.append(one._replace(reason="superseded"))
        else:
            judged.append(one)
    return judged


def _retires(said: frozenset[str], words: frozenset[str]) -> bool:
    return bool(said) and len(said & words) >= RETIRES * len(said)


def _place(one: Weighed) -> tuple[int, int]:
    return one.mark.turn, one.mark.statement.start


def _supersedes(later: Weighed, theirs: frozenset[str], earlier: Weighed, words: frozenset[str]) -> bool:
    """Whether two requests are about the same: nearly the same words, or one forbids what the other demands."""
    shared = len(theirs & words)
    alike = shared / (len(theirs) + len(words) - shared) if shared else 0.0
    if alike < RETIRES or alike >= SUPERSEDES:
        return alike >= SUPERSEDES
    return bool(_NEGATIVE.search(later.text)) != bool(_NEGATIVE.search(earlier.text))


def ranked(query: str, requests: Sequence[Weighed], turn_scores: Sequence[float]) -> list[Weighed]:
    """The requests by how well they fit the question, best first, then latest first.

    A request's condition ("... when I ask about X") counts alone where there is one.
    """
    conditions = [_condition(one.text) for one in requests]
    named = called(query)
    scored = [
        one._replace(score=fit + TURN_WEIGHT * turn + CALLED * bool(named & condition))
        for one, fit, turn, condition in zip(
            requests, fits(terms(query), conditions), turn_scores, conditions, strict=True
        )
    ]
    return sorted(scored, key=lambda one: (-one.score, -one.mark.turn, -one.mark.statement.start))


def called(query: str) -> frozenset[str]:
    """The terms by which a statement would name what the question is about, in other words than the question."""
    return frozenset[str]().union(*(words for cue, words in CALLS if cue.search(query)))


def asked(query: str) -> frozenset[str]:
    """The terms of the question, and those that a statement would use for what it is about."""
    return terms(query) | called(query)


def fits_at_all(terms_asked: frozenset[str], one: Weighed) -> bool:
    """Whether a question with these terms, see :func:`asked`, is of the sort that the request speaks of."""
    return not terms_asked.isdisjoint(_condition(one.text))


def _condition(text: str) -> frozenset[str]:
    match = _CONDITION.search(text)
    return terms(text[match.start() :]) if match else terms(text)


def wanted(text: str) -> str:
    """What a request wants in the answer: its words without the condition."""
    match = _CONDITION.search(text)
    return text[: match.start()] if match and match.start() else text

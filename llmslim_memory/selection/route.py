"""Tells what kind of question is asked, by fixed patterns: a past fact, advice, an overview, or something else.

Questions in languages that no pattern knows are ``"other"`` and get plain relevance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """What one kind of question sounds like, with questions that are and are not of this kind."""

    kind: str
    expression: re.Pattern[str]
    yes: tuple[str, ...]
    no: tuple[str, ...] = ()


def _rule(kind: str, expression: str, *, yes: tuple[str, ...], no: tuple[str, ...] = ()) -> Rule:
    return Rule(kind, re.compile(expression, re.IGNORECASE), yes, no)


_ASK = r"(?:can|could|would|will|may|please|do)\W+(?:you\W+)?(?:please\W+)?"
_MINE = r"(?:my|our|the|i|we|you|your|this|these)"

ROUTES = (
    _rule(
        "overview",
        rf"\b(?:summari[sz]e|summary|summari[sz]ing|recap|overview|tl;?dr|catch me up|bring me up to speed|run[- ]?down)\b(?!.{{0,30}}\b(?:this (?:text|article|email|document|page|paragraph)|the following)\b)"
        rf"|\b(?:in (?:what|which) order|the order (?:in which|of|that)|the sequence (?:in which|of)|chronolog\w*|timeline of)\b"
        rf"|\blist in order\b|\bin order how\b|\bin (?:the )?order (?:in which )?(?:i|we|they)\b"
        rf"|\bhow (?:did|has|have|do|does) {_MINE}\b.{{0,120}}\b(?:evolved?|develop(?:ed)?|progress(?:ed)?|unfold(?:ed)?|c[ao]me about|(?:changed?|grow|grown|shift(?:ed)?) (?:over|through|throughout|across|during))\b"
        rf"|\bwhat (?:all )?(?:have|did|topics|subjects|things) (?:have |did )?(?:we|i) (?:ever )?(?:discuss|talk|cover|chat|go over|touch)\w*\b(?:(?: about)? so far| about| over| across| together| in (?:our|all|the)|\W*$)"
        rf"|\b(?:everything|all the things) (?:that )?(?:we|i)(?:'ve| have)? (?:discuss|talk|cover|said|told|mention|bring|brought)\w*",
        yes=(
            "Can you summarize what we discussed?",
            "In what order did I bring up the visa, the flat and the job?",
            "How did my plan develop?",
            "Give me a recap of the garden project.",
            "Walk me through the order in which I mentioned my trips.",
            "Can you list in order how I brought up my projects?",
            "How has our approach to testing evolved?",
            "What have we talked about so far?",
            "Tell me everything I've said about Leo.",
        ),
        no=(
            "When did I order the sofa?",
            "How did the meeting go?",
            "What did we discuss on 3 May about the roof?",
            "Please summarize the following email: dear all.",
        ),
    ),
    _rule(
        "lookup",
        r"^\W*(?:and |so |but |ok |okay |hey |hi |please )?(?:can you |could you |do you )?(?:tell me |remind me |remember |recall |say |know )?(?:again |exactly )?"
        r"(?:(?:on |at |in |to |from |for |with |by )?(?:what|which|who|whom|whose|where|when|why|how)\b.{0,160}?\b(?:did|didn't|was|wasn't|were|weren't|had)\b(?! (?:you )?like me to)"
        r"|(?:did|was|were|had|have|has)\b(?: n't)? (?:i|we|you|my|our|he|she|it|they|the|there|that|this|[A-Z]\w+)\b)"
        r"|\b(?:remind me|do you (?:remember|recall)|can you (?:remember|recall))\b"
        r"|^\W*(?:what|which|who|where|when|why|how)\b.{0,160}?\b(?:have|has|'ve|'s) (?:i|we|he|she|they|[\w' ]{1,40}?)?\s?(?:been|mentioned|said|told|used|bought|made|done|had|taken|visited|met|read|seen|tried|planned|lived|worked|gone|[a-z]{3,}ed)\b"
        r"|\bwhat (?:did|have) (?:i|we) (?:say|said|tell|told|mention)\w*\b",
        yes=(
            "When did I move to Pune?",
            "What was the name of the vet?",
            "Have I ever been to Rome?",
            "Remind me who fixed the boiler.",
            "Which books has Maria read?",
            "How many children did I mention?",
            "What approach did you recommend for the roof?",
            "Where was John in August?",
        ),
        no=(
            "What should I cook tonight?",
            "How do I deploy this?",
            "When is the submission due?",
            "Can you suggest a book?",
            "How would you suggest I set this up?",
        ),
    ),
    _rule(
        "advice",
        r"^\W*(?:please |kindly |and |so )?(?:suggest|recommend|advise)\b|\b(?:you|to|please|anything|something|anyone) (?:suggest|recommend|advise)\b"
        r"|\b(?:any|some|your|more|few|need|want|give me|for) (?:advice|tips?|ideas?|suggestions?|recommendations?)\b|\b(?:guide|help|teach) (?:me|us)\b|\bhelp with\b|\bshow me how\b"
        r"|\b(?:should|shall|could|can|would|might) (?:i|we)\b|\bdo (?:i|we) (?!have\b(?! to)|own\b|live\b|know\b|like\b|need to be\b)|\b(?:i|we) should\b|\bwhat (?:should|would|could) (?:i|we|you|one|be)\b"
        r"|^\W*(?:and |so |but )?how (?:to|best)\b|\bhow (?:should|can|could|do|would|might) (?:i|we|you|one|someone)\b|\bhow (?:do|would|can) you\b"
        r"|^\W*(?:and |so )?(?:what|which)(?: is|'s| are|'re)? (?:some |a |an |the )?(?:\w+ )?(?:good|great|best|better|popular|nice|suitable|right|worthwhile|recommended|useful|effective)\b(?! at\b)"
        r"|\bany (?:good|thoughts|suggestions|pointers|recommendations)\b|\bi(?:'m| am) (?:looking|planning|thinking|about|trying|hoping|preparing|working|considering|getting ready|deciding|writing|building)\b"
        r"|\b(?:i|we)(?:'d| would) (?:like|love) (?:to|some|a|an|your)\b|\bi (?:need|want) (?:to|a|an|some|help|your)\b"
        r"|^\W*(?:please )?(?:plan|draft|write|design|create|build|make|pick|choose|find|propose|explain|compare|prepare|organi[sz]e|set up|walk me through|give me|come up with|think of)\b"
        rf"|\b{_ASK}(?:plan|draft|write|design|create|build|make|pick|choose|find|propose|explain|compare|prepare|organi[sz]e|set up|show|give|walk me through|come up with|think of)\b",
        yes=(
            "Suggest a taco filling.",
            "What should I cook tonight?",
            "How do I deploy this?",
            "Can you recommend a hotel in Miami?",
            "I'm looking for a new pair of shoes.",
            "What are some good books?",
            "Help me plan the week.",
            "Could you draft a letter to my landlord?",
        ),
        no=(
            "What is my budget?",
            "Is the office open?",
            "Tell me about Leo.",
            "How many days do I have until the trip?",
        ),
    ),
)

ORDER = _rule(
    "order",
    r"\b(?:order|sequence)\b.{0,60}\b(?:i|we)\b|\bin order\b|\bchronolog\w*|\btimeline of when\b|\bfirst (?:mention|brought|bring)\w*",
    yes=(
        "In what order did I bring up the visa and the flat?",
        "Reconstruct the timeline of when I first mentioned Leo.",
    ),
    no=("Summarize my trip.",),
)
"""An overview of what the user brought up, and when: only user turns answer it."""

WHETHER = _rule(
    "whether",
    r"\b(?:have|had) (?:i|we)\b(?! to\b)|\bdid (?:i|we)\b.{0,120}\b(?:ever|before|already|at all)\b|\bdid (?:i|we) (?:ever|actually|really)\b"
    r"|^\W*(?:did|was|were|am|are|do) (?:i|we)\b|\bis it true (?:that )?(?:i|we)\b|\b(?:i|we)(?:'ve| have) (?:ever|already|never)\b.*\?",
    yes=(
        "Have I ever met Kelly?",
        "Did I use Redis before?",
        "Had we agreed on a price?",
        "Is it true I signed the lease?",
        "Am I allergic to walnuts?",
    ),
    no=("When did I meet Kelly?", "What should I have to hand?", "How have the prices changed?"),
)
"""A question whether something happened or holds, on which statements may disagree."""


HOW = _rule(
    "how",
    r"\bhow (?:did|have|had) (?:i|we|you|my|our|your)\b(?! (?:feel|like|get on|do)\b)"
    r"|\b(?:what|which) (?:\w+ ){0,2}?(?:steps?|approach(?:es)?|strateg(?:y|ies)|methods?|process|measures|way|advice|solution|plan|recommendations?|suggestions?|techniques?|tips|guidance) (?:did|have|had) (?:i|we|you)\b"
    r"|\bwhat (?:did|have|had) you (?:suggest|recommend|advise|propose|explain)"
    r"|\bhow (?:do|does) (?:my|our|your)\b|\bconsidering (?:my|our)\b",
    yes=(
        "How did I plan the move?",
        "How did you recommend structuring the essay?",
        "What steps did we take to fix the leak?",
        "What strategy did you suggest for the exam?",
        "What did you recommend for my back?",
        "Considering my notes so far, how does my plan hold up?",
    ),
    no=(
        "How do I deploy this?",
        "How many books did I buy?",
        "When did you recommend the dentist?",
        "How did Maria find the flat?",
        "How did I feel about the move?",
    ),
)
"""A question after how something was done, planned or advised, which a whole exchange answers."""


def _plain(query: str) -> str:
    """The question with a plain apostrophe, as the patterns have it."""
    return query.replace("\u2019", "'")


def asks_how(query: str) -> bool:
    """Whether the question is how something was done, planned or advised."""
    return HOW.expression.search(_plain(query)) is not None


def route_of(query: str) -> str:
    """The kind of question: ``"overview"``, ``"lookup"``, ``"advice"`` or ``"other"``."""
    text = _plain(query)
    return next((rule.kind for rule in ROUTES if rule.expression.search(text)), "other")


def asks_for_order(query: str) -> bool:
    """Whether an overview is to follow the order in which the user brought things up."""
    return ORDER.expression.search(_plain(query)) is not None


def asks_whether(query: str) -> bool:
    """Whether the question is if something happened or holds."""
    return WHETHER.expression.search(_plain(query)) is not None

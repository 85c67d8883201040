"""What standing requests, withdrawals, preferences, denials and changes sound like: data, with examples that are tests.

Each pattern is tried on one sentence at a time, apostrophes straight, case ignored. ``yes`` holds sentences in which it
finds a statement of its kind, ``no`` sentences in which nothing of that kind is found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LEAD = (
    r"(?:(?:and|but|so|also|oh|ok|okay|please|kindly|hey|hi|hello|thanks|great|btw|by the way|remember(?: to)?|just|yes|no|"
    r"well|then|again|one more thing|reminder|note|important|rule|also please|for future reference|in general)[,.:!]*\s+){0,4}"
)
VERB = (
    r"(?:add|address|answer|append|apply|ask|assume|avoid|base|be|begin|bring|call|check|cite|clarify|comment|compare|confirm|"
    r"consider|convert|cover|deploy|describe|display|do|document|double-check|draw|emphasi[sz]e|end|explain|express|finish|"
    r"flag|focus|follow|format|give|go|greet|highlight|include|indent|keep|label|leave|limit|link|list|make|mark|mention|name|note|"
    r"offer|omit|order|organi[sz]e|outline|point|prefer|present|prioriti[sz]e|provide|put|quote|recommend|refer|reference|"
    r"remember|remind|reply|report|respond|return|reveal|round|run|say|share|send|separate|show|sign|skip|sort|speak|specify|spell|start|"
    r"state|stick|structure|suggest|summari[sz]e|talk|tell|test|translate|treat|try|use|verify|warn|wrap|write)"
)
_NOT_ASKED = (
    r"(?!(?:mind|been|had|has|was|were|wanted|thought|knew|heard|again|ever|a|an|the|my|in|at|on|good|nice|happy|fun|great|"
    r"love|loved|liked|hoped|wondered|seen|tried|met|better|too|something|someone|so|really|hard|interesting|curious|there|here|ready|glad|around|open|eager|amazing|wonderful|pleased|grateful|sure|true|possible|enough|said|"
    r"this|that|it|have|want|wish|late|busy|tired|did|would|could|more|less|best|worth|nothing|easy|i|you|he|she|we|they|"
    r"felt|saw|went|got|came|took|said|made|found|ate|bought|know|knows|happens|works)\b)"
)
_WHEN_ASKED = (
    r"(?:when(?:ever)?|if|every time|each time|any ?time) (?:i|we) "
    r"(?:ask|mention|talk|request|bring up|share|send|say|post|paste|want|inquire|discuss)"
)
_ABOUT_ANSWERS = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|summar(?:y|ies)|suggestions?|recommendations?)"
)
_I = r"(?<![\w'])(?:i|we)"
_OFTEN = r"(?: really| usually| generally| typically| normally| always| personally| strongly| definitely| just| much| do| also| still| actually| honestly| kinda| mostly| often| now| would| absolutely| particularly| especially){0,3}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression for one kind of statement, and sentences that it must and must not find.

    It is tried only on sentences that hold one of ``hints``, in small letters: telling that takes far less time.
    """

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]
    yes: tuple[str, ...]
    no: tuple[str, ...] = ()


def _pattern(kind: str, hints: str, expression: str, *, yes: tuple[str, ...], no: tuple[str, ...] = ()) -> Pattern:
    return Pattern(kind, tuple(hints.split("|")), re.compile(expression, re.IGNORECASE), yes, no)


PATTERNS = (
    _pattern(
        "request",
        "always|never",
        rf"^{LEAD}(?:always|never)\s+(?:please\s+)?{_NOT_ASKED}(?:[a-z-]+(?<!ed)(?<!ing)|embed|proceed|feed|need)\b(?=\s+\S)(?!.*\?\s*$)",
        yes=(
            "Always include version numbers when I ask about libraries.",
            "Never suggest seafood.",
            "Please always answer in metric units.",
            "Also, never use bullet points with me!",
        ),
        no=(
            "Never mind the details.",
            "Always wanted to see Kyoto.",
            "My boss always answers at night.",
            "Always include tests?",
            "Always a pleasure talking to you.",
            "Never been to Spain.",
            '"Always deploy on Friday" is what my boss says.',
            "He told me: always ask twice.",
        ),
    ),
    _pattern(
        "request",
        "always|never",
        rf"[,;]\s+(?:and\s+|but\s+|so\s+|please\s+|then\s+){{0,2}}(?:always|never)\s+{VERB}\b",
        yes=("Don't use script A any more, always use B.", "When I ask for code, never leave out the imports."),
        no=("I met Jo, always late as usual.", "She was kind, never raised her voice."),
    ),
    _pattern(
        "request",
        "always|never|consistently|not ever",
        r"(?:\b(?:i|we)(?:'d| would) (?:really )?(?:like|love|prefer|appreciate)(?: it if| for)?|\b(?:i|we) (?:want|need|expect|ask|prefer|'d like))"
        r" you(?: to|'d| would)?(?: please)? (?:always|never|not ever|consistently)\b",
        yes=(
            "I'd like you to never mention my ex.",
            "I want you to always show the units.",
            "I would appreciate it if you would always cite a source.",
        ),
        no=("I want you to meet Ana.", "I no longer want you to always show the units."),
    ),
    _pattern(
        "request",
        "always|never",
        rf"^{LEAD}(?:can|could|would|will) you (?:please )?(?:always|never)\b|\b(?:make|be) sure (?:to |that you |you )(?:always|never)\b"
        r"|^you (?:should|must|have to|need to) (?:always|never)\b",
        yes=(
            "Could you always add a short summary?",
            "Make sure you never share my address.",
            "Please be sure to always use UTC.",
            "You should always reply in French.",
        ),
        no=("Can you help me?", "Could I always do that?"),
    ),
    _pattern(
        "request",
        "from now|from here|from this|from today|forward|future|henceforth",
        rf"^{LEAD}(?:from (?:now|here|this point|today) on(?:wards?)?|going forward|in (?:the )?future|henceforth|for (?:all )?future {_ABOUT_ANSWERS})"
        rf",?\s+(?:please |always |never |only |just |{_WHEN_ASKED}[^,]*, ){{0,3}}(?:{VERB}\b|(?:do not|don't|no longer|stop)\b|(?:i|we)(?:'d| would)? (?:like|want|need|expect|prefer) you\b"
        r"|(?:can|could|would|will) you\b|you (?:should|must|can|need to|have to)\b)",
        yes=(
            "From now on, answer in German.",
            "Going forward please keep it short.",
            "From now on I want you to call me Max.",
            "In the future, don't use tables.",
        ),
        no=(
            "From now on I will run every morning.",
            "From now on the meetings start at 9.",
            "In the future we may move.",
        ),
    ),
    _pattern(
        "request",
        "from now|from here|from this|from today|forward|future|in all your",
        rf"^{LEAD}(?:only |do not |don't |avoid )?{VERB}\b.{{1,300}}?[\s,](?:from (?:now|here|this point|today) on|going forward|in (?:the )?future|in all (?:your|future) {_ABOUT_ANSWERS})\W*$",
        yes=(
            "Call me Max from now on.",
            "Use Celsius going forward, in all future replies.",
            "Don't send me links in the future.",
        ),
        no=("I will call her from now on.", "What should I use going forward?"),
    ),
    _pattern(
        "request",
        "when| if |time",
        rf"^{LEAD}(?:only |do not |don't |avoid )?{VERB}\b(?!.*\?\s*$).{{1,300}}?\b{_WHEN_ASKED}\b",
        yes=(
            "Include the price when I ask about hotels.",
            "Use bullet points whenever I ask for a list.",
            "Please mention side effects if I ask about medicine.",
        ),
        no=(
            "What do you do when I ask about hotels?",
            "My son cries when I ask about school.",
            "Do you mind when I ask for help?",
        ),
    ),
    _pattern(
        "request",
        "when|if |time",
        rf"^{LEAD}{_WHEN_ASKED}\b[^,?]{{1,200}},\s*(?:then |please |always |never |only |just |i want you to |i'd like you to |you should |do not |don't ){{0,3}}(?:{VERB}\b)",
        yes=(
            "When I ask about recipes, give grams.",
            "Whenever I mention Leo, please remember he is my son.",
            "Every time I ask for code, don't add comments.",
        ),
        no=("When I ask Tom, he laughs.", "When I talk to her, I feel calm."),
    ),
    _pattern(
        "request",
        "keep|make|reply|answer|respond|speak|write|don't|do not|avoid|no ",
        rf"^{LEAD}(?:keep|make) (?:all (?:of )?)?(?:your|the) {_ABOUT_ANSWERS}\b|"
        rf"^{LEAD}(?:always |only )?(?:answer|reply|respond|speak|write)(?: to me| me| back)? (?:only )?in (?:[a-z]+|bullet points|plain text)\W*$|"
        rf"^{LEAD}(?:do not|don't|avoid|no) .{{0,80}}\b(?:in|from) (?:all )?your {_ABOUT_ANSWERS}\b|^{LEAD}(?:don't|do not) ever\b",
        yes=(
            "Keep your answers under 100 words.",
            "Reply in Spanish.",
            "Don't use emojis in your replies.",
            "Don't ever call me late at night.",
        ),
        no=("How do I keep the answers short?", "I reply in Spanish.", "Make the bed."),
    ),
    _pattern(
        "withdrawal",
        "stop|quit",
        rf"^{LEAD}(?:you (?:can|may|should|could) )?(?:now )?(?:please )?(?:stop|quit) (?:always )?[a-z]+ing\b",
        yes=("Please stop adding emojis.", "You can stop including narrators."),
        no=("How do I stop worrying?", "I want to stop smoking."),
    ),
    _pattern(
        "withdrawal",
        "ignore|forget|disregard|scrap|drop|cancel|skip|never",
        r"\b(?:ignore|forget|disregard|scrap|drop|cancel|skip|never ?mind)\b(?: about)? (?:everything |all )?"
        r"(?:what (?:i|we) (?:said|told you|asked|wrote)|my (?:earlier|previous|old|last|former|standing)? ?(?:request|instruction|rule|wish)|"
        r"th(?:at|e|is) (?:\w+ )?(?:request|instruction|rule)\b)",
        yes=(
            "You can ignore what I said about narrators.",
            "Forget my earlier request about dates.",
            "Never mind what I told you about tables.",
            "Please drop the emoji rule.",
        ),
        no=(
            "I forgot what she said.",
            "I can't ignore the rules of grammar.",
            "Don't forget what I said about tables.",
        ),
    ),
    _pattern(
        "withdrawal",
        "more|longer|need|have to",
        rf"^{LEAD}(?:(?:and |so )?you )?(?:do not|don't|no need to|needn't|no longer|don't (?:have|need) to|do not (?:have|need) to) .{{1,200}}?\b(?:any ?more|any longer|no longer)\b"
        rf"|^{LEAD}(?:there's |there is )?no need (?:to|for you to) (?:always )?{VERB}\b|\byou (?:don't|do not|no longer) (?:need|have) to (?:always )?{VERB}\b"
        r"|\b(?:i|we) (?:no longer|don't|do not) (?:want|need) you to\b",
        yes=(
            "Don't use script A any more.",
            "You don't need to include narrators.",
            "I no longer want you to answer in German.",
            "No need to mention the price anymore.",
        ),
        no=("I don't smoke any more.", "Do I need to file taxes?"),
    ),
    _pattern(
        "preference",
        "prefer|favo|rather",
        rf"{_I}(?:'d| would)?{_OFTEN} (?:prefer|favou?r|rather(?! than))\b",
        yes=(
            "I prefer e-books.",
            "I'd rather take the train.",
            "We usually prefer aisle seats.",
            "I'd much rather stay home.",
        ),
        no=(
            "Should I prefer tea?",
            "My boss prefers calls.",
            "Do I prefer tea or coffee?",
            "She said I prefer tea.",
            "I no longer prefer tea.",
            "I wonder if I prefer cats.",
            'The book says "I prefer death".',
        ),
    ),
    _pattern(
        "preference",
        "stand|bear|abide|stomach|tolerate|like|enjoy|don't|do not|hate|loathe|detest|despise|avoid|love|adore|refuse|never",
        rf"{_I} (?:really |absolutely |just |simply |honestly |still |also ){{0,2}}(?:(?:can't|cannot|can not|couldn't) (?:stand|bear|abide|stomach|tolerate)|(?:don't|do not) (?:really |much )?(?:like|enjoy|eat|drink|want|care for|trust|do well)|hate|loathe|detest|dislike|despise|avoid|love|adore|enjoy|like(?! to (?:know|ask|see|learn|understand|hear))|refuse to|never (?:eat|drink|buy|wear|use|order|fly|drive|watch|read|cook|take|work))\b",
        yes=(
            "I can't stand cilantro.",
            "I really can't bear olives.",
            "I don't like crowded places.",
            "I love long train rides.",
            "I never eat meat.",
            "We avoid night flights.",
        ),
        no=(
            "Do I like jazz?",
            "Leo can't stand cilantro.",
            "I no longer like jazz.",
            "If I like it, I'll buy it.",
            "I used to love jazz.",
            "I'd like to know the time.",
        ),
    ),
    _pattern(
        "preference",
        "usually|always|generally|typically|normally|mostly|tend to|only|mainly|often",
        rf"{_I} (?:usually|always|generally|typically|normally|mostly|tend to|only|mainly|often) (?!been\b|had\b|wanted\b|thought\b|knew\b|wondered\b|was\b|were\b|have\b)[a-z]+",
        yes=(
            "I usually write in the mornings.",
            "I always take the window seat.",
            "I tend to skip breakfast.",
            "I only drink decaf.",
        ),
        no=("He usually writes at night.", "Do I usually win?", "I always wanted a dog.", "I have always been late."),
    ),
    _pattern(
        "preference",
        "i'm|i am|we're|we are",
        r"(?<![\w'])(?:i'm|i am|we're|we are)(?: really| also| still| quite| pretty| very| not| more| strictly| severely){0,2} (?:(?:a |an )?(?:big |huge |morning |night |early )?(?:fan of|vegan|vegetarian|pescatarian|teetotal|person|owl|bird)|allergic|intolerant|lactose|gluten|into|fond of|partial to|keen on|comfortable with|afraid of|more of an?|picky|trying to (?:keep|avoid|cut|limit|eat|stay|use))\b",
        yes=(
            "I'm allergic to walnuts.",
            "I am not a fan of horror.",
            "I'm vegetarian.",
            "I'm trying to avoid sugar.",
            "I'm more of a morning person.",
        ),
        no=("He's allergic to walnuts.", "Am I allergic to walnuts?", "I'm no longer vegan."),
    ),
    _pattern(
        "preference",
        "my ",
        r"\bmy (?:(?:all-time|absolute|personal|current|new) )?(?:favou?rites?|preferences?|preferred|go-to|pet peeve|comfort food|dream)\b",
        yes=("My favourite tea is rooibos.", "My go-to editor is Vim.", "It fits my preference for quiet places."),
        no=("What's my favourite tea?", "What are my preferences?", "Her favourite tea is sencha."),
    ),
    _pattern(
        "preference",
        "for me|for us|i'm|i am|preference|find|found",
        r"\b(?:works?|suits?|fits?) (?:\w+ )?(?:best|better|well|great) for (?:me|us)\b|\bi(?:'m| am) (?:most|more|at my) (?:productive|focused|comfortable|creative|relaxed|best)\b|\bas (?:stated|mentioned) in my preference\b|\bi(?:'ve| have)? (?:found|find) (?:that )?.{1,60}? (?:helps?|works?|easier|relaxing|distracting)\b",
        yes=("Evenings work best for me.", "I'm most productive before noon.", "I find that music helps."),
        no=("What works best for most people?", "Which time works best for me?"),
    ),
    _pattern(
        "preference",
        "for me|for us|my thing|my cup|my style|my taste",
        r"^(?!.*\b(?:said|says|told|thinks?|thought|claims?|asked)\b)(?:(?:.{0,80}\b(?:is|are|was|were)(?: really| just| definitely| so)? not|.{0,80}\b(?:isn't|aren't))(?: really| quite| exactly)? (?:for (?:me|us)\b|my (?:thing|cup of tea|style|taste)\b)|\W*(?:please,? )?no (?:more )?[\w-]+(?: [\w-]+)? for (?:me|us)\b)",
        yes=(
            "Olives are not for me.",
            "Crowds are really not my thing.",
            "No mushrooms for me, ever.",
            "Jazz isn't my style.",
        ),
        no=(
            "My boss said olives are not for me.",
            "Are olives not for me?",
            "Isn't that my thing?",
            "There is no email for me to answer?",
        ),
    ),
    _pattern(
        "preference",
        " me ",
        r"\b(?:makes?|gives?|leaves?) me (?:really |so |very |feel )?(?:sick|gag|ill|nauseous|queasy|anxious|itch|dizzy|uncomfortable|a headache|headaches|heartburn|hives|migraines?)\b",
        yes=("Olives make me sick.", "Red wine gives me a headache.", "Open offices make me anxious."),
        no=("Does milk make me sick?", "It made my dog sick.", "Olives make Leo sick."),
    ),
    _pattern(
        "inclination",
        "cho|decide|opt|settle|pick|went|going|commit|stick|switch",
        rf"{_I}(?:'ve| have)?(?: just| also| already| since| now| recently| finally)? (?:chosen|chose|decided|opted|settled on|picked|went with|going with|committed to|stick(?:ing)? (?:to|with)|switched to)\b",
        yes=(
            "I've chosen human interviews for the final round.",
            "I decided against microservices.",
            "We went with Postgres.",
        ),
        no=("Have I chosen a name?", "He's chosen a name.", "I haven't decided on a name."),
    ),
    _pattern(
        "inclination",
        "keep|avoid|minimi|stay|focus|priorit|limit|maintain|stick|preserv|protect|balance|it to be|them to be|something|for |things|hoping|aiming|leaning|hesitant",
        rf"{_I}(?:'d| would)? (?:really |also |still |just ){{0,2}}(?:like|want|need|hope|aim|try|plan)(?:s)? (?:to (?:keep|avoid|minimi[sz]e|stay|focus|prioriti[sz]e|limit|maintain|stick|preserve|protect|balance)|it to be|them to be|something|for \d|for something|things)\b"
        r"|(?<![\w'])(?:i'm|i am) (?:kinda |a bit |still )?(?:hoping|aiming|leaning|hesitant)\b",
        yes=(
            "I want to keep the bundle small.",
            "I'm hesitant to commit to long sagas.",
            "I'd like something light.",
            "I aim for 7 hours of sleep.",
        ),
        no=("Do I want to keep it?", "She wants to keep the bundle small."),
    ),
    _pattern(
        "denial",
        "never|n't| not |yet to|have no|new to",
        r"(?<![\w'])(?:i|we)(?:'ve| have| had|'d)?(?: also| actually| really| honestly| still| personally| literally){0,2} never\b|(?<![\w'])(?:i|we) (?:haven't|have not|hadn't|had not|didn't|did not|don't have|have no|have yet to|wasn't|was not|weren't)\b|(?<![\w'])(?:i|we)(?:'ve| have) (?:not|yet to)\b|(?<![\w'])(?:i'm|i am) (?:brand )?new to\b",
        yes=(
            "I've never met Michael.",
            "I have also never flown alone.",
            "We haven't used Redis.",
            "I have yet to see it.",
            "I didn't sign anything.",
        ),
        no=("Have I never met him?", "She has never met Michael.", "He's never been promoted.", "Didn't I sign it?"),
    ),
    _pattern(
        "change",
        "longer|these days|nowadays|more|now|as of|instead|used to|turns out|mind|correction|scrap|ditch|drop|abandon|revert|reschedul|postpone|cancel|replace|rename|relocat|grad|migrat|extend|bump|move|switch|change|swap|creas|reduc|update|raise|lower|grow|improve|gone|going|recently|since|just|wasn't|weren't|wrong|new |revised",
        r"\b(?:no longer|these days|nowadays|any ?more|from now on|as of (?:today|now|this)|instead of|used to|turns out|changed my mind|correction|scrapped?|ditched|dropped|abandon(?:ed)?|revert(?:ed)?|reschedul\w+|postponed|cancel(?:l)?ed|replaced|renamed|relocated|upgraded|downgraded|migrated|extended|bumped)\b"
        r"|\b(?:i|we|it|they|he|she)(?:'ve| have|'s| has|'re| are)?(?: now| just| since| recently| finally| already)? (?:moved|switched|changed|swapped|increased|decreased|reduced|updated|raised|lowered|grown|improved|gone|going)\b.{0,40}?\b(?:from|to|over|with|the|my|our|it)\b"
        r"|\b(?:is|are|has|have|was|were|been) (?:now|recently|since|just)\b|\bnow (?:is|at|has|have|been|reached|shows?|takes?|costs?|uses?|live|work|prefer)\b|\b(?:wasn't|weren't) (?:me|true|right|correct)\b|\bwas wrong\b|\b(?:new|increased|reduced|updated|revised) (?:budget|address|phone|number|date|deadline|goal|target|price|limit|plan|schedule|job|address)\b",
        yes=(
            "We moved sshd over to 49222.",
            "These days my favourite tea is rooibos.",
            "Scrapped Mongo, going with Postgres.",
            "That wasn't me, I have no nut allergy.",
            "The API now takes 250 ms.",
        ),
        no=("I like tea.", "We have a cat."),
    ),
)

NOT_FIRST_HAND = re.compile(
    r"(?:\b(?:do|did|does|should|would|could|can|might|will|if|whether|unless|said|says|say|thinks?|claims?|claimed|told|tells|"
    r"believes?|assumes?|assumed|have|had|am|are|was|were|pretend|imagine|suppose|wonder|quote|wrote|writes|says that|said that|"
    r"think that|heard that|means)\s+)$",
    re.IGNORECASE,
)
"""What, right before "I ...", makes it a question, a condition or somebody else's words."""

NOT_MEANT = re.compile(r"(?:\b(?:cannot|can not|never|not|didn't|won't)|n't)\s+$", re.IGNORECASE)
"""What, right before a withdrawal, turns it around ("don't forget what I said")."""

CANCELLED = re.compile(r"\b(?:no longer|used to|not really|once|didn't use to)\b", re.IGNORECASE)
"""What, inside or right before a statement, says that it no longer holds."""

ASKS = re.compile(r"^\W*(?:what|which|who|where|when|why|how|do|does|did|is|are|am|was|were|should|could|would|can|will|have|has)\b",
                  re.IGNORECASE)  # fmt: skip
"""How a question begins."""

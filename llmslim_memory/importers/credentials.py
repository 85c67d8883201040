"""What credentials look like: one rule a kind, each linear in time, each with a literal that most texts do not hold.

Shapes are those that the issuers document. A rule finds a candidate, and its check tells a key from a placeholder, a
hash or prose. Bare random-looking text is never a credential: ids, hashes and images look the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True)
class Rule:
    """How to find credentials of one kind: the pattern, whose first group is the secret, and what it must satisfy.

    ``anchors`` are literals, in lower case, one of which a match begins with, or holds where ``inside`` is set.
    ``unbroken`` is set where the whole match is one run of :data:`LONG_RUN`; other rules may name ``hints``, one of
    which the text must hold as well: fewer and shorter than the anchors.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    inside: bool = False
    unbroken: bool = True
    hints: tuple[str, ...] = ()


LONG_RUN = re.compile(r"[A-Za-z0-9_.~:+/=-]{20,}+")
"""What every token lies in. Prose has few such runs, so that most texts need no further look."""

_LEFT = r"(?<![A-Za-z0-9_-])"
_RIGHT = r"(?![A-Za-z0-9_-])"
# The last one is "1234567890" in the token that pages about JWT show.
_PLACEHOLDER = re.compile(
    r"example|your|x{4}|placeholder|change_?me|dummy|sample|\*{3}|\.{3}|redacted|0{8}|IxMjM0NTY3ODkw", re.I
)
_COUNTING = re.compile(r"12345|abcdef|0{4}|a{6}", re.I)
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
# A name, perhaps dotted, perhaps numbered: settings.api_key_2, secure-password-123, ed25519.Ed25519PrivateKey,
# auth0_client_secret.
_IDENTIFIER = re.compile(
    r"[A-Za-z_]++(?:[._-][A-Za-z]++)*[._-]?\d{0,4}|[A-Za-z_]\w{0,24}+(?:\.[A-Za-z_]\w{0,24}+)+"
    r"|[A-Za-z]{1,24}+\d{0,2}+(?:_[A-Za-z]{1,24}+\d{0,2}+)+"
)
# Words that stand in the place of a password: myredispassword, db_secret, secret-token.
_STAND_IN = re.compile(
    r"(?=.{0,60}?(?:passw(?:or)?d|secret|token))(?:(?:my|your|our|the|a|an|some|super|very|top|db|database|redis|"
    r"postgres|pg|mysql|mongo|rabbit|admin|root|user|app|api|auth|client|server|service|test|dev|prod|new|old|strong|secure|plain|secret|token|passw(?:or)?d|word|key|here|"
    r"value|name|goes)[_-]?){1,6}",
    re.I,
)
_TRIVIAL = frozenset(
    """
    password passwd pass pwd user username postgres root test admin secret guest nobody anonymous docs mysql example
    token login changeme foobar tiger
    """.split()  # noqa: SIM905  # a word list reads better
)


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(text)
    return -sum(count / total * log2(count / total) for count in Counter(text).values()) if total else 0.0


def _random(least: float) -> Callable[[str], bool]:
    return lambda secret: entropy(secret) >= least and not _PLACEHOLDER.search(secret)


def _mixed(least: float) -> Callable[[str], bool]:
    def check(secret: str) -> bool:
        mixed = _DIGIT.search(secret) and _LETTER.search(secret) and not _COUNTING.search(secret)
        return bool(mixed) and not _IDENTIFIER.fullmatch(secret) and _random(least)(secret)

    return check


def _is_password(secret: str) -> bool:
    trivial = secret.lower().rstrip("0123456789!") in _TRIVIAL or secret.isdigit() or _STAND_IN.fullmatch(secret)
    return len(secret) >= 3 and not trivial and not _PLACEHOLDER.search(secret) and len(set(secret)) > 2


def _token(kind: str, pattern: str, *anchors: str, least: float = 3.0, inside: bool = False) -> Rule:
    """A token of a shape of its own."""
    lowered = tuple(anchor.lower() for anchor in anchors)
    return Rule(kind, lowered, re.compile(_LEFT + "(" + pattern + ")" + _RIGHT), _random(least), inside)


def _named(kind: str, pattern: str, *anchors: str, check: Callable[[str], bool], hints: tuple[str, ...] = ()) -> Rule:
    """A secret that only the words before it give away."""
    return Rule(kind, anchors, re.compile(pattern, re.IGNORECASE), check, unbroken=False, hints=hints)


_NAMES = (
    *(("api", "key"), ("secret", "key"), ("private", "key"), ("signing", "key"), ("encryption", "key")),
    *(("access", "token"), ("auth", "token"), ("refresh", "token"), ("api", "token"), ("bot", "token")),
    *(("client", "secret"), ("webhook", "secret")),
)
_ASSIGNED = r"(?:[a-z]{3,10}[_-]?(?:key|token|secret)|passw(?:or)?d)"
_EQUALS = r"[\"'`]?\s{0,4}(?::=|=>|[:=])\s{0,4}"

RULES = (
    _token("anthropic", r"sk-ant-[a-z]{3,8}\d{2}-[A-Za-z0-9_-]{20,256}", "sk-ant-"),
    _token("openrouter", r"sk-or-v1-[0-9a-f]{64}", "sk-or-v1-"),
    _token(
        "openai",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,256}",
        "sk-proj-",
        "sk-svcacct-",
        "sk-admin-",
        "sk-none-",
    ),
    _token("openai", r"sk-[A-Za-z0-9]{10,64}T3BlbkFJ[A-Za-z0-9]{10,64}", "T3BlbkFJ", inside=True),
    _token("openai", r"sk-[A-Za-z0-9]{48}", "sk-", least=4.0),
    _token("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "akia", "asia", "abia", "acca"),
    _token("aws_bedrock", r"ABSK[A-Za-z0-9+/]{60,300}={0,2}", "absk"),
    _token("github", r"gh[pousr]_[A-Za-z0-9]{36,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_"),
    _token(
        "gitlab",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas|agent|imt|ffct)-[A-Za-z0-9_-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?",
        *(
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "gloas-",
            "glagent-",
            "glimt-",
            "glffct-",
        ),
    ),
    _token("slack", r"xox[abeoprs]-(?=[A-Za-z-]{0,250}\d)[A-Za-z0-9-]{10,250}", "xox"),
    _token("slack", r"xapp-\d-[A-Za-z0-9]{8,20}-\d{8,20}-[0-9a-f]{64}", "xapp-"),
    _named(
        "slack_webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,200})",
        "hooks.slack.com/",
        check=_random(3.0),
    ),
    _token("google_api_key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _token("google_oauth", r"GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,1000}", "gocspx-", "ya29."),
    _token(
        "stripe",
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,255}",
        *(f"{kind}k_{mode}_" for kind in "sr" for mode in ("live", "test", "prod")),
    ),
    _token("stripe", r"whsec_[A-Za-z0-9+/]{32,64}={0,2}", "whsec_"),
    _token("npm", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _token("pypi", r"pypi-AgE[A-Za-z0-9_-]{50,1000}", "pypi-age"),
    _token("huggingface", r"(?:hf_|api_org_)[A-Za-z]{34}", "hf_", "api_org_", least=3.5),
    _named(
        "azure_storage",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,88}={0,2})",
        "accountkey=",
        "sharedaccesskey=",
        check=_random(3.5),
    ),
    _named("azure_sas", r"[?&]sig=([A-Za-z0-9%+/=_-]{40,120})", "?sig=", "&sig=", check=_mixed(3.5)),
    _token("azure_client_secret", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", "q~", inside=True),
    _token("jwt", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+", "eyj"),
    _token("sendgrid", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", "sg."),
    Rule("twilio", ("sk", "ac"), re.compile("((?:SK|AC)[0-9a-f]{32})" + _RIGHT), _random(3.0), inside=True),
    _token("databricks", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi"),
    _token("digitalocean", r"do[opr]_v1_[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    Rule(
        "telegram_bot",
        (":aa",),
        re.compile(r"(?<![0-9A-Za-z_-])(\d{8,10}:AA[A-Za-z0-9_-]{33})" + _RIGHT),
        _random(3.0),
        inside=True,
    ),
    # Of its three dotted parts the last is the secret; the full stop before the second is what is quickly found.
    Rule(
        "discord_bot",
        (".",),
        re.compile(r"\.(?<=[A-Za-z0-9_-]{23}\.)[A-Za-z0-9_-]{6}\.([A-Za-z0-9_-]{27,38})" + _RIGHT),
        _mixed(4.0),
        inside=True,
    ),
    _token("shopify", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _token("vault", r"hv[sb]\.[A-Za-z0-9_-]{20,300}", "hvs.", "hvb."),
    _token("linear", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", "lin_"),
    _token("notion", r"ntn_[A-Za-z0-9]{40,60}", "ntn_"),
    _token("figma", r"figd_[A-Za-z0-9_-]{36,60}", "figd_"),
    _token("groq", r"gsk_[A-Za-z0-9]{40,64}", "gsk_"),
    _token("xai", r"xai-[A-Za-z0-9]{60,100}", "xai-"),
    _token("perplexity", r"pplx-[A-Za-z0-9]{40,64}", "pplx-"),
    _token("nvidia", r"nvapi-[A-Za-z0-9_-]{50,100}", "nvapi-"),
    _token("replicate", r"r8_[A-Za-z0-9]{37}", "r8_"),
    _token("doppler", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{40,60}", "dp."),
    _token("grafana", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}", "glsa_", "glc_"),
    _token("planetscale", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}", "pscale_"),
    _token("postman", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
    _token("onepassword", r"ops_eyJ[A-Za-z0-9+/]{100,2000}={0,2}", "ops_eyj"),
    _token("age", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "age-secret-key-1"),
    _token("sentry", r"sntry[su]_[A-Za-z0-9+/_]{40,500}={0,2}", "sntrys_", "sntryu_"),
    _token("supabase", r"sbp_[0-9a-f]{40}", "sbp_"),
    _token("heroku", r"HRKU-AA[A-Za-z0-9_-]{58}", "hrku-aa"),
    _token("fly", r"fm2_[A-Za-z0-9+/_-]{100,2000}={0,2}", "fm2_"),
    _named(
        "aws_secret_key",
        r"secret_?-?(?:access_?-?)?key" + _EQUALS + r"[\"'`]?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        *("secret_access_key", "secretaccesskey", "secret-access-key", "secret_key", "secretkey", "secret-key"),
        check=_mixed(4.0),
        hints=("key",),
    ),
    _named("bearer", r"\bbearer\s{1,4}([A-Za-z0-9._~+/-]{20,1024}={0,2})", "bearer", check=_mixed(3.2)),
    _named(
        "basic_auth",
        r"authorization[\"'`]?\s{0,4}[:=]\s{0,4}[\"'`]?basic\s{1,4}([A-Za-z0-9+/]{12,1024}={0,2})",
        "authorization",
        check=_random(2.5),
    ),
    _named(
        "url_password",
        r"://[^\s:@/?#\"'<>]{0,128}:([^\s@/<>{}$(\"']{1,256})@(?=[A-Za-z0-9\[])",
        "://",
        check=_is_password,
    ),
    _named(
        "assigned_secret",
        _ASSIGNED + _EQUALS + r"[\"'`]?([!#%*+./0-9:=?@A-Z^_a-z|~-]{16,200}+)(?![(\[{$])",
        *(f"{name}{joint}{noun}" for name, noun in _NAMES for joint in ("_", "-", "")),
        "password",
        "passwd",
        check=_mixed(3.5),
        hints=("key", "token", "secret", "passw"),
    ),
)
"""The rules, the more telling kinds first: where two find the same stretch, the first names it."""

"""Credentials are replaced by kind before anything is stored; what merely looks like one stays.

Tokens are put together at run time, so that nothing in this file looks like a credential to a scanner.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from hashlib import sha1, sha256, sha512
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmslim_memory.importers.credentials import RULES, Rule
from llmslim_memory.importers.redact import redact
from tests.importers.helpers import contents, document, imported, lines, message, new_memory, turns
from tests.importers.test_chatgpt import conversation as chatgpt

ALNUM = string.ascii_letters + string.digits
WORDS = ALNUM + "_-"
HEX = "0123456789abcdef"
RANDOM = random.Random(7)


def pick(alphabet: str, count: int) -> str:
    """Random characters, at least one of each kind that the alphabet has."""
    kinds = [kind for kind in (string.digits, string.ascii_letters) if set(kind) & set(alphabet)]
    while True:
        text = "".join(RANDOM.choice(alphabet) for _ in range(count))
        if count < 8 or all(set(kind) & set(text) for kind in kinds):
            return text


def base64_of(count: int) -> str:
    return base64.b64encode(RANDOM.randbytes(count)).decode()


PEM = "\n".join(base64_of(48) for _ in range(12))
BEGIN, END = "-----BEGIN {}PRIVATE" + " KEY-----", "-----END {}PRIVATE" + " KEY-----"

TOKENS = {
    "private_key": [
        BEGIN.format("OPENSSH ") + "\n" + PEM + "\n" + END.format("OPENSSH "),
        BEGIN.format("RSA ") + "\\n" + PEM.replace("\n", "\\n") + "\\n" + END.format("RSA "),
        BEGIN.format("") + "\n" + PEM,
    ],
    "anthropic": ["sk-ant-" + "api03-" + pick(WORDS, 93) + "AA", "sk-ant-" + "admin01-" + pick(WORDS, 80)],
    "openrouter": ["sk-or-" + "v1-" + pick(HEX, 64)],
    "openai": [
        "sk-" + "proj-" + pick(WORDS, 74) + "T3Blbk" + "FJ" + pick(WORDS, 74),
        "sk-" + "svcacct-" + pick(WORDS, 60),
        "sk-" + pick(ALNUM, 20) + "T3Blbk" + "FJ" + pick(ALNUM, 20),
    ],
    "aws_access_key": [
        "AKIA" + pick(string.ascii_uppercase + "234567", 16),
        "ASIA" + pick(string.ascii_uppercase + "234567", 16),
    ],
    "aws_bedrock": ["ABSK" + base64_of(90).rstrip("=")],
    "github": ["gh" + kind + "_" + pick(ALNUM, 36) for kind in "pousr"]
    + ["github_" + "pat_" + pick(ALNUM, 22) + "_" + pick(ALNUM, 59)],
    "gitlab": [
        "glpat" + "-" + pick(WORDS[:-1], 20),
        "glrt" + "-" + pick(ALNUM, 27) + ".01." + pick("0123456789abcdefghij", 9),
    ],
    "slack": [
        "xoxb" + "-" + pick("0123456789", 12) + "-" + pick(ALNUM, 24),
        "xapp" + "-1-A" + pick(ALNUM, 10) + "-" + pick("0123456789", 13) + "-" + pick(HEX, 64),
    ],
    "google_api_key": ["AIza" + pick(WORDS, 35)],
    "google_oauth": ["GOCSPX" + "-" + pick(WORDS, 28), "ya29" + "." + pick(WORDS, 120)],
    "stripe": [f"{kind}k_" + f"{mode}_" + pick(ALNUM, 24) for kind in "sr" for mode in ("live", "test")]
    + ["wh" + "sec_" + pick(ALNUM, 32)],
    "npm": ["npm" + "_" + pick(ALNUM, 36)],
    "pypi": ["pypi" + "-AgEIcHlwaS5vcmc" + pick(WORDS, 120)],
    "huggingface": ["hf" + "_" + pick(string.ascii_letters, 34)],
    "azure_client_secret": [pick(ALNUM, 3) + "8Q" + "~" + pick(ALNUM, 34)],
    "jwt": [".".join("eyJ" + pick(WORDS, 30) for _ in range(2)) + "." + pick(WORDS, 43)],
    "sendgrid": ["SG" + "." + pick(WORDS, 22) + "." + pick(WORDS, 43)],
    "twilio": ["SK" + pick(HEX, 32)],
    "databricks": ["dapi" + pick(HEX, 32)],
    "digitalocean": ["dop" + "_v1_" + pick(HEX, 64)],
    "telegram_bot": [pick("123456789", 10) + ":AA" + pick(WORDS, 33)],
    "shopify": ["shpat" + "_" + pick(HEX, 32)],
    "vault": ["hvs" + "." + pick(WORDS, 90)],
    "linear": ["lin" + "_api_" + pick(ALNUM, 40)],
    "notion": ["ntn" + "_" + pick(ALNUM, 46)],
    "figma": ["figd" + "_" + pick(WORDS, 40)],
    "groq": ["gsk" + "_" + pick(ALNUM, 52)],
    "xai": ["xai" + "-" + pick(ALNUM, 80)],
    "perplexity": ["pplx" + "-" + pick(ALNUM, 48)],
    "nvidia": ["nvapi" + "-" + pick(WORDS, 64)],
    "replicate": ["r8" + "_" + pick(ALNUM, 37)],
    "doppler": ["dp" + ".pt." + pick(ALNUM, 43)],
    "grafana": ["glsa" + "_" + pick(ALNUM, 32) + "_" + pick(HEX, 8), "glc" + "_" + pick(ALNUM, 60)],
    "planetscale": ["pscale" + "_tkn_" + pick(WORDS, 43)],
    "postman": ["PMAK" + "-" + pick(HEX, 24) + "-" + pick(HEX, 34)],
    "onepassword": ["ops" + "_eyJ" + pick(ALNUM, 250)],
    "age": ["AGE-SECRET" + "-KEY-1" + pick(string.ascii_uppercase + string.digits, 58)],
    "sentry": ["sntrys" + "_" + pick(ALNUM, 120)],
    "supabase": ["sbp" + "_" + pick(HEX, 40)],
    "heroku": ["HRKU" + "-AA" + pick(WORDS, 58)],
    "fly": ["fm2" + "_" + pick(ALNUM, 160)],
}
IN_CONTEXT = {
    "slack_webhook": (
        "https://hooks.slack.com" + "/services/",
        "T0" + pick(ALNUM, 9) + "/B0" + pick(ALNUM, 9) + "/" + pick(ALNUM, 24),
    ),
    "azure_storage": ("DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=", base64_of(64)),
    "azure_sas": (
        "https://x.blob.core.windows.net/c?sv=2024&sig" + "=",
        pick(ALNUM, 40) + "%2F" + pick(ALNUM, 10) + "%3D",
    ),
    "discord_bot": ("M" + pick(ALNUM, 25) + "." + pick(WORDS, 6) + ".", pick(ALNUM, 38)),
    "aws_secret_key": ("aws_secret_access" + "_key = ", pick(ALNUM + "+/", 40)),
    "bearer": ("Authorization: Bear" + "er ", pick(ALNUM, 40)),
    "basic_auth": ("Authorization: Bas" + "ic ", base64.b64encode(b"ann:" + pick(ALNUM, 14).encode()).decode()),
    "url_password": ("postgresql://app:", pick(ALNUM, 16)),
    "assigned_secret": ("OPENWEATHER_API" + "_KEY=", pick(ALNUM, 32)),
}
ENDINGS = {"url_password": "@db.example/app"}
CASES = [(kind, "", token, "") for kind, tokens in TOKENS.items() for token in tokens]
CASES += [(kind, before, token, ENDINGS.get(kind, "")) for kind, (before, token) in IN_CONTEXT.items()]


def test_every_kind_has_an_example() -> None:
    assert {kind for kind, *_ in CASES} == {rule.kind for rule in RULES} | {"private_key"}


@pytest.mark.parametrize(("kind", "before", "token", "after"), CASES, ids=lambda value: str(value)[:14])
@pytest.mark.parametrize(
    "around", ["{}", "Use {} please.", 'x = "{}"', "({}),", "{{'k': '{}'}}", "first line\n{}\nlast line", "日本{}語"]
)
def test_a_credential_is_replaced_and_the_words_around_it_stay(
    kind: str, before: str, token: str, after: str, around: str
) -> None:
    text = around.format(before + token + after)
    clean, found = redact(text)
    assert token not in clean
    assert clean.replace(f"[REDACTED:{kind}]", token) == text
    assert found == {kind: 1}
    assert redact(clean) == (clean, {})


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-... and sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and sk-learn",
        "the task-proj-alpha-beta-gamma-delta-epsilon-zeta branch",
        "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "glpat-your-token-goes-in-here and xoxb-your-token-here",
        "npm_config_registry=https and pypi-server and hf_hub_download(repo)",
        "pk_live_51HabcDEF0123456789abcdEFGH is publishable",
        "AccountKey=<key> and ?sig=... and AIzaSy...",
        "eyJhbGciOi... is a header alone: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "Bearer token authentication is required, send Bearer <token> or Bearer $TOKEN",
        "basic authentication, then Authorization: Basic auth",
        "postgres://user:password@localhost and redis://:test@cache and https://x:8080/a@2x.png ssh://git@host:22/",
        "api_key = os.environ['OPENAI_API_KEY'] and password = getpass.getpass('Password: ')",
        "password: {{ vault_database_password }} and secret_key = settings.SECRET_KEY_2 and ${API_KEY_PRODUCTION}",
        "private_key: ed25519.Ed25519PrivateKey, password reset link expires tomorrow",
        "client_secret=my-super-secret-client-value, api_key: YOUR_API_KEY_1234567890",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "the line -----BEGIN RSA PRIVATE " + "KEY----- starts a key, and then comes the body of it",
        "client_secret=auth0_client_secret, api_token: oauth2_access_token_v2",
        "url: 'redis://:myredispassword@localhost:6379' and amqp://app:db_secret@queue",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwp",
        "the wifi password is tulip-44",
        "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy",
        "file-8Xb2kP0qLmN4vR7tY9wZ3a g-p-67f1c2d3e4a5b6c7d8e9f0a1b2c3d4e5",
        "[REDACTED:github] and password=[REDACTED:assigned_secret]",
    ],
)
def test_what_merely_looks_like_a_credential_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "secret", ["mygranssecretrecipe", "correct-horse-secret", "tokenofmyaffection", "MyDogsSecretName"]
)
def test_a_password_that_has_a_word_for_passwords_in_it_is_one(secret: str) -> None:
    clean, found = redact(f"postgres://app:{secret}@db.example/app")
    assert secret not in clean
    assert found == {"url_password": 1}


def prose_and_code(size: int) -> str:
    """Ordinary text with everything in it that is random and no secret."""
    chance = random.Random(11)
    words = (  # noqa: SIM905  # a sentence reads better
        "the quick server returns a token count for each key in the cache and the password field stays empty"
    ).split()
    made = {
        "uuid": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        "git": lambda: sha1(chance.randbytes(9)).hexdigest(),
        "hash": lambda: sha256(chance.randbytes(9)).hexdigest(),
        "lock": lambda: '"integrity": "sha512-' + base64.b64encode(sha512(chance.randbytes(9)).digest()).decode() + '"',
        "image": lambda: (
            "data:image/png;base64," + base64.b64encode(chance.randbytes(chance.randint(60, 900))).decode()
        ),
        "url": lambda: f"https://docs.example/{'/'.join(chance.sample(words, 3))}?page={chance.randint(1, 99)}#key",
        "call": lambda: f"client.get_secret_value(name='{chance.choice(words)}_key_{chance.randint(1, 999)}')",
        "code": lambda: (
            f"def load_{chance.choice(words)}(api_key: str, *, token_limit: int = {chance.randint(1, 9999)}) -> bytes:"
        ),
        "env": lambda: f"export DATABASE_PASSWORD=${{{chance.choice(words).upper()}_PASSWORD}}",
        "json": lambda: json.dumps({"id": chance.getrandbits(60), "token_type": "bearer", "next_page_token": ""}),
        "prose": lambda: " ".join(chance.choices(words, k=14)).capitalize() + ".",
        "lorem": lambda: (
            "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore."
        ),
    }
    lines_made: list[str] = []
    total = 0
    while total < size:
        lines_made.append(made[chance.choice(list(made))]())
        total += len(lines_made[-1]) + 1
    return "\n".join(lines_made)


def test_a_megabyte_of_ordinary_code_and_prose_holds_no_credential() -> None:
    text = prose_and_code(1_000_000)
    assert redact(text)[1] == {}


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=300) | st.text("skghp_-AKIA:/@=.eyJBearer 0\n", max_size=300))
def test_redaction_never_fails_and_changes_nothing_the_second_time(text: str) -> None:
    once, _ = redact(text)
    assert redact(once)[0] == once


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN RSA PRIVATE " + "KEY-----",
        "-----BEGIN RSA PRIVATE " + "KEY-----\n-----END",
        "password=",
        "api_key: ",
        "sk-ant-",
        "sk-ant-api03-",
        "eyJ",
        "eyJaaaaaaaa.",
        ".eyJaaaaaaaa",
        "://",
        "://a:",
        "://:@",
        "Bearer ",
        "bearer a1",
        "Authorization: Basic ",
        "xoxb-",
        "M.aaaaaa.",
        "ghp_",
        "aws_secret_access_key = ",
        "a",
        "A1",
        "=",
        "token_",
        "hooks.slack.com/services/",
        "?sig=",
        "İ",
        "12345678:AA",
        "fm2_/",
        "ops_eyJ+",
        "8Q~",
    ],
)
def test_a_megabyte_of_what_begins_like_a_credential_ends(unit: str) -> None:
    # With a pattern whose time grew with the square of the text this would take hours.
    clean, _ = redact(unit * (1_000_000 // len(unit)))
    assert clean


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_no_rule_takes_time_that_grows_with_the_square(rule: Rule) -> None:
    size = 30_000
    for anchor in rule.anchors:
        for unit in (anchor, f"{anchor}A1", f"{anchor} ", f"{anchor}."):
            assert redact(unit * (size // len(unit)))[0]
        for filling in ("A1b", "Zq8_", "/+a9", "a.", "=", "-----"):
            assert redact(anchor + filling * (size // len(filling)))[0]


# In an import


SECRET = TOKENS["github"][0]


def test_credentials_are_replaced_and_counted_before_anything_is_stored(tmp_path: Path) -> None:
    memory = new_memory()
    path = document(tmp_path / "c.json", [chatgpt(f"deploy with {SECRET} now", "done")])
    report = imported(path, memory)
    assert contents(memory) == ["deploy with [REDACTED:github] now", "done"]
    assert report.redactions == {"github": 1}
    assert SECRET not in json.dumps([item.to_dict() for item in turns(memory)])


def test_a_credential_split_over_parts_is_not_put_together_unseen(tmp_path: Path) -> None:
    pem = TOKENS["private_key"][0]
    memory = new_memory()
    imported(lines(tmp_path / "a.jsonl", [message([pem[:200], pem[200:]])]), memory)
    assert pem[220:300] not in contents(memory)[0]


def test_credentials_in_titles_and_metadata_are_replaced(tmp_path: Path) -> None:
    memory = new_memory()
    talk = chatgpt("hi") | {"title": f"Key {SECRET}"}
    fact = {"id": "f", "memory": "x", "user_id": "a", "metadata": {"deep": [{"note": SECRET}]}}
    document(tmp_path / "a.json", [talk])
    document(tmp_path / "b.json", [fact])
    report = imported(tmp_path, memory)
    stored = json.dumps([item.to_dict() for item in turns(memory)]) + json.dumps(report.to_dict())
    assert SECRET not in stored
    assert report.redactions == {"github": 2}


def test_credentials_in_ids_and_names_of_fields_are_replaced(tmp_path: Path) -> None:
    memory = new_memory()
    lines(tmp_path / "a.jsonl", [message("x", id=SECRET, session_id=SECRET)])
    document(tmp_path / "b.json", [{"id": SECRET, "memory": "x", "user_id": "a", "metadata": {SECRET: [{SECRET: 1}]}}])
    for name in ("a.jsonl", "b.json"):
        imported(tmp_path / name, memory)
    assert len(turns(memory)) == 2
    assert SECRET not in json.dumps([item.to_dict() for item in turns(memory)])


def test_nothing_is_replaced_where_that_is_asked_for(tmp_path: Path) -> None:
    memory = new_memory()
    path = document(tmp_path / "c.json", [chatgpt(f"deploy with {SECRET} now")])
    assert imported(path, memory, redact=False).redactions == {}
    assert SECRET in contents(memory)[0]


@pytest.mark.parametrize("first", [True, False])
def test_importing_again_with_the_other_setting_stores_nothing_twice(tmp_path: Path, first: bool) -> None:
    memory = new_memory()
    path = document(tmp_path / "c.json", [chatgpt(f"deploy with {SECRET} now")])
    imported(path, memory, redact=first)
    assert imported(path, memory, redact=not first).duplicates == 1


def test_the_user_asked_for_a_dry_run_sees_what_would_be_replaced(tmp_path: Path) -> None:
    path = document(tmp_path / "c.json", [chatgpt(f"deploy with {SECRET} now")])
    assert imported(path, dry_run=True).redactions == {"github": 1}

"""The rules that find secrets: token formats by their marks, assignments, keys in URLs, PEM.

A rule is tried only on text that holds one of its hints. Every pattern begins with a literal and
goes on over one class of characters, so that none can hang on a hostile text. A pattern's group
named `secret` is what is replaced; without it the whole match is. Formats are those of the
issuers' documentation; hex without a mark is never taken for a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from fsagent.workspace.secrets.randomness import is_mixed


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One kind of secret. `check` sees what is to be replaced; `wraps`: it may go over a line break.

    The pattern is compiled when a text first holds a hint of it.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] | None = None
    wraps: bool = True

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the text holds this kind of secret."""
        pattern = _compiled(self.pattern)
        group = "secret" if "secret" in pattern.groupindex else 0
        at = 0
        while match := pattern.search(text, at):
            if self.check is None or self.check(match[group]):
                yield match.span(group)
                at = match.end()
            else:
                # What was refused may hold another: `password = DB_PASSWORD=...`.
                at = max(match.start(group), match.start() + 1)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _token(
    kind: str, pattern: str, *hints: str, check: Callable[[str], bool] | None = None
) -> Rule:
    # A token ends where its class does: a longer run is another thing.
    return Rule(kind, hints, rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", check)


_TOKENS = (
    _token("anthropic key", r"sk-ant-[\w-]{20,300}", "sk-ant-"),
    _token("openai key", r"sk-[\w-]{20,300}", "sk-", check=is_mixed),
    _token(
        "aws access key", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "A3T", "AKIA", "ASIA",
        "ABIA", "ACCA",
    ),
    _token("github token", r"gh[pousr]_[A-Za-z0-9]{36,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github token", r"github_pat_\w{22,255}", "github_pat_"),
    _token(
        "gitlab token",
        r"(?:gl(?:pat|ptt|dt|rt|rtr|cbt|ft|imt|agent|oas|soat|ffct|wt)-|GR1348941)[\w.-]{20,300}",
        "gl", "GR1348941", check=is_mixed,
    ),
    _token("slack token", r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,300}", "xox"),
    _token("slack token", r"xapp-\d-[A-Za-z0-9-]{20,200}", "xapp-"),
    _token("slack webhook", r"https://hooks\.slack\.com/[a-z]+/[\w/+-]{20,200}", "hooks.slack.com"),
    _token("stripe key", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}", "k_live_", "k_test_", "k_prod_"),
    _token("stripe key", r"whsec_[A-Za-z0-9+/]{24,100}", "whsec_"),
    _token("google key", r"AIza[\w-]{35}", "AIza"),
    _token("google token", r"ya29\.[\w.-]{20,400}", "ya29."),
    _token("google secret", r"GOCSPX-[\w-]{28}", "GOCSPX-"),
    _token("npm token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _token("pypi token", r"pypi-[\w-]{50,300}", "pypi-"),
    _token("twilio key", r"SK[0-9a-f]{32}", "SK"),
    _token("sendgrid key", r"SG\.[\w-]{16,32}\.[\w-]{32,64}", "SG."),
    _token("mailgun key", r"key-[0-9a-f]{32}", "key-"),
    _token("mailchimp key", r"[0-9a-f]{32}-us\d{1,2}", "-us"),
    _token("huggingface token", r"(?:hf_|api_org_)[A-Za-z0-9]{30,50}", "hf_", "api_org_"),
    _token("telegram token", r"\d{8,10}:AA[\w-]{33}", ":AA"),
    _token("discord webhook", r"https://\w*\.?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,100}", "/webhooks/"),
    _token("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}", "_v1_"),
    _token("shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _token("groq key", r"gsk_[A-Za-z0-9]{40,80}", "gsk_"),
    _token("xai key", r"xai-[A-Za-z0-9]{60,100}", "xai-"),
    _token("perplexity key", r"pplx-[A-Za-z0-9]{40,60}", "pplx-"),
    _token("replicate token", r"r8_[A-Za-z0-9]{37}", "r8_"),
    _token("databricks token", r"dapi[0-9a-f]{32}", "dapi"),
    _token("vault token", r"hv[sbr]\.[\w-]{24,300}", "hvs.", "hvb.", "hvr."),
    _token("notion token", r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,60})", "secret_", "ntn_"),
    _token("linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,80}", "lin_"),
    _token("atlassian token", r"ATATT3[\w=-]{60,300}", "ATATT3"),
    _token("docker token", r"dckr_(?:pat|oat)_[\w-]{27,60}", "dckr_"),
    _token("rubygems key", r"rubygems_[0-9a-f]{48}", "rubygems_"),
    _token("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-"),
    _token("airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat"),
    _token("new relic key", r"NRAK-[A-Z0-9]{27}", "NRAK-"),
    _token("sentry token", r"sntry[su]_[\w+/=-]{40,300}", "sntry"),
    _token("grafana token", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}", "glsa_"),
    _token("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "AGE-SECRET-KEY-"),
    _token("jwt", r"eyJ[\w-]{10,4000}\.[\w-]{4,8000}(?:\.[\w-]{0,4000}){1,3}", "eyJ"),
)  # fmt: skip

_PLACEHOLDER = re.compile(
    r"[\W_]*(?:x{3,}|\*+|\.{2,}|your|my[_ -]|change|example|dummy|placeholder|redacted|removed|"
    r"(?:none|null|true|false)\b|test$|password$|passwd$|pass$|pwd$|secret$|user$)|.*(?:password|passwd|secret|token|"
    r"_key|example|changeme)|[$%{<\[(&#~/.*-]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[(\[]",
    re.I | re.S,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_ADDRESS = re.compile(
    r"[\w./-]+\.\w{2,5}:\d+:?|[\w.+-]+@[\w-]+\.[\w.-]+|[a-z][a-z0-9+.-]*://.*|\d+(?:\.\d+)+", re.I
)


def is_password(value: str) -> bool:
    """Say whether what is assigned to a password looks drawn or thought out: letters and digits."""
    if len(value) < 8 or _is_plain(value):
        return False
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def is_key(value: str) -> bool:
    """Say whether what is assigned to a key or token looks drawn: long, letters and digits, no names."""
    return len(value) >= 16 and value.isascii() and not _is_plain(value) and is_mixed(value)


def is_real(value: str) -> bool:
    """Say whether a password in a URL is one, and no placeholder."""
    return not _PLACEHOLDER.match(value)


def _is_plain(value: str) -> bool:
    return bool(_PLACEHOLDER.match(value) or _DATE.fullmatch(value) or _ADDRESS.fullmatch(value))


_ASSIGNED = r"""[\\"'`\])]{0,3}[ \t]{0,3}(?::=|=>|[:=：＝])[ \t]{0,3}[\\"'`]{0,3}(?P<secret>[^\s"'`,;<>\\]{8,300})"""
_PASSWORD = (
    "passw", "passp", "passc", "pwd", "kennwort", "contrase", "mot de passe", "senha", "wachtwoord",
    "пароль", "密码", "密碼", "パスワード", "비밀번호",
)  # fmt: skip
_KEY = ("token", "secret", "key", "credential")
_PASSWORD_WORDS = (
    "passwords?|passwd|passphrase|passcode|passwort|pwd|kennwort|contraseña|mot de passe|senha|"
    "wachtwoord|пароль|密码|密碼|パスワード|비밀번호"
)
_KEY_WORDS = (
    r"token|secret|credentials?|(?:api|access|account|auth|client|encryption|master|private|secret|"
    r"shared|signing|ssh|webhook)[ _-]?key|apikey"
)
_BASE64_LINES = r"(?:[A-Za-z0-9+/=]{16,80}\s*\r?\n)"

LOOSE: tuple[Rule, ...] = (
    Rule(
        "password", _PASSWORD, rf"(?i)(?:{_PASSWORD_WORDS})[\w-]{{0,20}}{_ASSIGNED}",
        is_password, wraps=False,
    ),
    Rule(
        "key", _KEY, rf"(?i)(?:{_KEY_WORDS})[\w-]{{0,20}}{_ASSIGNED}",
        is_key, wraps=False,
    ),
    Rule(
        "authorization", ("authorization",),
        r"""(?i)authorization[\\"']{0,3}\s{0,3}[:=]\s{0,3}[\\"']{0,3}(?:[a-z]{3,12}\s{1,3})?"""
        r"""(?P<secret>[^\s"'<>\\]{12,4000})""",
        is_real, wraps=False,
    ),
    Rule(
        "authorization", ("bearer",),
        r"(?i)bearer\s{1,3}(?P<secret>[\w.~+/=-]{20,4000})", is_mixed, wraps=False,
    ),
)  # fmt: skip
"""Rules whose hints are words in any case: they are looked for in the lower-cased text."""

RULES: tuple[Rule, ...] = (
    *_TOKENS,
    Rule(
        "private key", ("PRIVATE KEY",),
        (
            r"-----BEGIN (?P<what>[A-Z0-9 ]{0,20})PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:(?!-----BEGIN)[\s\S]){0,8000}?-----END (?P=what)PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:\s|\\[nr]|\d{1,6}[:-] |(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*|[A-Za-z0-9+/=]{16,})*)"
        ),
        wraps=False,
    ),
    Rule(
        "private key", ("PRIVATE KEY",),
        _BASE64_LINES + r"{1,200}-----END [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----",
        wraps=False,
    ),
    Rule(
        "password", ("://",),
        r"""://[^\s:/@"'<>]{0,100}:(?P<secret>[^\s/"'<>]{1,300})@""",
        is_real, wraps=False,
    ),
    Rule(
        "azure key", ("AccountKey=",), r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
        wraps=False,
    ),
    Rule(
        "signature", ("sig=", "Signature="),
        r"[?&](?:sig|X-Amz-Signature)=(?P<secret>[A-Za-z0-9%+/=]{30,200})", wraps=False,
    ),
    Rule(
        "key", ("token=", "key=", "secret=", "code="),
        r"[?&#](?:access_|refresh_|id_|auth_)?(?:token|api_?key|key|secret|code)=(?P<secret>[\w.~%+/-]{16,2000})",
        is_mixed, wraps=False,
    ),
)  # fmt: skip
"""Rules whose hints stand in the text as they are."""

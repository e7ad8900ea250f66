"""Made-up secrets of sixty forms, and two thousand lines that hold none; nothing here is a key.

Each secret is drawn when a test runs, so that the repository holds no text a scanner would take
for a real one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator

WORD = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
URL = WORD + "-_"
HEX = string.digits + "abcdef"

Draw = Callable[[str, int], str]
Secret = tuple[str, str]
"""A text that holds a secret, and the part of it that must not be kept."""


def sixty_secrets(seed: int = 7) -> dict[str, Secret]:
    """Return sixty secrets by name."""
    chance = random.Random(seed)

    def draw(letters: str, count: int) -> str:
        return "".join(chance.choice(letters) for _ in range(count))

    made = {**_tokens(draw), **_more_tokens(draw), **_assigned(draw), **_wrapped(draw)}
    assert len(made) == 60, len(made)
    return made


def _said(token: str) -> Secret:
    return f"Here it is: {token} please use it.", token


def _tokens(draw: Draw) -> dict[str, Secret]:
    forms = {
        "openai": "sk-" + draw(WORD, 48),
        "openai project": "sk-proj-" + draw(URL, 120) + "9aZ",
        "openai service": "sk-svcacct-" + draw(URL, 60) + "9aZ",
        "anthropic": "sk-ant-api03-" + draw(URL, 93) + "AA",
        "openrouter": "sk-or-v1-" + draw(HEX, 64),
        "deepseek": "sk-" + draw(HEX, 32),
        "aws id": "AKIA" + draw(string.ascii_uppercase + "234567", 16),
        "aws session id": "ASIA" + draw(string.ascii_uppercase + "234567", 16),
        "github classic": "ghp_" + draw(WORD, 36),
        "github oauth": "gho_" + draw(WORD, 36),
        "github user": "ghu_" + draw(WORD, 36),
        "github server": "ghs_" + draw(WORD, 36),
        "github refresh": "ghr_" + draw(WORD, 76),
        "github fine": "github_pat_" + draw(WORD, 22) + "_" + draw(WORD, 59),
        "gitlab": "glpat-" + draw(URL, 18) + "x9",
        "gitlab deploy": "gldt-" + draw(URL, 18) + "x9",
        "slack bot": "xoxb-" + draw(string.digits, 12) + "-" + draw(WORD, 24),
        "slack user": "xoxp-" + draw(string.digits, 12) + "-" + draw(HEX, 32),
        "slack app": "xapp-1-A"
        + draw(UPPER, 10)
        + "-"
        + draw(string.digits, 13)
        + "-"
        + draw(HEX, 64),
        "stripe live": "sk_live_" + draw(WORD, 24),
        "stripe restricted": "rk_live_" + draw(WORD, 24),
        "stripe webhook": "whsec_" + draw(WORD, 32),
    }
    return {name: _said(token) for name, token in forms.items()}


def _more_tokens(draw: Draw) -> dict[str, Secret]:
    hook = "https://hooks.slack.com/services/T" + draw(UPPER, 8) + "/B" + draw(UPPER, 8)
    forms = {
        "slack hook": f"{hook}/{draw(WORD, 24)}",
        "google": "AIza" + draw(URL, 34) + "x",
        "google oauth": "ya29." + draw(URL, 100) + "x",
        "google client": "GOCSPX-" + draw(URL, 27) + "x",
        "npm": "npm_" + draw(WORD, 36),
        "pypi": "pypi-AgEIcHlwaS5vcmc" + draw(URL, 140) + "x",
        "twilio": "SK" + draw(HEX, 32),
        "sendgrid": "SG." + draw(URL, 22) + "." + draw(URL, 42) + "x",
        "mailgun": "key-" + draw(HEX, 32),
        "mailchimp": draw(HEX, 32) + "-us14",
        "huggingface": "hf_" + draw(WORD, 34),
        "telegram": draw("123456789", 10) + ":AA" + draw(URL, 32) + "x",
        "digitalocean": "dop_v1_" + draw(HEX, 64),
        "shopify": "shpat_" + draw(HEX, 32),
        "groq": "gsk_" + draw(WORD, 52),
        "vault": "hvs." + draw(URL, 94) + "x",
        "databricks": "dapi" + draw(HEX, 32),
        "docker": "dckr_pat_" + draw(URL, 26) + "x",
        "jwt": ".".join(
            [
                _base64url({"alg": "HS256", "typ": "JWT"}),
                _base64url({"sub": draw(string.digits, 10), "name": "Ann"}),
                draw(WORD, 43),
            ]
        ),
        "drawn 40": draw(WORD, 38) + "a7",
        "drawn base64": draw(WORD + "+/", 42) + "9=",
        "drawn lower": draw(LOWER, 46) + "b8",
        "drawn 64": draw(WORD, 62) + "c9",
    }  # fmt: skip
    return {name: _said(token) for name, token in forms.items()}


def _assigned(draw: Draw) -> dict[str, Secret]:
    password, key, token = draw(WORD, 9) + "4x", draw(LOWER, 18) + "q7", draw(HEX, 40)
    aws = draw(WORD + "/+", 38) + "x9"
    return {
        "password =": (f"DB_PASSWORD={password}", password),
        "password:": (f"the login is ann, password: {password}, use it", password),
        "password json": (json.dumps({"user": "ann", "password": password}), password),
        "api_key yaml": (f'api_key: "{key}"', key),
        "token hex": (f"auth_token = '{token}'", token),
        "aws secret": (f"aws_secret_access_key = {aws}", aws),
        "url": (f"postgres://ann:{password}@db.example.org:5432/memory", password),
        "redis url": (f"set REDIS_URL to redis://:{password}@localhost:6379/0", password),
        "bearer": (f'curl -H "Authorization: Bearer {key}{token}" https://api.test', key + token),
        "basic": (f"Authorization: Basic {base64.b64encode(f'ann:{password}'.encode()).decode()}",
                  base64.b64encode(f"ann:{password}".encode()).decode()),
        "passwort": (f"Das Passwort: {password} gilt ab Montag", password),
    }  # fmt: skip


def _wrapped(draw: Draw) -> dict[str, Secret]:
    body = [draw(WORD + "+/", 64) for _ in range(12)]
    pem = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])
    escaped = json.dumps({"private_key": pem.replace("RSA ", "")})
    github, key = "ghp_" + draw(WORD, 36), draw(WORD, 46) + "a1"
    return {
        "pem": (f"My key:\n{pem}\nKeep it safe.", body[5]),
        "pem in json": (escaped, body[7]),
        "over a line": (f"the token is {github[:20]}\n{github[20:]} as printed", github[20:]),
        "cut at 60": (f"key sk-{key}\n{draw(WORD, 30)}B3c\nThat is all.", key),
    }


def _base64url(value: object) -> str:
    data = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


SENTENCES = (
    "I went to the lake with Biscuit, it was windy and he chased the ducks.",
    "Remember that I prefer tea to coffee, and that my sister lives in Porto.",
    "The password for the garden shed is written on the back of the calendar.",
    "My secret recipe: two eggs, flour, butter, and a token of love.",
    "The key: be patient, and call the office on 2026-11-29 at 13:56.",
    "- Lives in Beijing. [2026-11-29:14]",
    "- Has a dog called Biscuit. [archival/notes/dogs.md:3], [2026-11-29:14-16]",
    "我住在北京，我的狗叫饼干，它喜欢在湖边追鸭子，昨天我们一起去了颐和园散步看日落非常开心。",
    "密码：请问王先生；パスワード：秘密です。昨日は雨でした、でも散歩に行きました。",
    "비밀번호: 관리자에게 문의하세요. 어제는 비가 왔지만 산책을 갔어요.",
    "password: see the safe, api_key: YOUR_API_KEY_HERE, token=$TOKEN, secret: ${SECRET}",
    "password = os.environ['DB_PASSWORD2']  # never in the file",
    "def get_user_by_id_and_token_v2(token: str, api_key: str = settings.api_key2) -> None:",
    "The class MyVeryLongHandlerFactoryForTesting2024 calls getUserByIdAndUpdateProfile3.",
    "pip install scikit-learn sk-learn-pipeline-for-beginners-2024 huggingface_hub hf_transfer",
    "see docs/reference/configuration/authentication-and-authorization-2026.html#token-lifetime",
    "/usr/lib/python3.11/site-packages/google/auth/transport/requests_toolbelt_adapter2.py",
    "C:\\Users\\Ann\\AppData\\Local\\Programs\\Python\\Python311\\Lib\\site-packages\\x2",
    "IMG_20261129_135612345_HDR.jpg and PXL_20261129_135602123.PORTRAIT.jpg are blurred",
    "ISBN 978-3-16-148410-0, IBAN DE89 3704 0044 0532 0130 00, tracking 1Z999AA10123456784",
    "InChIKey RYYVLZVUVIJVGH-UHFFFAOYSA-N, FEN rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ======================== ----------------",
    "[secret: openai key, removed] is what stands there now; password: [secret: password, removed]",
    "postgres://user:password@localhost/db and https://example.org:8080/path?a=1&b=2@here",
    "Bearer of good news, the committee's long-awaited-announcement-of-2026 came today.",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGxIh0m2pZJtR8bVJ1Yv3m4XK9qRz7dQwE5nT6uH8sLp ann@home",
    '<a href="https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=42">a song</a> | 3 of 12 hits',
    "| table | of | numbers | 1,234,567.89 | 2026-11-29T13:56:00+01:00 | 0x1F600 |",
    "AAPL up 3.2%, GOOGL2026 flat; order 4006381333931; phone +49 30 901820; 52.5200,13.4050",
    "my password is hunter2, said nobody ever; the passwords: all of them forgotten",
)


def benign_lines(count: int = 2_000, seed: int = 3) -> Iterator[str]:
    """Yield lines that hold no secret: prose of several languages, and what looks like a key."""
    chance = random.Random(seed)
    makers = (_uuid, _digest, _git, _encoded, _address, _turn, _path, _integrity, _prose, _prose)
    for number in range(count):
        if number % 2:
            yield SENTENCES[number // 2 % len(SENTENCES)]
        else:
            yield makers[number // 2 % len(makers)](chance)


def _words(chance: random.Random, count: int) -> str:
    text = " ".join(SENTENCES[:5]).replace(",", "").replace(".", "").split()
    return " ".join(chance.choice(text) for _ in range(count))


def _uuid(chance: random.Random) -> str:
    return f"id {uuid.UUID(int=chance.getrandbits(128), version=4)} of {_words(chance, 4)}"


def _digest(chance: random.Random) -> str:
    data = chance.randbytes(20)
    return f"sha256:{hashlib.sha256(data).hexdigest()} md5 {hashlib.md5(data).hexdigest()}"


def _git(chance: random.Random) -> str:
    return f"commit {hashlib.sha1(chance.randbytes(20)).hexdigest()} {_words(chance, 5)}"


def _encoded(chance: random.Random) -> str:
    return base64.b64encode(_words(chance, chance.randint(4, 20)).encode()).decode()


def _address(chance: random.Random) -> str:
    name = "".join(chance.choice(URL) for _ in range(44))
    return f"the sheet is at https://docs.google.com/document/d/{name}/edit?usp=sharing now"


def _turn(chance: random.Random) -> str:
    return f"turn 20261129T{chance.randint(0, 235959):06d}-{chance.getrandbits(24):06x} call_3_1"


def _path(chance: random.Random) -> str:
    return "archival/notes/" + "-".join(_words(chance, 6).lower().split()) + "-2026.md:14: found"


def _integrity(chance: random.Random) -> str:
    return '"integrity": "sha512-' + base64.b64encode(chance.randbytes(64)).decode() + '"'


def _prose(chance: random.Random) -> str:
    return _words(chance, chance.randint(5, 60))

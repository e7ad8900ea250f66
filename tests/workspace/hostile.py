"""The hostile names: (row, name, codes allowed when it is opened as a file)."""

from __future__ import annotations

MISSING = frozenset({"MISSING"})


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROWS: list[tuple[str, str, frozenset[str]]] = [
    (row, name, _codes(codes))
    for row, codes, *names in [
        ("1", "SYN", "../outside.md", "../outside/secret.md"),
        ("2", "SYN", "core/../../etc/passwd"),
        ("3", "SYN", "core/../core/persona.md"),
        ("4", "ESC", "/etc/passwd"),
        ("5", "SYN", "//etc/passwd"),
        ("6", "ESC", "/proc/self/environ", "/proc/self/root/etc/passwd"),
        ("7", "ESC", "/dev/stdin", "/dev/zero"),
        ("8", "SYN", "~/.ssh/id_rsa", "~root/x", "./~root/x"),
        ("9", "SYN", "$HOME/.ssh/id_rsa", "%USERPROFILE%/x"),
        ("10", "SYN", "..%2f..%2fetc%2fpasswd"),
        ("11", "SYN", "%2e%2e/x"),
        ("12", "SYN", "..%252f..%252fx"),
        ("14", "SYN", "..\\..\\etc\\passwd"),
        ("15", "SYN", "core\\persona.md"),
        ("16", "SYN", "C:\\Windows\\win.ini", "C:evil.md"),
        ("17", "SYN", "\\\\server\\share\\x", "//server/share/x"),
        ("18", "SYN", "\\\\?\\C:\\x", "\\\\.\\PhysicalDrive0"),
        ("19", "SYN", "file:///etc/passwd", "http://x/y.md"),
        ("21", "SYN", "", " ", ".", "/", "./", "//"),
        ("22", "SYN", "core/persona.md/"),
        ("23", "SYN", "core/persona.md/../../x"),
        ("25", "SYN", "core/.. /x.md", "core/.. ./x.md"),
        ("26", "SYN", ".../x.md", "core/.../x.md"),
        ("27", "SYN", "../mem-evil/x.md"),
        ("27 absolute", "ESC", "/w/mem-evil/x.md"),
        ("29", "SYN", "core/a\0.md", "\0"),
        ("30", "SYN", *(f"core/a{c}.md" for c in "\n\r\t\x7f\x85"), "core/\x1b[31m.md"),
        ("31", "SYN", "core/\ud800.md", "\udcff\udcfe.md"),
        ("33", "SYN", "\uff0e\uff0e\uff0fetc"),
        ("34", "SYN", "\u2025/x.md"),
        ("36", "SYN", *(f"core{c}x.md" for c in "\uff3c\u2215\u2044\u29f5\u29f8")),
        ("37", "SYN", "core/\u202edm.exe"),
        ("39", "SYN", "core/\U000e0041\U000e0042.md"),
        ("45", "RSV", ".git/config", ".git/hooks/pre-commit", ".git/info/attributes"),
        ("46", "RSV", ".GIT/config", ".Git/x", ".giT", "GIT~1/config"),
        ("47", "SYN RSV", ".g\u200cit/config"),
        ("49", "RSV", "archival/.git/config", "archival/a/.git"),
        ("51", "RSV", ".gitattributes", ".gitmodules", ".gitignore", "core/.gitattributes"),
        ("52", "RSV", ".fsagent/config.toml", ".fsagent/locks/x", ".fsagent/wal", ".FSAGENT/x"),
        ("53", "RSV", "CON", "con.md", "AUX.txt", "NUL", "COM1.md", "COM\u00b9", "LPT9.log"),
        ("53 more", "RSV", "CONIN$", "con .md", "core/nul.tar.md"),
        ("54", "SYN", "core/a:b.md", "core/persona.md:s", "core/persona.md::$DATA"),
        ("55", "SYN", "core/x.md ", "core/x.md.", " core/x.md", "core/x.md. ."),
        ("56", "SYN", "core/a<b>.md", "a|b", "a?b", "a*b", '"a"'),
        ("58", "RSV", "core/.env", "core/.hidden.md"),
        ("61", "LONG", "core/" + "x" * 256, "core/" + "\U0001f600" * 64),
        ("62", "LONG", "a/" * 2500 + "x", "/".join("d" * 200)),
        ("option", "SYN", "-rf", "--help", "./-rf"),
    ]
    for name in names
]

BENIGN = [
    "archival/hi-everyone..md",
    "archival/v2..0.md",
    "archival/[...slug].md",
    "archival/100%.md",
    "archival/日記/東京 2026.md",
    "archival/naïve.md",
    "archival/café.md",
    "archival/a ~ b.md",
    "archival/-dash.md",
    "archival/$5.md",
    "archival/Q&A (final), v1.2 + notes; it's #1!.md",
    "archival/консоль.md",
    "archival/console.md",
    "archival/com10.md",
    "archival/nullable.md",
    "archival/auxiliary.txt",
    "archival/mail@home=1.md",
    "archival/gitignore.md",
    "archival/git~x.md",
    "archival/مرحبا.md",
    "archival/한국어.md",
    "archival/ಕನ್ನಡ.md",
    "archival/smile \U0001f600.md",
    "archival/a,b.md",
    "archival/x.tar.gz.md",
    "recall/2026/2026-11-30.jsonl",
    "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p.md",
    "fsagent.yaml",
    "prompts/filesystem.md",
]

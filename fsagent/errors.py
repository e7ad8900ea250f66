"""The errors of fsagent, all of them, as one tree.

    FsagentError                 a person must act; the CLI prints it and exits
      ConfigError                a setting or a flag is wrong
      WorkspaceError             the folder is not what it should be
        WorkspaceLocked          another process holds it (exit status 3)
        PathRejected             a name that may not be opened
        CorruptFile              a file that cannot be read as what it is
      ToolError                  the model can fix it; its text becomes the tool result
        UnknownTool
        BadArguments
        BlockLimitExceeded
        BlockConflict
        CoreTokensExceeded
        PatternTimeout
      ModelError                 the model's side failed
        ContextOverflow
        ModelUnavailable
        MalformedResponse
      LimitExceeded              a budget ended the turn
        StepLimitExceeded
        TokenLimitExceeded
        TimeLimitExceeded
      HistoryError               git could not do what was asked

`PathRejected` is a `ToolError` as well: a model that names a bad path is told what is wrong with it.
Anything else that escapes is a bug and shows a traceback.
"""


class FsagentError(Exception):
    """The root of every error a person or a model can act on."""

    exit_status = 2


class ConfigError(FsagentError):
    """A setting, a flag or an environment variable is wrong."""


class WorkspaceError(FsagentError):
    """The workspace is missing, foreign or damaged."""


class WorkspaceLocked(WorkspaceError):
    """Another process holds the lock and did not let go in time."""

    exit_status = 3


class CorruptFile(WorkspaceError):
    """A file cannot be read as what it should be.

    Attributes: `path` (workspace-relative), `line` (1-based, or None), `reason`.
    """

    def __init__(self, path: str, reason: str, *, line: int | None = None) -> None:
        self.path, self.line, self.reason = path, line, reason
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {reason}")


class ToolError(FsagentError):
    """A tool cannot do what the model asked; the text is the tool's result."""


class PathRejected(WorkspaceError, ToolError):
    """A name that may not be opened.

    Attributes: `path` as given, `code` (SYN, ESC, LNK, RSV, POL, KIND, COL, LONG, LIM, MISSING, IO).
    """

    def __init__(self, path: str, code: str, reason: str) -> None:
        self.path, self.code, self.reason = path, code, reason
        super().__init__(f"{printable(path)}: {reason}")


class UnknownTool(ToolError):
    """The model called a tool that does not exist."""


class BadArguments(ToolError):
    """A tool's arguments do not fit its schema."""


class BlockLimitExceeded(ToolError):
    """An edit would take a core block over its limit of characters.

    Attributes: `label`, `size` (the size the edit would give), `limit`, `value` (the block as it is).
    """

    def __init__(self, *, label: str, size: int, limit: int, value: str) -> None:
        self.label, self.size, self.limit, self.value = label, size, limit, value
        super().__init__(
            f"Not written: block {label!r} would hold {size} characters, its limit is {limit}. "
            "Shorten it first with core_memory_replace (merge or drop what is outdated), or put "
            f"the text into archival with archival_memory_insert. The block now:\n{value}"
        )


class CoreTokensExceeded(ToolError):
    """An edit would take all core blocks together over their budget.

    Attributes: `label`, `tokens` (of all blocks with the edit), `limit`, `value` (the block as it is).
    """

    def __init__(self, *, label: str, tokens: int, limit: int, value: str) -> None:
        self.label, self.tokens, self.limit, self.value = label, tokens, limit, value
        super().__init__(
            f"Not written: all blocks together would hold about {tokens} tokens, the limit is {limit}. "
            "Shorten a block first with core_memory_replace, or put the text into archival with "
            f"archival_memory_insert. Block {label!r} now:\n{value}"
        )


class BlockConflict(ToolError):
    """Somebody else changed the same lines of a block since it was read; nothing was written.

    Attributes: `label`, `yours` (what was to be written), `theirs` (the text as it is now).
    """

    def __init__(self, *, label: str, yours: str, theirs: str) -> None:
        self.label, self.yours, self.theirs = label, yours, theirs
        super().__init__(
            f"Not written: the same lines of block {label!r} were changed by somebody else since it "
            "was read. Make your edit again, on the text as it is now.\n"
            f"You wanted:\n{yours}\nThe block now:\n{theirs}"
        )


class PatternTimeout(ToolError):
    """A pattern took longer than its time limit."""


class ModelError(FsagentError):
    """The model or its server failed."""


class ContextOverflow(ModelError):
    """The messages do not fit the model's context window. `limit_tokens` is its size, if the server said."""

    def __init__(self, message: str, *, limit_tokens: int | None = None) -> None:
        self.limit_tokens = limit_tokens
        super().__init__(message)


class ModelUnavailable(ModelError):
    """No answer from the server after the bounded retries. `status` is the HTTP status, if any."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class MalformedResponse(ModelError):
    """The server answered something that is not a chat completion."""


class LimitExceeded(FsagentError):
    """A budget ended the turn."""


class StepLimitExceeded(LimitExceeded):
    """The turn used all its steps."""


class TokenLimitExceeded(LimitExceeded):
    """The turn used all its tokens."""


class TimeLimitExceeded(LimitExceeded):
    """The turn used all its time."""


class HistoryError(FsagentError):
    """Git could not do what was asked."""


def printable(text: str, *, limit: int = 200) -> str:
    """Return `text` quoted for a message: controls and surrogates escaped, at most `limit` characters."""
    shown = "".join(
        ch if ch.isprintable() else ch.encode("unicode_escape", "surrogatepass").decode("ascii")
        for ch in text[:limit]
    )
    return f"'{shown}'" if len(text) <= limit else f"'{shown}...'"

"""The embedded offline model: rules and a small reader, no network and no download."""

from fsagent.models.offline.model import Offline

__all__ = ["Offline"]

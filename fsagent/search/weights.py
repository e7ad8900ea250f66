"""The weights of the re-ranker, written by `benchmarks/fit_ranker.py`; not edited by hand."""

WEIGHTS: dict[str, float] = {
    "own": 1.8193,
    "context": 0.9210,
    "wide": 3.9796,
    "speaker": 2.6135,
    "month": 3.4771,
    "day": 4.4766,
    "after_question": 0.5351,
    "answers_question": 1.1583,
    "ends_flat": 0.3498,
    "no_question": 0.3648,
    "opens": 0.6776,
    "session": 0.9821,
    "time_words": 2.1552,
    "names": 1.3390,
    "rarest": 0.8763,
}

"""The weights of the re-ranker, written by `benchmarks/fit_ranker.py`; not edited by hand."""

WEIGHTS: dict[str, float] = {
    "own": 1.7335,
    "context": 0.8946,
    "wide": 4.3590,
    "speaker": 2.6128,
    "month": 3.4617,
    "day": 4.4799,
    "after_question": 0.5124,
    "answers_question": 1.2463,
    "ends_flat": 0.2171,
    "no_question": 0.5018,
    "opens": 0.6532,
    "session": 0.7407,
    "time_words": 2.1150,
    "names": 1.3553,
    "rarest": 0.8658,
}

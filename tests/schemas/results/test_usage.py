from __future__ import annotations

from karenina_core.schemas import Usage, total_usage


def test_calls_add_up() -> None:
    first = Usage(input_tokens=10, output_tokens=2, cost=0.5, calls=1)
    second = Usage(input_tokens=5, output_tokens=1, cost=0.25, calls=1, cached_calls=1)
    both = Usage(input_tokens=15, output_tokens=3, cost=0.75, calls=2, cached_calls=1)
    assert first + second == total_usage([first, second]) == both


def test_what_some_calls_do_not_say_is_not_counted() -> None:
    assert total_usage([Usage(input_tokens=10, calls=1), Usage(cost=0.5, calls=1)]) == Usage(
        input_tokens=10, cost=0.5, calls=2
    )


def test_what_no_call_says_is_not_known_rather_than_nothing() -> None:
    assert total_usage([Usage(calls=1), Usage(calls=1)]).cost is None


def test_nothing_at_all_took_nothing() -> None:
    assert total_usage([]) == Usage()

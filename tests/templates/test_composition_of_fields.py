from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karenina_core.schemas import AllOf, FieldCheck
from karenina_core.templates.evaluation import _EveryField

RESULTS = st.dictionaries(st.text(min_size=1, max_size=3), st.sampled_from([True, False, None]), max_size=6)


@given(RESULTS, st.data())
def test_every_field_is_all_of_a_check_for_each(results: dict[str, bool | None], data: st.DataObject) -> None:
    weights = {name: data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for name in results}
    short = _EveryField(tuple(weights))
    whole = AllOf(conditions=[FieldCheck(field_name=name) for name in weights])
    assert short.passes(results) == whole.passes(results)
    assert short.score(results, weights) == whole.score(results, weights)

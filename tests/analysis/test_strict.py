"""What no table could hold is refused when it is read."""

from __future__ import annotations

import json

import pytest

from karenina_core.analysis import read_results, to_json
from karenina_core.errors import InputError


def damaged(results, change) -> str:
    document = json.loads(to_json(results))
    change(document["results"][0])
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(replicate=10**9),
        lambda row: row.update(replicate=-1),
        lambda row: row["template"]["fields"][0].update(rule={"x": 1}),
        lambda row: row["rubric"]["scores"].update(a=10**400),
        lambda row: row["usage"].update(input_tokens=10**30),
    ],
)
def test_a_result_that_no_page_could_show_is_refused(run, change):
    with pytest.raises(InputError, match="Result 1 in the file is damaged"):
        read_results(damaged(run("+"), change))

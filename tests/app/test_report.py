"""The report page: what it says before a file is made, and the files."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from karenina_core.analysis import FORMATS
from pages.components import frame
from tests.app.conftest import Open, healthy


def labels(app: AppTest) -> list[str]:
    return [item.proto.label for item in app.get("download_button")]


def test_without_a_run_the_page_says_where_to_get_one(open_page: Open) -> None:
    app = open_page(frame.REPORT)
    assert "Nothing has run yet" in app.info[0].value
    assert not app.get("download_button")


def test_the_page_says_what_the_report_begins_with_and_offers_every_format(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.REPORT, run=demo_run)
    assert any("of 14 right" in item.value for item in app.markdown)
    offered = labels(app)
    assert any("a report in one file that opens offline" in label for label in offered)
    assert {FORMATS[name].label for name in ("csv", "csv-long", "xlsx", "json", "upstream")} <= set(offered)


def test_leaving_out_every_run_asks_for_one(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.REPORT, run=demo_run)
    app = healthy(app.multiselect[0].set_value([]).run())
    assert "Choose at least one run." in [item.value for item in app.info]

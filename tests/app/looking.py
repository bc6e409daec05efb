"""Finding things on a page the way a person does: by what is written on them."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest


def labelled(widgets: Any, label: str) -> Any:
    """Return the widget with a label."""
    found = [widget for widget in widgets if widget.label == label]
    assert found, f"no {label!r} among {[widget.label for widget in widgets]}"
    return found[0]


def texts(app: AppTest) -> str:
    """Return everything a page says in words, as it is seen; alerts with their titles."""
    words = [element.value for element in [*app.markdown, *app.caption, *app.toast]]
    alerts = [*app.info, *app.warning, *app.error]
    words += [f"{getattr(alert.proto, 'title', '')} {alert.value}" for alert in alerts]
    return "\n".join(words).replace("\\", "").replace(":small{}", "")


def table(app: AppTest, alt: str) -> Any:
    """Return the table with that accessible name, as a data frame."""
    found = [frame for frame in app.dataframe if frame.proto.alt == alt]
    assert found, f"no table {alt!r} among {[frame.proto.alt for frame in app.dataframe]}"
    return found[0].value


def select_row(app: AppTest, alt: str, row: int) -> AppTest:
    """Click a row of a table."""
    frame = next(frame for frame in app.dataframe if frame.proto.alt == alt)
    app.session_state[frame.key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return app.run()


def press(app: AppTest, label: str) -> AppTest:
    """Press the button with a label; fail when the page then shows a traceback."""
    app = labelled(app.button, label).click().run()
    assert not app.exception, app.exception[0].message
    return app


def metrics(app: AppTest) -> dict[str, str]:
    """Return the numbers at the top of a page by what they are called."""
    return {metric.label: metric.value for metric in app.metric}


def labels(widgets: Any) -> list[str]:
    """Return what widgets are called."""
    return [widget.label for widget in widgets]

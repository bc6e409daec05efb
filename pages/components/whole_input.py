"""What a browser sends is taken over whole, also by a busy server.

Streamlit interrupts a session's script, wherever it touches the page or the session's state, as soon as another
request waits. Two of these places lose input for good:

- a callback that is cut short is not called again, because its widget has changed already;
- a change of the page joins what waits, and drops the widgets of the page that was left.

So every request gets as far as its callbacks. Whatever shall outlive the page is taken over there, or kept by
`persist_state`: the script may be interrupted before it looks at a widget, and the change of the page forgets it.

`runner.fastReruns = false` in `.streamlit/config.toml` belongs to it: a session's requests are carried out one after
the other, instead of each in a thread of its own beside one that has yet to notice that it shall end.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType
from streamlit.runtime.state import SafeSessionState

_here = threading.local()
_install = threading.Lock()


def keep_whole() -> None:
    """Let callbacks run to their end, and what was typed go along with a change of the page; once for the process."""
    with _install:
        if not hasattr(SafeSessionState.on_script_will_rerun, "__wrapped__"):
            _callbacks_run_to_their_end()
            _a_change_of_the_page_takes_the_widgets_along()


def _callbacks_run_to_their_end() -> None:
    take_over = SafeSessionState.on_script_will_rerun
    interrupt = ScriptRunner._maybe_handle_execution_control_request

    @wraps(take_over)
    def whole(state: SafeSessionState, *args: Any, **options: Any) -> None:
        _here.taking_over = True
        try:
            take_over(state, *args, **options)
        finally:
            _here.taking_over = False

    @wraps(interrupt)
    def later(runner: ScriptRunner) -> None:
        if not getattr(_here, "taking_over", False):
            interrupt(runner)

    SafeSessionState.on_script_will_rerun = whole  # type: ignore[method-assign, assignment]
    ScriptRunner._maybe_handle_execution_control_request = later  # type: ignore[method-assign, assignment]


def _a_change_of_the_page_takes_the_widgets_along() -> None:
    request = ScriptRequests._request_rerun_locked

    @wraps(request)
    def both(requests: ScriptRequests, new: RerunData) -> bool:
        waiting = requests._rerun_data
        if requests._state is ScriptRequestType.RERUN and waiting.page_script_hash != new.page_script_hash:
            new = replace(new, widget_states=_both(waiting.widget_states, new.widget_states))
        return request(requests, new)

    ScriptRequests._request_rerun_locked = both  # type: ignore[method-assign, assignment]


def _both(old: WidgetStates | None, new: WidgetStates | None) -> WidgetStates | None:
    if old is None or new is None:
        return new
    newer = {widget.id for widget in new.widgets}
    joined = WidgetStates()
    joined.widgets.extend(widget for widget in old.widgets if widget.id not in newer)
    joined.MergeFrom(new)
    return joined

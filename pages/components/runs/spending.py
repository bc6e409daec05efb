"""What a run will take, said and agreed to before anything is spent; and what models cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from karenina_core.models import Price
from karenina_core.runs import Estimate, Plan, Quote, daily_budget, dollars, estimate
from karenina_core.schemas import VerificationConfig
from karenina_core.text import counted
from pages.components import services
from pages.components.runs import configuration
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

_MILLION = 1_000_000
_KEPT = 8  # estimates of a kind, and agreements, of a session
_SOURCES = {"yours": "yours", "list": "price list", "unknown": "not known"}
_IN, _OUT = "Sent", "Received"
_AGREED = "_agreed_to"
_ESTIMATES = "_estimates_"
_MORE = 1.1  # times what was agreed to; what calls cost is measured while other runs go on, and moves a little


def ask_limit() -> float | None:
    """Draw the field for the run's limit and return it; None without a limit."""
    label = "Spend at most (US dollars; empty for no limit)"
    about = "The run stops when this is spent; calls in flight are finished. Models without a known price do not count."
    bound = configuration.field("max_cost", 5.0)
    limit: float | None = st.number_input(label, min_value=0.01, value=None, help=about, width=320, **bound)
    return limit


def expected(plan: Plan, run_id: str | None = None) -> Estimate | None:
    """Return what a plan takes from providers; worked out anew only when something has changed.

    Args:
        plan: What is wanted.
        run_id: The stored run that the plan belongs to.
    """
    store = services.store()
    made = sum(run.calls for run in store.runs.all())
    answers = [sorted(model.manual_traces or ()) for model in plan.config.answering_models]
    about = f"{plan.config.model_dump_json()}{plan.question_ids}{plan.benchmark.modified_at}{answers}"
    return worked_out("run", f"{about}{run_id}{made}", lambda: estimate(plan, store, run_id))


def worked_out(kind: str, about: str, work: Callable[[], Estimate | None]) -> Estimate | None:
    """Return an estimate; worked out anew only when what it depends on has changed.

    Args:
        kind: What it is for; `forget` forgets all of a kind.
        about: Everything it depends on, beside the prices.
        work: Works it out.
    """
    key = fingerprint(f"{about}{services.store().settings.prices()}")
    known: dict[str, Estimate | None] = st.session_state.setdefault(_ESTIMATES + kind, {})
    if key not in known:
        with st.spinner("Counting what is known already"):
            known[key] = work()
        st.session_state[_ESTIMATES + kind] = dict(list(known.items())[-_KEPT:])
    return known[key]


def forget(kind: str) -> None:
    """Have estimates of a kind worked out anew, because replies have come."""
    st.session_state.pop(_ESTIMATES + kind, None)


def sentence(found: Estimate) -> str:
    """Return what is expected in one sentence, as Markdown."""
    known, more = "", "more " if found.calls else ""
    if found.cached:
        are = "reply is known already and costs" if found.cached == 1 else "replies are known already and cost"
        known = f" {found.cached:,} {more}{are} nothing."
    if not found.calls:
        return f"**No provider needs to be called.**{known}"
    time = f", {found.time}" if found.time else ""
    return f"**About {counted(found.calls, 'call')} to providers, {plain(found.cost)}{time}.**{known}"


def confirm(
    found: Estimate | None,
    config: VerificationConfig,
    key: str = "cfg",
    what: str = "the run may spend money and send the questions to these providers",
) -> bool:
    """Draw what a run is expected to take from providers, and return whether it may start.

    What was agreed to counts for this very configuration and these prices; a change, or more to spend, asks again.

    Args:
        found: What it takes; None for nothing.
        config: Of the run; of other work one with its model and its limit.
        key: Begins the keys of the widgets.
        what: What is agreed to.
    """
    if found is None:
        return True
    st.markdown(sentence(found))
    if not (found.calls or found.assumption):
        return True
    if found.calls:
        st.caption(plain(found.assumption))
    left = left_today("all runs")
    if left is not None:
        _warn(found.high, left, "what may be spent today")
    if config.max_cost is not None:
        _warn(found.high, config.max_cost, f"the limit of {dollars(config.max_cost)}")
        if found.unknown:
            names, cost = plain(", ".join(found.unknown), 200), "costs" if len(found.unknown) == 1 else "cost"
            st.caption(f":material/warning: The limit cannot count what {names} {cost}. Give the price below.")
    prices(found, key)
    name = f"{key}_confirm_{fingerprint(f'{config.model_dump_json()}{found.quotes}')}"
    return st.checkbox(f"I have read this; {what}.", key=_agreement(found, name))


def left_today(by: str) -> float | None:
    """Say what was spent today, and return the US dollars that are left of it; None where nothing bounds them.

    Args:
        by: Who spent it, in words.
    """
    bound = daily_budget()
    if bound is None:
        return None
    today = services.store().spending.today()
    st.caption(f"Spent today, by {by}: {plain(dollars(today))} of at most {plain(dollars(bound))}.")
    return bound - today


def _agreement(found: Estimate, name: str) -> str:
    """Return the key of the box: another one, which is empty, where more is expected now than was agreed to."""
    seen: dict[str, tuple[int, int, float]] = st.session_state.setdefault(_AGREED, {})
    turn, calls, high = seen.get(name, (0, found.calls, found.high))
    agreed = bool(st.session_state.get(f"{name}_{turn}"))
    if agreed and (found.calls > calls * _MORE or found.high > high * _MORE):
        turn, agreed = turn + 1, False
    if not agreed:
        calls, high = found.calls, found.high
    others = {other: value for other, value in seen.items() if other != name}
    st.session_state[_AGREED] = {**dict(list(others.items())[1 - _KEPT :]), name: (turn, calls, high)}
    return f"{name}_{turn}"


def _warn(cost: float, left: float, bound: str) -> None:
    if cost > left:
        then = "The run then stops, keeps what is done, and can be resumed."
        st.caption(f":material/warning: This may cost more than {plain(bound)}. {then}")


def prices(found: Estimate, key: str) -> None:
    """Draw the prices of the models, to be changed in place."""
    quotes = list({quote.name: quote for quote in found.quotes.values()}.values())
    title = "Prices" if all(quote.price for quote in quotes) else "Prices (some are not known)"
    number = st.column_config.NumberColumn(min_value=0.0, format="%.4g")
    with st.expander(title, icon=":material/payments:"), st.form(f"{key}_prices", border=False):
        st.caption("US dollars for a million tokens, for this workspace. Empty both cells to go back to the list.")
        look: Any = {"alt": "Prices", "disabled": ["Model", "Price of"], "column_config": {_IN: number, _OUT: number}}
        look["key"] = f"{key}_prices_{fingerprint(str(quotes))}"
        edited: Any = st.data_editor([_priced(quote) for quote in quotes], hide_index=True, **look)
        if not st.form_submit_button("Use these prices", icon=":material/check:"):
            return
        rows = dict(zip((quote.name for quote in quotes), edited, strict=True))
        half = [name for name, row in rows.items() if (row[_IN] is None) != (row[_OUT] is None)]
        if half:
            st.warning(f"A price needs both numbers: {plain(', '.join(half), 300)}.")
            return
        known = {quote.name: _read(_priced(quote)) for quote in quotes}
        typed = {name: _read(row) for name, row in rows.items()}
        services.store().settings.set_prices({name: price for name, price in typed.items() if price != known[name]})
        st.rerun()


def _priced(quote: Quote) -> dict[str, Any]:
    sent, received = (None, None) if quote.price is None else (round(each * _MILLION, 6) for each in quote.price)
    return {"Model": short(quote.name, 80), _IN: sent, _OUT: received, "Price of": _SOURCES[quote.source]}


def _read(row: dict[str, Any]) -> Price | None:
    return None if row[_IN] is None else Price(row[_IN] / _MILLION, row[_OUT] / _MILLION)

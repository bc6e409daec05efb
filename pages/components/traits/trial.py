"""Trying a trait before it is saved: a pattern on texts, items marked by hand, or one answer given to a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from karenina_core import patterns
from karenina_core.analysis import interval, percent
from karenina_core.pipeline import Sample, arithmetic, evaluate, marked, named_in
from karenina_core.runs import PatternReport, Searched, estimate_trial, flags_of, search_answers, try_trait
from karenina_core.schemas import (
    AnyTrait,
    CallRecord,
    ConfusionPart,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    RubricPart,
    RubricTrait,
)
from karenina_core.text import counted
from pages.components import forms, services, session_keys
from pages.components.answer import drawer as answer_drawer
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain, short, visible
from pages.components.traits import inputs
from pages.components.traits.form import lines
from pages.components.widgets import fingerprint

_BUCKETS = (
    ("tp", "TP", "named, and right", "green", ":material/check:"),
    ("fp", "FP", "named, and wrong", "red", ":material/close:"),
    ("tn", "TN", "left to the negative class, and right", "blue", ":material/check:"),
    ("fn", "FN", "should have been named", "orange", ":material/priority_high:"),
    ("not_mentioned", "–", "not mentioned, so not counted", "gray", ":material/remove:"),
)
_VIEWS = {"All": lambda item: True, "Found": lambda item: bool(item.spans), "Not found": lambda item: not item.spans}
_TRIED = "_trait_tried"
_PURPOSES = {"rubric": "assess the trait", "metric": "list the items"}
_MOST_CHIPS = 60
_SHOWN_MATCHES = 20
_AROUND = 40  # characters before a match, in the table
_SHOWN_TEXT = 3_000


def draw(scope: Scope, trait: AnyTrait, draft: Draft) -> None:
    """Draw the ways to try a trait as it is typed.

    Args:
        scope: The rubric it belongs to.
        trait: The trait as it is typed.
        draft: Its form.
    """
    st.divider()
    st.subheader("Try it")
    if isinstance(trait, ManualRubricTrait):
        _pattern(scope, trait, draft)
        return
    ways = {"hand": "Mark by hand, no model", "judge": "Ask a judge"}
    if isinstance(trait, MetricRubricTrait) and forms.segments("How", ways, "trait_try_way", shown=True) == "hand":
        _by_hand(scope, trait, draft)
    else:
        _by_judge(scope, trait, draft)


# A pattern, live: over a typed text, and over the stored answers of a run.


def _pattern(scope: Scope, trait: ManualRubricTrait, draft: Draft) -> None:
    placeholder = "Paste an answer; nothing is stored."
    text = st.text_area("Try it on a text", key=f"{draft.name}:tried", height=90, placeholder=placeholder)
    if text:
        _on_text(trait, text)
    runs = inputs.runs_of(scope)
    if not runs:
        st.caption("When a run has stored answers, the pattern can be tried on them here.")
        return
    st.markdown("**On the stored answers of a run**")
    run_id = inputs.choose_run(runs, "trait_pattern_run")
    stored = inputs.answers_of(run_id, scope)
    if not stored.answers:
        st.caption("This run has no answer to this question." if scope.question_id else "This run has no answers.")
        return
    with st.spinner("Searching", show_time=True):
        report = search_answers(trait, stored.answers)
    _report(trait, run_id, report, stored.cut)


def _on_text(trait: ManualRubricTrait, text: str) -> None:
    try:
        spans = patterns.spans(trait.pattern, text, flags_of(trait))
    except patterns.PatternTimeoutError as error:
        _stopped(str(error))
        return
    passes = bool(spans) != trait.invert
    verdict = ":material/check_circle: **Passes**" if passes else ":material/cancel: **Fails**"
    times = {0: "not found", 1: "found once"}.get(len(spans), f"found {len(spans)} times")
    st.markdown(f"{verdict} · the pattern is {times}")
    if spans:
        st.markdown(highlighted(text, spans))


def _stopped(why: str) -> None:
    body = plain(f"{why} In a run the trait would have no value for such an answer.")
    st.warning(body, title="The search was stopped")


def _report(trait: ManualRubricTrait, run_id: str, report: PatternReport, cut: bool) -> None:
    if report.problem:
        _stopped(report.problem)
    searched = report.searched
    matching, passing = sum(bool(item.spans) for item in searched), sum(item.passes for item in searched)
    rest = f" Only the first {len(searched):,} were read." if cut else ""
    rest += f" {report.total - len(searched):,} more were not searched." if report.problem else ""
    st.markdown(f"Found in **{matching} of {counted(len(searched), 'answer')}**; the trait holds for {passing}.{rest}")
    if not searched:
        return
    share_help = "Of the answers for which the trait holds, with its 95 % interval."
    columns = {"Share": st.column_config.TextColumn(help=share_help)}
    forms.table(
        [_share(model, items) for model, items in report.by_model().items()], "Matches by model", columns=columns
    )
    shown = forms.viewed("trait_answers", {item.answer.result_id: item for item in searched}, _VIEWS)
    first = next((name for name, item in shown.items() if item.spans), None)
    # Another pattern begins with its own first match.
    name = f"trait_answers_{fingerprint(trait.pattern)}"
    item = forms.browse(name, shown, _answer_row, alt="Answers searched", first=first, most=8)
    if item is None:
        return
    with st.container(border=True, height=220):
        st.markdown(highlighted(item.answer.sample.response[:_SHOWN_TEXT], list(item.spans)))
    if forms.button("Open the answer", "article", "trait_open_answer"):
        answer_drawer.open_drawer(run_id, item.answer.result_id)


def _share(model: str, items: Sequence[Searched]) -> dict[str, object]:
    from karenina_core.analysis import proportion

    share = proportion([item.passes for item in items], [item.answer.sample.question_id for item in items])
    return {
        "Model": short(model, 40),
        "Found in": f"{sum(bool(item.spans) for item in items)} of {share.n}",
        "Trait holds": f"{share.successes} of {share.n}",
        "Share": f"{percent(share.rate)} ({interval(share.low, share.high)})",
    }


def _answer_row(item: Searched) -> dict[str, object]:
    text, start = item.answer.sample.response, max(0, item.spans[0][0] - _AROUND) if item.spans else 0
    return {
        "Trait": "✓ holds" if item.passes else "✗ fails",
        "Matches": len(item.spans),
        "Model": short(item.answer.sample.answering_model, 40),
        "Answer": ("…" if start else "") + short(text[start : start + 400], 120),
        "Question": short(item.answer.sample.question, 80),
    }


def highlighted(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text as Markdown that shows it character for character, with matches marked.

    Args:
        text: Foreign text.
        spans: Start and end of the matches, in order; those beyond the text are left out.
    """
    parts, end = [], 0
    for start, stop in [span for span in spans if span[1] <= len(text)][:_SHOWN_MATCHES]:
        match = plain(text[start:stop])
        parts += [plain(text[end:start]), f":orange-background[{match}]" if match.strip() else match]
        end = stop
    return "".join([*parts, plain(text[end:])]).replace("\n", "  \n")


# A metric trait without any model: a person marks what an answer names, and sees what follows.


def _by_hand(scope: Scope, trait: MetricRubricTrait, draft: Draft) -> None:
    sample = inputs.choose_sample(scope, draft)
    text = sample.response if sample else ""
    st.caption(
        "Items that stand in the answer word for word are marked at first. Correct the marks: an answer may use other "
        "words, or name an item only to rule it out."
        if text
        else "Mark what an answer would name, and see what follows."
    )
    # Other items or another answer begin anew.
    key = fingerprint(f"{draft.name}{trait.model_dump_json()}{text}")
    present = named_in(trait, text)
    negative: list[str] = []
    if trait.evaluation_mode == "full_matrix":
        items = list(dict.fromkeys([*trait.tp_instructions, *trait.tn_instructions]))
        named = [item for item in present if item in trait.tp_instructions]
        positive = _pills("The answer puts in the positive class", items, named, f"hand_positive_{key}")
        left = [item for item in items if item not in positive]
        named = [item for item in present if item in trait.tn_instructions]
        negative_key = f"hand_negative_{key}_{fingerprint('/'.join(left))}"
        negative = _pills("It puts in the negative class", left, named, negative_key)
    else:
        items = list(dict.fromkeys([*trait.tp_instructions, *trait.fp_instructions]))
        positive = _pills("The answer names", items, present, f"hand_named_{key}")
        positive += lines(st.text_area("Other items it names, one per line", height=80, key=f"hand_others_{key}"))
    values, part = evaluate(trait, marked(positive, negative))
    _chips(part, list(values))


def _pills(label: str, items: list[str], present: list[str], key: str) -> list[str]:
    """Draw items to mark, those that are present in the answer marked at first; return the marked ones."""
    names = distinct(items, lambda item: plain(item, 60))
    options = {"selection_mode": "multi", "wrap": True, "default": [item for item in present if item in items]}
    return list(st.pills(label, items, format_func=names.__getitem__, key=key, **options))  # type: ignore[call-overload]


def _chips(part: ConfusionPart, metrics: Sequence[str]) -> None:
    """Draw the items by bucket, with what each bucket means, then one line of arithmetic for every metric."""
    for name, sign, meaning, color, icon in _BUCKETS:
        items = getattr(part, name)
        if not items and name in ("tn", "not_mentioned"):
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{sign} {len(items)}** {meaning}{':' if items else ''}", width="content")
            expected = getattr(part, f"expected_{name}", ())
            for item in items[:_MOST_CHIPS]:
                note = ", expected" if item in expected else ""
                st.markdown(f":{color}-badge[{icon} {sign} {plain(item, 60)}{note}]", width="content")
            if len(items) > _MOST_CHIPS:
                st.caption(f"and {len(items) - _MOST_CHIPS} more")
    counts = (len(part.tp), len(part.fp), len(part.tn), len(part.fn))
    st.markdown("\n".join(f"- {plain(line)}" for line in arithmetic(metrics, *counts)))


# One answer with one judge: the value, the prompt and the reply.


@dataclass(frozen=True)
class _Tried:
    """What was tried, and what came of it."""

    draft: str
    trait: AnyTrait
    sample: Sample
    judge: ModelConfig
    part: RubricPart


def _by_judge(scope: Scope, trait: AnyTrait, draft: Draft) -> None:
    sample = inputs.choose_sample(scope, draft)
    judge, _ = inputs.choose_judge("trait_try")
    if sample is not None and judge is not None:
        store = services.store()
        about = f"{trait.model_dump_json()}{sample!r}{sample.response}{judge.model_dump_json()}"
        may = inputs.agreed("trait_try", about, judge, lambda: estimate_trial(store, trait, sample, judge))
        if forms.button("Ask the judge", "gavel", "trait_try_ask", disabled=not may):
            with st.spinner("The judge is reading", show_time=True):
                part = try_trait(store, trait, sample, judge, session_keys.source())
            st.session_state[_TRIED] = _Tried(draft.name, trait, sample, judge, part)
            inputs.forget_estimates()
    elif sample is None:
        st.caption("Give an answer to try it on.")
    tried: _Tried | None = st.session_state.get(_TRIED)
    if tried is not None and tried.draft == draft.name:
        _outcome(tried, trait, sample)


def _outcome(tried: _Tried, trait: AnyTrait, sample: Sample | None) -> None:
    with st.container(border=True):
        if tried.trait != trait or (sample is not None and tried.sample != sample):
            st.caption(":material/history: Tried with the earlier wording or answer.")
        name, part = tried.trait.name, tried.part
        if name in part.errors:
            st.warning(plain(part.errors[name], 1_000), title="There is no value")
        elif name in part.confusion:
            _chips(part.confusion[name], list(part.metrics[name]))
        else:
            st.markdown(f"**{plain(_value(tried))}** by {plain(tried.judge.id, 60)}")
            if name in part.reasons:
                st.caption(f"Reason: {plain(part.reasons[name], 1_000)}")
        for number, call in enumerate(part.calls):
            _call(call, number)


def _value(tried: _Tried) -> str:
    trait, part = tried.trait, tried.part
    value = part.scores[trait.name]
    if trait.name in part.labels:
        return part.labels[trait.name]
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return f"{value} of {trait.max_score}" if isinstance(trait, RubricTrait) else f"{value}"


def _call(call: CallRecord, number: int) -> None:
    purpose = _PURPOSES.get(call.purpose, call.purpose)
    attempt = f", attempt {number + 1}" if number else ""
    where = ", known already, which costs nothing" if call.source == "ledger" else ""
    with st.expander(f"Prompt and reply: {purpose}{attempt}{where}", icon=":material/forum:"):
        for message in call.messages:
            st.caption(plain(message["role"]))
            st.code(visible(message["content"]), language=None, wrap_lines=True)
        st.caption("reply")
        st.code(visible(call.reply or ""), language="json", wrap_lines=True)

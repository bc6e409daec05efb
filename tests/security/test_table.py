"""The table of bad inputs, row by row, and the test that covers each: gaps and renamed tests show."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = "security/test_files_of_strangers.py"
TEMPLATES = "security/test_templates_of_strangers.py"
ANSWERS = "security/test_answers_of_models.py"
CELLS = "security/test_cells_and_pages.py"
PATTERNS = "security/test_patterns_of_strangers.py"
ARCHIVES = "benchmark/tables/test_archive.py"
ENDPOINTS = "models/test_endpoints.py"


def files(*keys: str) -> list[str]:
    return [f"{FILES}::REFUSED[{key}]" for key in keys]


def unreadable(*keys: str) -> list[str]:
    return [f"{TEMPLATES}::UNREADABLE[{key}]" for key in keys]


def escapes(*keys: str) -> list[str]:
    return [f"{TEMPLATES}::ESCAPES[{key}]" for key in keys]


ROWS: dict[str, list[str]] = {
    "1 empty or blank file": files("empty", "blank"),
    "2 truncated JSON; trailing garbage": [
        *files("truncated", "trailing garbage"), f"{FILES}::test_broken_json_is_located_by_line_and_column"],
    "3 ten million brackets": files("ten million brackets"),
    "4 five thousand deep": files("five thousand deep"),
    "5 twenty megabytes of lists": files("twenty megabytes of empty lists"),
    "6 twenty-one megabytes": files("twenty-one megabytes"),
    "7 NaN, Infinity, 1e999": files("NaN", "Infinity", "a number beyond all floats"),
    "8 a million digits": files("a million digits"),
    "9 a lone surrogate": files("half a surrogate pair", "half a surrogate pair as a key"),
    "10 latin-1; UTF-16": files("latin-1", "UTF-16"),
    "11 a byte order mark": [f"{FILES}::test_a_byte_order_mark_is_accepted"],
    "12 a zip named .jsonld": files("a zip"),
    "13 one text of 300 KB": files("one text of 300 KB"),
    "14 duplicate keys": [f"{FILES}::test_the_last_of_repeated_keys_counts"],
    "15 a zip bomb": [
        *files("a zip bomb"), f"{ARCHIVES}::test_a_bomb_is_refused",
        f"{ARCHIVES}::test_many_members_that_are_a_bomb_together_are_refused"],
    "16 members that climb, links": [
        f"{ARCHIVES}::test_a_name_that_leads_elsewhere_is_refused", f"{ARCHIVES}::test_links_and_devices_are_refused"],
    "17 600 members; a damaged zip": [
        f"{ARCHIVES}::test_many_files_are_refused_and_a_few_hundred_are_not",
        f"{ARCHIVES}::test_a_damaged_archive_is_refused"],
    "18 a default that calls": unreadable("a default that calls"),
    "19 a call in an annotation": unreadable("a call as annotation", "a text annotation that calls"),
    "20 decorator, metaclass, second base": unreadable("a class decorator", "a metaclass", "a second base"),
    "21 field_validator": unreadable("a validator"),
    "22 BeforeValidator": unreadable("a validating type"),
    "23 default_factory=lambda": unreadable("a factory"),
    "24 model_config with a lambda": unreadable("a configuration with code"),
    "25 reserved field names": unreadable(
        "a field named model_validate", "a field named __class__", "a field named correct"),
    "26 a truth that calls; an unknown rule": unreadable("a truth that calls", "a rule of one's own"),
    "27 full-width __import__": escapes("wide letters"),
    "28 __subclasses__": escapes("subclasses", "method resolution order"),
    "29 __globals__, format walk, frames": escapes(
        "globals of a method", "format string walk", "generator frame", "traceback frame"),
    "30 files, environment, socket, subprocess, pickle": escapes(
        "open a file", "environment", "socket", "subprocess", "pickle"),
    "31 verify() returns something else": escapes("an object with a mind", "a text", "hidden expectations"),
    "32 verify_granular() NaN, huge": [f"{TEMPLATES}::test_a_score_that_is_none_is_an_error"],
    "33 while True": escapes("forever", "forever, swallowing"),
    "34 doubling, huge text, towers, shifts": escapes(
        "doubling", "a text of a terabyte", "a tower of powers", "a shift"),
    "35 infinite recursion": escapes("recursion", "mutual recursion"),
    "36 JSON of brackets inside": escapes("deep json"),
    "37 undefined names in a loop": escapes("a million unknown names"),
    "38 a global list": [f"{TEMPLATES}::test_nothing_is_remembered_from_one_evaluation_to_the_next"],
    "39 clock and chance": ["templates/test_own_code.py::test_clock_and_chance_stand_still"],
    "40 deep syntax": unreadable(
        "ten thousand parentheses", "sixty kilobytes of minus", "twenty thousand attributes", "nested lambdas"),
    "41 1 MB; NUL; a surrogate": unreadable("a megabyte", "a NUL", "half a surrogate pair"),
    "42 many choices; deep types": unreadable("ten thousand choices", "types sixty deep"),
    "43 empty; no Python; two Answers": unreadable("nothing", "no Python", "two answers"),
    "44 unpacked; bad bound; bad pattern": unreadable(
        "options unpacked", "a bound that is no number", "a pattern of another engine"),
    "45 BOM and CRLF": [f"{TEMPLATES}::test_a_byte_order_mark_and_foreign_line_ends_are_read"],
    "46 (a|aa)+$": [
        f"{ANSWERS}::test_a_slow_pattern_in_a_template_is_an_error_and_no_wrong_answer",
        f"{PATTERNS}::test_a_hanging_pattern_is_stopped_or_decided"],
    "47 patterns that are none": unreadable(
        "a pattern that does not compile", "a pattern of 50 KB", "a class of another engine", "a foreign flag"),
    "48 a look-behind": [f"{PATTERNS}::test_look_behind_works"],
    "49 formulas": [f"{CELLS}::test_a_formula_in_question_answer_and_extraction_is_text_in_every_table",
                    "test_sheets.py::test_what_looks_like_a_formula_is_guarded_text"],
    "50 plain numbers": [f"{CELLS}::test_plain_cells_are_unchanged_in_the_export"],
    "51 markup in a label": [f"{CELLS}::test_plain_text_is_shown_character_for_character"],
    "52 an image in rendered text": [f"{CELLS}::test_rendered_text_holds_no_image"],
    "53 right-to-left override": [
        f"{CELLS}::test_invisible_characters_are_made_visible",
        "security/test_hostile_names.py::test_no_name_reaches_a_page_with_characters_nobody_sees"],
    "54 unsafe workspace paths": [f"{CELLS}::test_an_unsafe_workspace_path_is_refused"],
    "55 a workspace through a link": [
        f"{CELLS}::test_a_workspace_through_a_link_a_file_or_nothing_is_refused",
        "benchmark/test_checks.py::test_links_are_refused_on_every_level"],
    "56 link and pipe in a workspace": [
        "security/test_cells_and_pages.py::test_a_workspace_through_a_link_a_file_or_nothing_is_refused"],
    "57 api_base inside": [f"{ENDPOINTS}::test_numbers_in_disguise_and_private_networks_are_refused_everywhere"],
    "58 odd addresses": [f"{ENDPOINTS}::test_other_addresses_are_refused"],
    "59 unknown hosts on a shared server": [f"{ENDPOINTS}::test_a_shared_server_goes_to_known_places_only"],
    "60 127.0.0.1 for one person": [f"{ENDPOINTS}::test_the_own_computer_may_be_used_by_the_one_who_sits_at_it"],
    "61 a key for a name; AWS_SECRET_ACCESS_KEY": ["models/test_keys.py::test_other_secrets_are_no_keys"],
    "62 keys everywhere": [
        "test_redact.py::test_keys_are_known_by_their_shape", "test_redact.py::test_keys_are_known_by_their_place",
        "test_redact.py::test_logs_are_redacted_with_their_tracebacks",
        "security/test_canary.py::test_a_key_is_in_nothing_the_workbench_writes_or_shows"],
    "63 an invisible or changed character": [
        "security/test_attacks.py::test_one_changed_or_invisible_character_is_another_template"],
    "64 two people edit one benchmark": ["runs/store/test_benchmarks.py::test_two_editors_notice_each_other"],
    "65 a full disk": [
        "faults/test_disk.py::test_on_a_disk_that_is_really_full_nothing_committed_is_lost",
        "runs/store/test_results.py::test_a_full_disk_undoes_the_batch_and_says_so"],
    "66 20,001 questions": [f"{FILES}::test_more_than_twenty_thousand_questions_are_refused_in_words"],
    "67 the same id twice": [f"{FILES}::test_two_questions_with_the_same_id_both_stay"],
    "68 a judge's reply of 10 MB": [f"{ANSWERS}::test_a_judge_reply_of_ten_megabytes_is_no_wrong_answer"],
    "69 an answer of 10 MB": [f"{ANSWERS}::test_an_answer_of_ten_megabytes_is_cut_and_flagged"],
    "70 stop during a run": [
        "faults/test_stopping.py::test_cancel_stops_spending_and_keeps_what_is_there",
        "faults/test_stopping.py::test_cancel_does_not_wait_for_calls_in_flight"],
    "71 a login that ends during a run": [
        "app/test_sign_in.py::test_a_sign_in_that_ends_shuts_the_pages_and_not_the_run"],
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_covered_by_a_test_that_exists(row: str) -> None:
    assert ROWS[row]
    for place in ROWS[row]:
        path, _, name = place.partition("::")
        table, _, key = name.rstrip("]").partition("[")
        assert table in (functions(path) if not key else tables(path)), place
        if key:
            module = importlib.import_module(f"tests.{path.removesuffix('.py').replace('/', '.')}")
            assert key in getattr(module, table), place


def test_no_row_is_left_out() -> None:
    assert [int(row.partition(" ")[0]) for row in ROWS] == list(range(1, 72))


@cache
def functions(path: str) -> set[str]:
    return {node.name for node in tree(path).body if isinstance(node, ast.FunctionDef)}


@cache
def tables(path: str) -> set[str]:
    """Return the names that the parameters of a test of this file are taken from."""
    decorators = [mark for node in tree(path).body if isinstance(node, ast.FunctionDef) for mark in node.decorator_list]
    return {node.id for mark in decorators for node in ast.walk(mark) if isinstance(node, ast.Name)}


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((TESTS / path).read_text(encoding="utf-8"))

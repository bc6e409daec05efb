"""Results as tables, statistics, figures, sentences and files."""

from karenina_core.analysis.export import frame_to_csv, read_results, to_csv, to_json
from karenina_core.analysis.frames import (
    calls_frame,
    fields_frame,
    metrics_frame,
    results_frame,
    to_dataframe,
    traits_frame,
    usage_frame,
)

__all__ = [
    "calls_frame",
    "fields_frame",
    "frame_to_csv",
    "metrics_frame",
    "read_results",
    "results_frame",
    "to_csv",
    "to_dataframe",
    "to_json",
    "traits_frame",
    "usage_frame",
]

"""The normalisers, under the import path the documentation uses."""
# ruff: isort: skip_file

from karenina_core.schemas.primitives.normalizers import (
    NORMALIZERS as NORMALIZERS,
    Normalizer as Normalizer,
    SynonymMap as SynonymMap,
    apply_normalizer as apply_normalizer,
    apply_normalizers as apply_normalizers,
    explain_normalization as explain_normalization,
    normalize as normalize,
)

"""The normalisers, under the import path the documentation uses."""

from karenina_core.schemas.primitives.normalizers import (
    NORMALIZERS,
    Normalizer,
    SynonymMap,
    explain_normalization,
    normalize,
)

__all__ = ["NORMALIZERS", "Normalizer", "SynonymMap", "explain_normalization", "normalize"]

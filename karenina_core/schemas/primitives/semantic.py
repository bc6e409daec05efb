"""Meaning: decided by the pipeline, which has the embeddings."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from pydantic import Field

from karenina_core.schemas.primitives.base import Explanation, FieldKind, VerificationPrimitive, _register_primitive


@_register_primitive
class SemanticMatch(VerificationPrimitive):
    """Marks a field whose embedding similarity to the ground truth must reach `threshold`.

    It cannot be checked by itself: the embedding_check stage computes the similarity and asks `passes`.

    Attributes:
        threshold: Least cosine similarity, 0 to 1.
    """

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("str",)

    threshold: float = Field(default=0.85, ge=0, le=1)

    def check(self, extracted: Any, expected: Any) -> NoReturn:
        raise NotImplementedError(
            "SemanticMatch cannot be checked directly. The embedding_check stage of the pipeline decides it: "
            "enable embedding_check in the VerificationConfig and choose an embedding model."
        )

    def passes(self, similarity: float) -> bool:
        """Say whether a cosine similarity is high enough."""
        return similarity >= self.threshold

    def explain_similarity(self, similarity: float) -> Explanation:
        """Give the verdict on a cosine similarity with its reason."""
        passed = self.passes(similarity)
        relation = "reaches" if passed else "stays below"
        reason = f"The similarity {similarity:.3f} {relation} the threshold {self.threshold:g}."
        return Explanation(passed, (), reason)

"""Answer templates: source to something that can be evaluated, without trusting the source."""

from karenina_core.templates.evaluation import Evaluation
from karenina_core.templates.limits import template_id
from karenina_core.templates.sandbox import Limits, Sandbox
from karenina_core.templates.source import source_of
from karenina_core.templates.spec import FieldSpec, ModelSpec, TemplateSpec
from karenina_core.templates.template import Template, read_template
from karenina_core.templates.writer import write_template

__all__ = [
    "Evaluation",
    "FieldSpec",
    "Limits",
    "ModelSpec",
    "Sandbox",
    "Template",
    "TemplateSpec",
    "read_template",
    "source_of",
    "template_id",
    "write_template",
]

"""Questions from spreadsheets and other tables: read, mapped, examined, imported; and written as one."""

from karenina_core.benchmark.tables.doctor import Added, Draft, Import, apply, preview
from karenina_core.benchmark.tables.findings import KINDS, Choice, Choices, Finding
from karenina_core.benchmark.tables.formats import SUFFIXES, TITLES, Opened, Options, open_file, read_table
from karenina_core.benchmark.tables.mapping import ROLES, SEPARATORS, ColumnMapping, KeywordColumn, suggest_mapping
from karenina_core.benchmark.tables.table import Row, Table, TableError

__all__ = [
    "KINDS",
    "ROLES",
    "SEPARATORS",
    "SUFFIXES",
    "TITLES",
    "Added",
    "Choice",
    "Choices",
    "ColumnMapping",
    "Draft",
    "Finding",
    "Import",
    "KeywordColumn",
    "Opened",
    "Options",
    "Row",
    "Table",
    "TableError",
    "apply",
    "open_file",
    "preview",
    "read_table",
    "suggest_mapping",
]

from .commands import commands_allowed as commands_allowed
from .commands import protection as protection
from .loop import AgentOutcome as AgentOutcome
from .work import answer_as_agent as answer_as_agent
from .work import inspect as inspect
from .work import trace_text as trace_text
from .workspaces import Workspace as Workspace
from .workspaces import open_workspace as open_workspace

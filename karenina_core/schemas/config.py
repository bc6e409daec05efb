"""Which models answer and judge, and how a run is carried out."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator

from karenina_core.schemas.entities.question import FewShotExample

Interface = Literal["provider", "litellm", "langchain", "openrouter", "openai_endpoint", "manual", "recorded", "local"]
# What would carry a key, lead a request elsewhere, or change what is counted as its price.
_CREDENTIAL = re.compile(
    r"key|token(?:$|_provider)|secret|password|credential|api_base|base_url|endpoint|header|provider$|client|proxy|"
    r"session|ssl|cert|callback|logger|cost_per|mock|^aws_|^vertex_|^azure_|fallback|model_list|^user_config",
)
_NAMED = ("provider", "litellm", "langchain", "openrouter", "openai_endpoint", "recorded")
KEY_VARIABLE = re.compile(r"^[A-Z][A-Z0-9_]{2,60}$")


AgentLimitName = Literal["turns", "tool calls", "seconds", "output"]
AgentTool = Literal["list_files", "read_file", "search_files", "write_file", "run_command"]


class AgentLimits(BaseModel):
    """When an agent has to stop. What it has done until then is kept.

    Attributes:
        max_turns: Calls of the model.
        max_tool_calls: Tools it uses.
        max_seconds: Time it may begin further turns.
        max_output_bytes: What all its tools together may say.
        max_result_bytes: What one tool may say; the rest is cut.
    """

    model_config = ConfigDict(extra="forbid")

    max_turns: int = Field(default=25, ge=1, le=500)
    max_tool_calls: int = Field(default=50, ge=1, le=2_000)
    max_seconds: float = Field(default=180, gt=0, le=86_400)
    max_output_bytes: int = Field(default=400_000, ge=1_000, le=20_000_000)
    max_result_bytes: int = Field(default=20_000, ge=200, le=1_000_000)


class MCPServer(BaseModel):
    """A server of the Model Context Protocol whose tools an agent may use.

    Attributes:
        url: Its address, for one that is reached by HTTP.
        command: Program and arguments, for one that is started here; needs `allow_commands` of the run.
        tools: Only these of its tools; all of them when not given.
    """

    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    command: list[str] = Field(default_factory=list)
    tools: list[str] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> MCPServer:
        if (self.url is None) == (not self.command):
            raise ValueError("an MCP server needs either a url or a command")
        return self


class AgentConfig(BaseModel):
    """How a model answers as an agent.

    Attributes:
        tools: What it may do in its workspace; `run_command` needs `allow_commands` of the run.
        limits: When it has to stop.
        mcp_servers: Further tools, by name of the server.
    """

    model_config = ConfigDict(extra="forbid")

    tools: list[AgentTool] = Field(default=["list_files", "read_file", "search_files", "write_file"])
    limits: AgentLimits = Field(default_factory=AgentLimits)
    mcp_servers: dict[str, MCPServer] = Field(default_factory=dict)


class ModelConfig(BaseModel):
    """One model, as answerer or judge.

    Attributes:
        id: Label in results; derived from provider and name when not given.
        model_provider: Provider name, such as `openai`.
        model_name: Name at the provider. For `local` the path of a GGUF file, or empty for the packaged model;
            for `recorded` the recording and the model in it, such as `demo/careful`.
        interface: How the model is reached. `provider` (also spelled `langchain`, `openrouter`,
            `openai_endpoint`) calls a provider: directly where it speaks the OpenAI protocol (OpenAI, OpenRouter,
            vLLM, Ollama, any address of one's own), otherwise through litellm; `litellm` calls every provider
            through litellm, but for addresses of one's own that speak the OpenAI protocol; `manual` gives prepared
            answers; `recorded` replays a recording; `local` runs a small model inside this process.
        temperature: Sampling temperature, 0 to 2.
        max_tokens: Longest reply, in tokens.
        system_prompt: Sent before the question. Nothing is sent when it is not set.
        max_retries: How often a judge reply that does not fit its schema is asked for again.
        endpoint_base_url: Address of an OpenAI-compatible endpoint.
        api_key_env: Name of the environment variable that holds the key; never the key.
        request_timeout: Seconds for one attempt; the run's value when not set.
        max_concurrent_requests: Calls of this model in flight at once; the run's bound alone when not set.
        requests_per_minute: At most so many requests are sent a minute, by all runs of the process together.
        tokens_per_minute: At most so many tokens are sent and received a minute, likewise; estimated before a call,
            and set right by what it took.
        extra_kwargs: Passed to the provider as they are, such as `{"top_p": 0.9}`; `stream` is not, because replies
            are read whole.
        manual_traces: For `manual`: answers by question id or question text. Never stored with a configuration.
        answers_digest: SHA-256 of those answers, which is stored; set by itself. Answers of another file, under
            the same label, are another model's.
        agent: Answer as an agent with tools in the question's workspace; a bare question is asked when not set.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    id: str = ""
    model_provider: str | None = None
    model_name: str = ""
    interface: Interface = "provider"
    temperature: float = Field(default=0.1, ge=0, le=2)
    max_tokens: int = Field(default=16_384, ge=1)
    system_prompt: str | None = None
    max_retries: int = Field(default=2, ge=0, le=10)
    endpoint_base_url: str | None = None
    api_key_env: str | None = None
    request_timeout: float | None = Field(default=None, gt=0)
    max_concurrent_requests: int | None = Field(default=None, ge=1, le=1000)
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    extra_kwargs: dict[str, Any] = Field(default_factory=dict)
    manual_traces: dict[str, str] | None = Field(default=None, exclude=True, repr=False)
    answers_digest: str | None = None
    agent: AgentConfig | None = None

    @field_validator("api_key_env")
    @classmethod
    def _a_name_not_a_key(cls, value: str | None) -> str | None:
        if value is not None and not KEY_VARIABLE.match(value):
            raise ValueError(
                "api_key_env takes the NAME of an environment variable, such as OPENAI_API_KEY, never the key itself"
            )
        return value

    @field_validator("extra_kwargs")
    @classmethod
    def _no_credentials(cls, value: dict[str, Any]) -> dict[str, Any]:
        # A key in here would reach the store and every export; an address would receive somebody's key.
        refused = sorted(name for name in value if _CREDENTIAL.search(name.lower()))
        if refused:
            raise ValueError(f"extra_kwargs may not hold {', '.join(refused)}; use api_key_env and endpoint_base_url")
        return value

    @model_validator(mode="after")
    def _complete(self) -> ModelConfig:
        if self.interface in _NAMED and not self.model_name:
            raise ValueError(f"interface {self.interface!r} needs a model_name")
        if self.interface == "openai_endpoint" and not self.endpoint_base_url:
            raise ValueError("interface 'openai_endpoint' needs an endpoint_base_url")
        if not self.id:
            self.id = self.label
        if self.manual_traces is not None:
            text = json.dumps(self.manual_traces, sort_keys=True)
            self.answers_digest = hashlib.sha256(text.encode()).hexdigest()
        return self

    @property
    def transport(self) -> Literal["provider", "manual", "recorded", "local"]:
        """What kind of model it is. Which way a call of a provider went is in the provenance of its reply."""
        match self.interface:
            case "manual" | "recorded" | "local":
                return self.interface
            case _:
                return "provider"

    @property
    def is_provider(self) -> bool:
        """Whether calls go to a provider, take money and can fail for reasons that pass."""
        return self.transport == "provider"

    @property
    def label(self) -> str:
        """A readable name: `openai/gpt-4.1-mini`, `local`, `demo/careful`."""
        if self.interface == "local":
            return f"local:{self.model_name}" if self.model_name else "local"
        if self.interface == "manual":
            return self.model_name or "manual"
        return self.provider_model

    @property
    def provider_model(self) -> str:
        """The name litellm understands: provider and model, joined by a slash."""
        provider = {"openrouter": "openrouter", "openai_endpoint": "openai"}.get(self.interface, self.model_provider)
        if not provider or self.model_name.startswith(f"{provider}/"):
            return self.model_name
        return f"{provider}/{self.model_name}"

    @classmethod
    def parse(cls, text: str, **settings: Any) -> ModelConfig:
        """Read the short form used on the command line.

        Args:
            text: `openai/gpt-4.1-mini`, `litellm:openai/gpt-4.1-mini`, `local`, `local:/path/model.gguf`,
                `recorded:NAME` or `manual:NAME`.
            **settings: Further fields.
        """
        kind, _, rest = text.partition(":")
        if kind in ("local", "recorded", "manual", "litellm"):
            return cls.model_validate({"interface": kind, "model_name": rest, **settings})
        return cls.model_validate({"model_name": text, **settings})


class FewShotConfig(BaseModel):
    """Examples prepended to the question for the answering model.

    Attributes:
        source: `question_pool` (each question's own examples), `global`, or `both`.
        k: At most this many of a question's own examples, chosen reproducibly by its id; all when not set.
        global_examples: Appended after a question's own.
    """

    model_config = ConfigDict(extra="forbid")

    source: Literal["question_pool", "global", "both"] = "question_pool"
    k: int | None = Field(default=None, ge=1)
    global_examples: list[FewShotExample] = Field(default_factory=list)


class PromptConfig(BaseModel):
    """Extra instructions appended to the judge's prompts, by task."""

    model_config = ConfigDict(extra="forbid")

    parsing: str | None = None
    rubric_evaluation: str | None = None
    abstention_detection: str | None = None
    sufficiency_detection: str | None = None
    agentic_parsing: str | None = None


class VerificationConfig(BaseModel):
    """How a benchmark is run.

    Attributes:
        answering_models: The models under test; model names are accepted too.
        parsing_models: The judges.
        replicate_count: Repetitions of every question with every model.
        evaluation_mode: `auto` runs templates, and rubrics whenever there are any.
        rubric_trait_names: Evaluate only these traits.
        rubric_evaluation_strategy: `batch` asks for all LLM traits in one call, `sequential` one call each.
        abstention_enabled: Ask the judge whether the response declines to answer; then nothing is extracted.
        sufficiency_enabled: Ask the judge whether the response holds what the template asks for.
        include_extraction_hints: Show the fields' extraction hints to the judge.
        embedding_check_enabled: Compute similarities at stage 9; needed by `SemanticMatch`.
        embedding_check_model: Name of, or path to, the sentence-transformers model.
        embedding_check_threshold: Similarity, 0 to 1, from which a whole answer counts as similar; informational.
        max_concurrent_requests: Model calls in flight at once, over all models.
        adaptive_concurrency: Each model begins with fewer calls in flight and goes on to as many as its provider
            accepts, within the bound above; otherwise it gets as many as the bound allows.
        request_timeout: Seconds for one attempt of one call.
        max_attempts: Attempts per call when the failure may pass (timeout, rate limit, server error).
        max_cost: US dollars the run may spend. It stops when they are spent; calls in flight at that moment are
            finished, so it may spend a little more. Models without a known price do not count.
        max_seconds: Seconds the run may work each time it is started or resumed. It stops when they are over; calls in
            flight at that moment are finished.
        workspace_copy: Agents work in a copy beside a question's workspace, and originals are never touched.
        workspace_cleanup: Copies are removed when their results are stored.
        allow_commands: Agents with the tool `run_command` may run shell commands, and MCP servers may be started, where
            the environment has `KARENINA_ALLOW_COMMANDS=1`.
        agentic_parsing: The judge inspects the workspace itself before it fills the template.
        agentic_parsing_trigger: `dynamic` does so only where the answer's text leaves a field without a value.
        agentic_judge_context: What the inspecting judge has: the workspace, the answer, or both.
        agentic_parsing_max_turns: Calls of one inspection.
        agentic_parsing_timeout: Seconds in which an inspection may begin further calls.
        use_full_trace_for_template: The judge reads an agent's whole transcript, not only its last message.
        use_full_trace_for_rubric: Traits assessed by a judge are assessed on the whole transcript.
        few_shot_config: Examples for the answering model; none are shown when not set.
        prompt_config: Extra instructions for the judge.
    """

    model_config = ConfigDict(extra="forbid")

    answering_models: list[ModelConfig] = Field(min_length=1)
    parsing_models: list[ModelConfig] = Field(min_length=1)
    replicate_count: int = Field(default=1, ge=1, le=1000)
    evaluation_mode: Literal["auto", "template_only", "template_and_rubric", "rubric_only"] = "auto"
    rubric_trait_names: list[str] | None = None
    rubric_evaluation_strategy: Literal["batch", "sequential"] = "batch"
    abstention_enabled: bool = False
    sufficiency_enabled: bool = False
    include_extraction_hints: bool = True
    embedding_check_enabled: bool = Field(
        default=False, validation_alias=AliasChoices("embedding_check_enabled", "embedding_check")
    )
    embedding_check_model: str = "all-MiniLM-L6-v2"
    embedding_check_threshold: float = Field(default=0.85, ge=0, le=1)
    max_concurrent_requests: int = Field(default=8, ge=1, le=1000)
    adaptive_concurrency: bool = True
    request_timeout: float = Field(default=120, gt=0)
    max_attempts: int = Field(default=4, ge=1, le=20)
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    workspace_copy: bool = True
    workspace_cleanup: bool = True
    allow_commands: bool = False
    agentic_parsing: bool = False
    agentic_parsing_trigger: Literal["always", "dynamic"] = "always"
    agentic_judge_context: Literal["workspace_only", "trace_and_workspace", "trace_only"] = "workspace_only"
    agentic_parsing_max_turns: int = Field(default=15, ge=1, le=500)
    agentic_parsing_timeout: float = Field(default=120, gt=0, le=86_400)
    use_full_trace_for_template: bool = False
    use_full_trace_for_rubric: bool = True
    few_shot_config: FewShotConfig | None = None
    prompt_config: PromptConfig | None = None

    @field_validator("answering_models", "parsing_models", mode="before")
    @classmethod
    def _names_are_models(cls, value: Any) -> Any:
        items = [value] if isinstance(value, str | ModelConfig) else value
        if not isinstance(items, list | tuple):
            return items
        return [ModelConfig.parse(item) if isinstance(item, str) else item for item in items]

    @property
    def uses_workspaces(self) -> bool:
        """Whether an agent works in the workspaces of questions."""
        inspects = self.agentic_parsing and self.agentic_judge_context != "trace_only"
        return inspects or any(model.agent for model in self.answering_models)

    @model_validator(mode="after")
    def _distinct_labels(self) -> VerificationConfig:
        for role, models in (("answering", self.answering_models), ("parsing", self.parsing_models)):
            labels = [model.id for model in models]
            repeated = sorted({label for label in labels if labels.count(label) > 1})
            if repeated:
                raise ValueError(f"two {role} models share the id {', '.join(repeated)}; give each its own id")
        return self

"""Where every leaf of a manifest belongs: generation, scoring, judgement or none. The one list.

A leaf is a path of field names; `[]` stands for the elements of a list, `*` for the names of a free map.
Generation can change what the model saw or said, scoring what was measured of it, judgement what counts as
good. `none` never touches identity. docs/identity.md is generated from this table.
"""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    GENERATION = "generation"
    SCORING = "scoring"
    JUDGEMENT = "judgement"
    NONE = "none"


G, S, J, N = Part.GENERATION, Part.SCORING, Part.JUDGEMENT, Part.NONE

CASE_FIELDS = {
    "schema_version": N,
    "name": N,
    "description": N,
    "question": N,
    "status": N,
    "default_task": N,
    "business_use": N,
    "current_problem": N,
    "technical_uncertainty": N,
}

DATASET_FIELDS = {
    "schema_version": N,
    "name": N,
    "description": N,
    "items_from": N,  # its content counts through the items it yields
    "shared_assets[]": G,
    "items[].id": G,
    "items[].input": G,
    "items[].expected": G,
    "items[].metadata.*": G,
    "items[].assets[]": G,
}

RUBRIC_FIELDS = {
    "schema_version": N,
    "name": J,
    "rationale": J,
    "dimensions[].id": J,
    "dimensions[].question": J,
    "dimensions[].reason_codes[]": J,
    "acceptance.rule": J,
}

CONFIG_FIELDS = {
    "schema_version": N,
    "inspect_version": G,
    "endpoints[].provider": N,
    "endpoints[].base_url": G,  # its origin: where the model answers
    "endpoints[].owner": N,
    "endpoints[].shared": N,
    "endpoints[].replicas": N,
    "endpoints[].requests_per_replica": N,
    "endpoints[].max_connections": N,
}

MODELS_FIELDS = {
    "schema_version": N,
    "models[].provider": N,  # prices are evidence of execution time, never identity
    "models[].model": N,
    "models[].usd_per_million.input": N,
    "models[].usd_per_million.output": N,
    "models[].usd_per_million.cache_read": N,
    "models[].usd_per_million.cache_write": N,
    "models[].free": N,
    "models[].usd_per_hour": N,
    "models[].replicas": N,
    "models[].capabilities[]": N,
    "models[].effort_values[]": N,
}

_EXECUTION_FIELDS = {
    "execution.backend": G,
    "execution.file": G,
    "execution.task": G,
    "execution.task_args.*": G,
    "execution.sources[]": G,  # a flat list is all generation
    "execution.sources.generation[]": G,
    "execution.sources.scoring[]": S,
    "execution.limits.cost_limit": G,
    "execution.limits.time_limit": G,
    "execution.limits.token_limit": G,
    "execution.limits.message_limit": G,
    "execution.limits.turn_limit": G,
    "execution.limits.working_limit": G,
    "execution.artifacts.required[]": S,
    "execution.artifacts.allowed[]": S,
    "execution.artifacts.review": S,
    "execution.artifacts.review[]": S,
    "execution.artifacts.max_bytes": S,
    "execution.allow_mutable_images": G,
    "execution.model_roles.*": G,
    "execution.inspect.*": G,
}

_DEFAULTS_FIELDS = {
    "defaults.items": G,
    "defaults.items.ids[]": G,
    "defaults.items.first": G,
    "defaults.items.random": G,
    "defaults.items.seed": G,
    "defaults.repetitions": N,  # the repetition of a run counts, not how many there are
    "defaults.concurrency": N,
    "defaults.timeout_seconds": G,
    "defaults.retries": G,
    "defaults.max_attempts": N,
    "defaults.tolerate_failed": J,
    "defaults.budget_usd": N,
    "defaults.judge_budget_usd": N,
    "defaults.parameters.*": G,
}

_EVALUATION_FIELDS = {
    "evaluation.mechanical[]": S,  # the names of required scorers
    "evaluation.mechanical[].*.pass_at": J,
    "evaluation.mechanical[].*.prerequisite": J,
    "evaluation.mechanical[].*.width": J,
    "evaluation.mechanical[].*.height": J,
    "evaluation.mechanical[].*.format": J,
    "evaluation.human_review.rubric": J,
    "evaluation.model_judges[].id": J,
    "evaluation.model_judges[].provider": J,
    "evaluation.model_judges[].model": J,
    "evaluation.model_judges[].role": J,
    "evaluation.model_judges[].rubric": J,
    "evaluation.model_judges[].prompts.system": J,
    "evaluation.model_judges[].prompts.user": J,
    "evaluation.model_judges[].repetitions": J,
    "evaluation.model_judges[].parameters.*": J,
    "evaluation.acceptance.requires[]": J,
    "evaluation.acceptance.human.required_reviews_per_item": J,
    "evaluation.acceptance.human.on_disagreement": J,
    "evaluation.acceptance.selection": J,
}

EVAL_FIELDS = {
    "schema_version": N,
    "name": N,
    "question": N,
    "description": N,
    "status": N,
    "task": G,
    "dataset": N,  # its path does not count, its rendered content does
    "output_schema": G,
    **_EXECUTION_FIELDS,
    **_DEFAULTS_FIELDS,
    "arms[].id": N,
    "arms[].description": N,
    "arms[].prompts.system": G,
    "arms[].prompts.user": G,
    "arms[].references[]": G,
    "arms[].parameters.*": G,
    "runs[].provider": G,
    "runs[].model": G,
    "runs[].arms[]": N,
    "runs[].repetitions": N,
    "runs[].parameters.*": G,
    **_EVALUATION_FIELDS,
    "metrics.primary": J,
    "metrics.secondary[]": J,
}

# A lock is an executed source, so its bytes count.
IMAGE_LOCK_FIELDS = {
    "schema_version": G,
    "images[].reference": G,
    "images[].locked": G,
    "images[].platform": G,
    "images[].child": G,
}

# Where code came from says nothing about what it does.
UNTRUSTED_ORIGIN_FIELDS = {
    "schema_version": N,
    "content_digest": N,
    "source": N,
    "unpacked_at": N,
}

# What reviewers answer is evidence of its own; it changes no run.
RESPONSES_FIELDS = {
    "schema_version": N,
    "pack": N,
    "reviews[].entry": N,
    "reviews[].answers.*.passed": N,
    "reviews[].answers.*.reason": N,
    "reviews[].answers.*.note": N,
    "reviews[].note": N,
}

# Under which name a case is published says nothing about what it measures.
PUBLICATION_FIELDS = {
    "schema_version": N,
    "publisher": N,
    "name": N,
    "version": N,
    "licence": N,
    "authors[]": N,
    "tags[]": N,
    "profile": N,
    "data_review.reviewer": N,
    "data_review.date": N,
    "data_review.statement": N,
    "forked_from.publisher": N,
    "forked_from.name": N,
    "forked_from.version": N,
    "forked_from.content_digest": N,
}
PACKAGE_FIELDS = {
    **PUBLICATION_FIELDS,
    "content_digest": N,
    "files": N,
    "bytes": N,
    "tamesu": N,
}
REGISTRY_ENTRY_FIELDS = {
    "schema_version": N,
    "published_at": N,
    "archive_sha256": N,
    **{f"package.{field}": N for field in PACKAGE_FIELDS},
}
PUBLISHER_FIELDS = {
    "schema_version": N,
    "publisher": N,
    "owners[]": N,
}
VIEW_ONLY_FIELDS = {
    "schema_version": N,
    "reason": N,
}

FIELDS: dict[str, dict[str, Part]] = {
    "case": CASE_FIELDS,
    "dataset": DATASET_FIELDS,
    "eval": EVAL_FIELDS,
    "rubric": RUBRIC_FIELDS,
    "config": CONFIG_FIELDS,
    "models": MODELS_FIELDS,
    "image-lock": IMAGE_LOCK_FIELDS,
    "untrusted-origin": UNTRUSTED_ORIGIN_FIELDS,
    "responses": RESPONSES_FIELDS,
    "publication": PUBLICATION_FIELDS,
    "package": PACKAGE_FIELDS,
    "view-only": VIEW_ONLY_FIELDS,
    "registry-entry": REGISTRY_ENTRY_FIELDS,
    "publisher": PUBLISHER_FIELDS,
}

"""Rules about evals and what they refer to. ID: (what is wrong, why it matters, how to fix it)."""

from __future__ import annotations

EVAL_RULES: dict[str, tuple[str, str, str]] = {
    "acceptance/ignores-judge": (
        "A judge with `role: gate` that acceptance does not require (warning).",
        "It would be asked and paid, and decide nothing.",
        "Add its ID to `acceptance.requires`, or give it `role: screen`.",
    ),
    "acceptance/ignores-review": (
        "`human_review` is declared but acceptance does not require `human`.",
        "People would review for nothing, and the figure would hide what they said.",
        "Add `human` to `acceptance.requires`, or drop `human_review`.",
    ),
    "acceptance/no-evidence": (
        "Acceptance requires evidence that nothing in this eval produces.",
        "No item could ever be accepted.",
        "Require `mechanical`, `human` or the ID of a judge with `role: gate`.",
    ),
    "acceptance/no-review": (
        "Acceptance requires `human` but `human_review` is not declared.",
        "No item could ever be accepted.",
        "Declare `evaluation.human_review.rubric`, or drop `human`.",
    ),
    "acceptance/no-scorer": (
        "Acceptance requires `mechanical` but no scorer is listed.",
        "Every item would pass without being measured.",
        "List scorers in `evaluation.mechanical`, or drop `mechanical`.",
    ),
    "acceptance/screening-judge": (
        "Acceptance requires a judge that only screens.",
        "A screening judge decides what people look at first, not what is accepted.",
        "Give the judge `role: gate`, or drop it from `acceptance.requires`.",
    ),
    "approval/human": (
        "An approval policy that asks a person.",
        "Nobody sits at a run, so it would wait until its time limit.",
        "Use `auto` with a `decision`, or an approver that the task's module defines.",
    ),
    "approval/policy": (
        "An approval policy without approvers, or an approver without `name` or `tools`.",
        "The run would fail at its start.",
        "Write `approvers: [{name: auto, tools: '*', decision: approve}]`.",
    ),
    "approval/undeclared": (
        "The file of an approval policy is no declared source.",
        "It decides which tools a model may use without being part of the run's identity.",
        "Add the file to `execution.sources`.",
    ),
    "dataset/empty": (
        "A dataset without items.",
        "There would be nothing to ask, and every rate would divide by zero.",
        "Write at least one item.",
    ),
    "dataset/not-as-promoted": (
        "A promoted dataset holds items or pictures that its `promotion.yml` does not know so.",
        "Its provenance says of each what accepted it; of what was edited since, nobody did.",
        "Put the file back, promote again, or delete `promotion.yml`, which is not true of this dataset any more.",
    ),
    "dataset/not-renderable": (
        "A selection or a prompt template that the dataset cannot serve.",
        "The prompts could not be made, or would lack what they name.",
        "Correct the selection, or the field that the template uses.",
    ),
    "endpoint/base-url": (
        "A base URL in config/config.yaml that is no http(s) URL, or holds a user, a password, a query or a fragment.",
        "It is part of a run's identity and is shown; a credential in it would be committed and packed.",
        "Write scheme, host, port and path; credentials are read by name from the environment.",
    ),
    "endpoint/repeated": (
        "A provider has two endpoints in config/config.yaml.",
        "Nobody knows which of the two a run was planned for.",
        "Keep one entry per provider; another endpoint is another `openai-api/<service>`.",
    ),
    "eval/missing-field": (
        "A field that this eval needs is missing.",
        "The plan would not be complete.",
        "Add the field; `task` may come from `default_task` of the case.",
    ),
    "id/form": (
        "A folder of a case, an experiment or an eval whose name is no lowercase kebab-case ID.",
        "Names become parts of paths, of commands and of patterns, where blanks and braces mean something else.",
        "Rename the folder as the message says.",
    ),
    "id/leading-zeros": (
        "Two item IDs differ only by leading zeros.",
        "Tables drop such zeros, and patterns match both.",
        "Let them differ in more than zeros.",
    ),
    "id/repeated": (
        "An ID appears twice, or is listed twice, or two IDs differ only by case or Unicode form.",
        "IDs become file names, and some systems cannot tell such names apart.",
        "Give each its own ID.",
    ),
    "id/reserved": (
        "An ID that is a device's name on some systems, such as `con` or `nul`.",
        "No file of that name can exist there.",
        "Choose another ID.",
    ),
    "image/compose-shape": (
        "A compose file whose images cannot be known: no `services`, wrong types, circles, too many files.",
        "An image that is not seen would not be part of the run's identity.",
        "Write it as the Compose reference says, in fewer files.",
    ),
    "image/lock": (
        "A lock file names one image twice, or locks an image to content of another repository.",
        "Nobody could tell which content the name stands for.",
        "Delete the entry and run `tamesu lock`.",
    ),
    "image/not-pinned": (
        "A container image has no digest, cannot be resolved from the files alone, or is Inspect's default.",
        "A tag may name another image tomorrow, and the measurement could not be repeated.",
        "Write `name@sha256:<digest>`, run `tamesu lock`, or set `execution.allow_mutable_images: true`.",
    ),
    "image/undeclared-context": (
        "A build context that is missing, lies outside the project, or is not declared whole.",
        "Files outside the executed copy would be built into the image unnoticed.",
        "Add the folder to `execution.sources`.",
    ),
    "image/undeclared-file": (
        "A file that configures a sandbox, or that a compose file extends, includes or reads, is no declared source.",
        "It would decide which image runs without being part of the run's identity.",
        "Add the file to `execution.sources`.",
    ),
    "judge/no-bound": (
        "A paid judge without `parameters.max_tokens` (warning).",
        "Nothing bounds what a call of it may cost, so it is not asked.",
        "Set `max_tokens` among the judge's own parameters; those of `defaults` are not the judge's.",
    ),
    "judge/no-price": (
        "A judge whose model has no registered price (warning).",
        "What it costs would not be known, so it is not asked.",
        "Add the model to config/models.yml.",
    ),
    "judge/no-rubric": (
        "A judge without a rubric, where `human_review` has none either.",
        "There would be nothing to answer.",
        "Name a rubric; without one of its own a judge answers that of `human_review`.",
    ),
    "judge/not-blind": (
        "A judge's prompt that is no template, or names what a judge may not see.",
        "A judge that knows model, arm, cost or the expected answer judges these as well.",
        "Name `item.id`, `item.input`, `rubric.name`, `rubric.rationale` and `rubric.dimensions` alone.",
    ),
    "judge/prompt": (
        "A judge's prompts cannot be rendered for an item that is selected.",
        "No output of that item could be judged.",
        "Correct the template, or the item's input.",
    ),
    "metric/not-produced": (
        "A metric that this eval does not produce.",
        "The report would have a hole where the answer should be.",
        "Use the nearest name that the message gives, or declare what the metric needs.",
    ),
    "name/folder": (
        "The eval's name is not the name of its folder.",
        "Evals are named by their folders everywhere else.",
        "Use the folder's name.",
    ),
    "output-schema/invalid": (
        "`output_schema` is no JSON Schema of draft 2020-12.",
        "No output could be checked against it.",
        "Correct the schema.",
    ),
    "output-schema/pattern": (
        "A pattern of `output_schema` does not parse, or repeats what repeats, such as `(a+)+`.",
        "Checking an answer that does not match may take for ever.",
        "Begin each repetition with a character that nothing else in it matches, as in `(-[a-z]+)*`, or bound it.",
    ),
    "parameter/effort": (
        "An effort that the model does not take, by `effort_values` in config/models.yml.",
        "The provider would refuse the call, or answer with another effort than the one written down.",
        "Use one of the values that the message names.",
    ),
    "parameter/no-bound": (
        "Nothing bounds what a call may cost.",
        "The exposure of the plan cannot be computed.",
        "Set `parameters.max_tokens`.",
    ),
    "parameter/not-sent": (
        "A parameter for which the model's route has no name on the wire (warning).",
        "The request would leave without it: the plan would say one thing and the model see another.",
        "Remove it, or write `provider-default` to leave it out on purpose; docs/routes.md says what each route sends.",
    ),
    "parameter/refused": (
        "A parameter that is owned by another setting, or that would replace what the plan says.",
        "Two places would decide one thing, or an answer would not be a draw of this model at this price.",
        "Do what the message says instead.",
    ),
    "parameter/unknown": (
        "A parameter that is nearly one of Inspect's.",
        "Unknown names travel in the request's body; a misspelled setting would silently not count.",
        "Use the name that the message gives, or keep the name if the provider knows it.",
    ),
    "parameter/value": (
        "A parameter of a wrong type or out of its bounds, such as `max_tokens: -5` or `temperature: hot`.",
        "Every call would fail, or the exposure would be computed from nonsense.",
        "Write what the message says, or `provider-default` to leave the field out on purpose.",
    ),
    "price/contradiction": (
        "An entry of config/models.yml that is free and has a price, or counts replicas of nothing that is rented.",
        "Which of them counts would be a guess.",
        "Keep one of the two.",
    ),
    "price/repeated": (
        "A model has two entries in config/models.yml.",
        "Which price counts would be a guess.",
        "Keep one entry per model.",
    ),
    "price/unknown": (
        "Nobody knows the price of a model.",
        "`cost_limit` and the budget could not act; an unknown price is never taken for 0.",
        "Add the model to config/models.yml with `usd_per_million`, `usd_per_hour` or `free: true`.",
    ),
    "prompt/empty": (
        "A prompt file without text, or an item whose user message would be empty.",
        "The model would be asked nothing, and answer something.",
        "Write the prompt, or the input of the item.",
    ),
    "prompt/not-a-template": (
        "A prompt that is not called `.j2` and holds `{{ item.` or `{% `.",
        "It is sent as it stands, so the model would see the braces and not the item.",
        "Rename it to end in `.j2`; leave it when the braces are meant.",
    ),
    "provider/no-route": (
        "A provider that Inspect cannot be asked for.",
        "No call could be made.",
        "Use one of the routes that the message names.",
    ),
    "replay/no-answer": (
        "Items of a replayed run for which no recorded answer fits; a warning.",
        "Each of them would fail when it is asked.",
        "Record the answers, or correct the item, model or arm that the recordings name.",
    ),
    "replay/no-recordings": (
        "Provider `replay` without recorded answers.",
        "There is nothing to replay.",
        "Name their file in `parameters.recordings`.",
    ),
    "replay/picture": (
        "A recorded picture that is not here, or holds other bytes than its line says.",
        "The answer of an item would be another one than the one recorded, or none.",
        "Put the file back, or write the digest that the message names.",
    ),
    "replay/recordings": (
        "A file of recorded answers that cannot be read.",
        "An answer would be missing in the middle of a run.",
        "Correct the line that the message names.",
    ),
    "replay/same-prompt": (
        "Two items of a replayed arm whose rendered prompts are equal.",
        "A recorded answer is found by the prompt, so one item would be given the other's.",
        "Let the prompt print what tells them apart, or take one of them out.",
    ),
    "check/never-passes": (
        "`format_match` of pictures in a format in which none is kept (`bmp`, `tiff`, and what no decoder here reads).",
        "What comes in it is no artifact, so every item would be paid for and fail the check.",
        "Ask for png, jpeg, webp or gif in `format` and `parameters.image.output_format`, or drop the check.",
    ),
    "check/setting": (
        "A check with a setting that it does not take.",
        "It would do nothing, and the eval would be judged otherwise than it reads.",
        "Remove it, or write it at the check that takes it.",
    ),
    "check/unknown": (
        "A structured text or a picture with a check that its task does not make and no task file can mean.",
        "Nothing would produce it, and every item would lack a score.",
        "Use one of the task's checks, or a scorer of your own, which a task file on backend `inspect` brings.",
    ),
    "review/no-role": (
        "`human_review` without an artifact that people look at.",
        "There would be nothing to review.",
        "Name the role in `execution.artifacts.review`.",
    ),
    "review/unlisted-role": (
        "`artifacts.review` names a role that is neither required nor allowed.",
        "A misspelled role is never staged, and review would vanish without a word.",
        "List the role under `required` or `allowed`, or use the name that the message gives.",
    ),
    "role/name": (
        "A role in `model_roles` whose name is no short lowercase name.",
        "It becomes part of file names and of lines that people read.",
        "Use lowercase letters, digits, `-` and `_`, at most 40.",
    ),
    "role/no-grader": (
        "A task uses one of Inspect's `model_graded_…` scorers, and no role is declared.",
        "Inspect then asks the model under test, which would grade its own answers.",
        "Declare `model_roles: {grader: …}`, or judge with code.",
    ),
    "role/unused": (
        "A role in `model_roles` whose name stands in no declared source.",
        "A misspelled role is never asked: Inspect answers with the model under test instead.",
        "Write the name as the task does, or remove the role.",
    ),
    "rubric/no-code": (
        "A dimension of a rubric whose `reason_codes` is empty.",
        "A fail is recorded with its reason, and there would be none to choose.",
        "Add a code, or remove the field.",
    ),
    "rubric/reserved-code": (
        "A rubric uses the reason code `none`.",
        "It is reserved for a pass.",
        "Choose another code.",
    ),
    "run/edited-in-flight": (
        "A file was edited that a run in flight was started from.",
        "The run uses its own copy, so its figures are about the file as it was.",
        "Wait for the run, or stop it, before relying on the edit.",
    ),
    "run/repeated": (
        "A model and arm are planned twice.",
        "Both would be the same run.",
        "Use `repetitions` for more draws.",
    ),
    "run/too-many": (
        "A plan of more than 10,000 runs.",
        "Each run is a folder and a job; so many come from a number that was mistyped.",
        "Lower the repetitions, or split the eval.",
    ),
    "run/unknown-arm": (
        "A run names an arm that is not declared.",
        "It would not be run.",
        "Declare the arm, or use the nearest name that the message gives.",
    ),
    "scorer/repeated": (
        "A scorer is listed twice.",
        "It would be judged by two thresholds.",
        "List it once.",
    ),
    "sources/omits-task": (
        "`sources` omit the task's own file.",
        "The code that runs must be part of the run's identity.",
        "Add it to `execution.sources`.",
    ),
    "sources/scoring-imported": (
        "A generation source imports a scoring source.",
        "A change of the scorer could then change what the model says, without making the run stale.",
        "Declare the imported file under `generation`.",
    ),
    "sources/undeclared": (
        "A source-like file beside the task is not declared.",
        "The task may import it, and a change would go unnoticed.",
        "Add it to `execution.sources`, or move it away.",
    ),
    "support/missing": (
        "The manifest is valid, but this version cannot do what it asks for.",
        "Nothing is run under another meaning than the one written down.",
        "Use a version that supports it; until then `run` refuses such an eval.",
    ),
    "task/args": (
        "`task_args` set `dataset`.",
        "Every task is passed the frozen dataset under that name.",
        "Remove it, or rename the task's parameter.",
    ),
    "task/backend": (
        "The task cannot run on this backend.",
        "An artifact bundle is staged by code, which only Inspect runs.",
        "Set `execution.backend` to the one that the message names.",
    ),
    "task/no-file": (
        "An option of `execution` on backend `inspect` that only a task file could use.",
        "Without one each item is asked once, by Tamesu's own task: no tools, no sandbox, no further models.",
        "Name `file` and `task` in `execution`, or remove the option.",
    ),
    "task/not-python": (
        "The task module is not Python.",
        "The run would fail at its start.",
        "Correct the line that the finding names.",
    ),
    "task/sandbox": (
        "A sandbox type that neither Inspect nor a known plug-in brings; a warning.",
        "A misspelt type ends every run before its first answer.",
        "Correct the name, or install the plug-in that brings it.",
    ),
    "task/unknown": (
        "The task module holds no function of that name, or one without `@task`.",
        "The run would fail at its start.",
        "Use the name of the `@task` function.",
    ),
}

/** The agent that writes manifests of agents. */
import { agentSchema } from "../../../../actors/agent/manifest/manifest.ts";
import type { ServiceTask } from "./task.ts";

const instruction = `You write manifests of agents for a service that runs agents in sandboxes.
You are told what the new agent is for. Answer with its manifest as one JSON object and nothing else: no explanation, \
no second object.

- apiVersion is "svc.dev/v1", kind is "Agent", metadata.version is "1.0.0" unless another is asked for.
- metadata.name says in a few lower-case words, joined by "-", what the agent does; metadata.description says it in a \
sentence.
- spec.task.instruction tells the agent, who knows nothing else, what it is to do, how, and what its answer looks like. \
The input of a run is shown to it below the instruction.
- spec.runtime names a language and a version of the list of runtimes, never an image.
- spec.tools names only tools of the list that the work needs; with none the agent answers from its prompt alone.
- spec.security.network only if the work needs hosts: then mode "allow" and an allowlist of exactly those hosts.
- spec.input_schema where the input has parts that can be named; a json_schema validator in spec.execution.validation \
where the answer is data that others read.
- spec.schedule, deliveries, output handlers, volumes and secrets only where they are asked for.
- Everything not needed is left out.

The JSON Schema of manifests:
${JSON.stringify(agentSchema)}`;

const prompt = `{{instruction}}

Runtimes: {{json input.runtimes}}
Tools: {{json input.tools}}
Aliases of models: {{json input.models}}

What the agent is for:
{{input.request}}
{{#if input.previous}}

Your last answer was:
{{input.previous}}

It cannot be used:
{{#each input.issues}}- {{path}}: {{message}} ({{code}})
{{/each}}
Answer with the mended manifest.{{/if}}`;

export const agentWriterTask: ServiceTask = {
  description: "Writes the manifest of an agent from what it is for",
  instruction,
  prompt,
};

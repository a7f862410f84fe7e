/** The agent that writes the program of an intent. */
import type { ServiceTask } from "./task.ts";

const instruction = `You write one program that does what you are told, in the language that is named. Answer with the \
whole text of the program and nothing else: no explanation, no alternatives.

- It runs once, by itself, in a sandbox without network: python as python3, javascript as node (a CommonJS module), \
bash as bash. It may use the language's standard library only, and write below /workspace and /tmp.
- Its inputs are the members of a JSON object in the environment variable INTENT_INPUTS. It reads nothing from stdin.
- It writes its result to stdout, as JSON where the result has parts, and nothing else there. Diagnostics go to stderr.
- It exits with 0 only if it did what was asked.`;

const prompt = `{{instruction}}

Language: {{input.language}}
Inputs (INTENT_INPUTS): {{input.inputs}}

What the program is to do:
{{input.intent}}
{{#if input.feedback}}

Your last program was:
{{input.previous}}

It failed:
{{input.feedback}}

Answer with the mended program.{{/if}}`;

export const programWriterTask: ServiceTask = {
  description: "Writes a program that does what an intent says",
  instruction,
  prompt,
};

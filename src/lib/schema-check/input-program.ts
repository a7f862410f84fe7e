/** The process that checks inputs against schemas which may take for ever. */
import type { ValidateFunction } from "ajv";
import { LRUCache } from "lru-cache";
import type { Json } from "../../../actors/kernel/json.ts";
import { type InputVerdict, judgeInput } from "../../../actors/manifest/json-schema/input-schema.ts";
import { compileSchema } from "../../../actors/manifest/json-schema/json-schema.ts";
import { serveGuarded } from "../guarded/serve.ts";
import type { InputJob } from "./input-check.ts";

/** Compiled checks by their schema's text: the same agent is often started again. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 50 });

await serveGuarded(({ schema, input, maxCharacters, rules }: InputJob): InputVerdict => {
  let validate: ValidateFunction;
  try {
    validate = checkOf(schema);
  } catch (error) {
    // Stored by a version of the service that took what this one refuses.
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return { ok: false, issues: [{ path: "input", message: `cannot be checked: the input_schema ${reason}` }] };
  }
  return judgeInput(schema, validate, input, maxCharacters, rules);
});

function checkOf(schema: Json): ValidateFunction {
  const text = JSON.stringify(schema);
  let validate = compiled.get(text);
  if (validate === undefined) {
    // One issue is enough here: every one of them could be millions.
    validate = compileSchema(schema, "first");
    compiled.set(text, validate);
  }
  return validate;
}

/** The process that checks inputs against schemas which may take for ever. */
import { judgeInput } from "../../../../actors/manifest/input-schema.ts";
import { compileSchema } from "../../../../actors/manifest/json-schema.ts";
import { serveGuarded } from "../../../lib/guarded.ts";
import type { InputJob } from "./input-check.ts";

// One issue is enough here: every one of them could be millions.
await serveGuarded(({ schema, input, maxCharacters, rules }: InputJob) =>
  judgeInput(schema, compileSchema(schema, "first"), input, maxCharacters, rules),
);

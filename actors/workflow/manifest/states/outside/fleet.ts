/** The kind of state that runs a tool or a command on hosts of the fleet. */
import { readPolicy } from "../../../../edge/policy.ts";
import { readTarget } from "../../../../edge/target.ts";
import type { Json } from "../../../../kernel/json.ts";
import { isObject } from "../../../../kernel/json.ts";
import { Problem } from "../../../../kernel/problem.ts";
import type { Fields } from "../../../../manifest/fields.ts";
import { object } from "../../../../manifest/object.ts";
import { either, list } from "../../../../manifest/shape.ts";
import type { FleetState } from "../../../definition/outside-states.ts";
import { filledTemplate, type Of, template, templateTree, timeout } from "../../members.ts";
import { isLiteral } from "../../templates.ts";
import { toolArguments } from "./arguments.ts";

/** A program and its arguments, or one text. */
const command = either("must be a string or a list", {
  string: filledTemplate,
  array: list(template, 256, "must name what to run").as((words): Json => [...words]),
});

export const fleetState = object({
  timeout,
  target: templateTree
    .check((target, _scope, fields, key) => judged(fields, key, target, (value) => readTarget(value, "")))
    .required(),
  tool: template.check((tool) => (tool.trim() === "" ? "must be more than blanks" : null)),
  args: toolArguments,
  command,
  policy: templateTree
    .check((policy) => (isObject(policy) ? null : "must be an object"))
    .schema({ type: "object" })
    .check((policy, _scope, fields, key) => judged(fields, key, policy, (value) => readPolicy(value))),
})
  .strict("a Fleet state")
  .build(({ timeout, target, tool, args, command, policy }, fields): Of<FleetState> => {
    if (fields.has("tool") === fields.has("command")) {
      fields.issue("tool", "must be there exactly where command is not");
    }
    if (args !== null && fields.has("command")) fields.issue("args", "belongs to tool");
    return {
      kind: "Fleet",
      timeout_ms: timeout,
      target: target ?? "All",
      tool,
      args: args ?? {},
      command,
      policy: policy ?? {},
    };
  });

/** What holds templates is judged when the run comes to it; the rest as a dispatch would be. */
function judged(fields: Fields, key: string, value: Json, read: (value: Json) => unknown): false | null {
  if (!isLiteral(JSON.stringify(value))) return null;
  try {
    read(value);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    for (const { path, message } of issuesOf(error)) {
      const below = path.replace(/^(?:target|policy)?\.?/, "");
      fields.issue(below === "" ? key : `${key}.${below}`, message);
    }
    return false;
  }
}

const issuesOf = ({ extras }: Problem) => (extras.issues ?? []) as readonly { path: string; message: string }[];

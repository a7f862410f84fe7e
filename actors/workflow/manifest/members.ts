/** Kinds of members that several parts of a workflow manifest share. */
import { agentKey, folded } from "../../agent/manifest/metadata.ts";
import { type Fields, textFault } from "../../manifest/fields.ts";
import { maxTemplateCharacters, second, webUrlFault } from "../../manifest/members.ts";
import { readDuration } from "../../manifest/quantities.ts";
import {
  anyInput,
  type Fault,
  integer,
  type MeasureBounds,
  measure,
  type Notation,
  text,
} from "../../manifest/shape.ts";
import type { State } from "../definition.ts";
import { reservedKeys } from "../run/blackboard/variables.ts";
import type { WorkflowOffer } from "./judged.ts";
import { isLiteral, type Templates } from "./templates.ts";

/** What the rules of a manifest's members need to know. */
export interface Reading {
  readonly offer: WorkflowOffer;
  readonly templates: Templates;
  /** Names of the states that transitions may lead to here, whether or not they could be read. */
  readonly states: ReadonlySet<string>;
  /** Names of all states of the run, those of branches too. */
  readonly names: ReadonlySet<string>;
  readonly isInBranch: boolean;
  /** Names of the shared volumes declared so far. */
  readonly shared: Set<string>;
  /** Where each state stands in the manifest. */
  readonly paths: Map<string, string>;
}

/** What a kind of state has of its own, its timeout and its retry. */
export type Of<S extends State> = Omit<
  S,
  "transitions" | "max_state_visits" | "outcome" | "compensate" | "continue_as" | "branch"
>;

const templateRule = (source: string, { templates }: Reading, fields: Fields, key: string): Fault =>
  templates.check(fields, key, source) ? null : false;

export const template = text({ max: maxTemplateCharacters }).check(templateRule);
/** One that must be there and say something. */
export const filledTemplate = text({ max: maxTemplateCharacters, pattern: /\S/, form: "more than blanks" })
  .check(templateRule)
  .required();
/** Any value; every text in it, at any depth, is a template. */
export const templateTree = anyInput.check((value, { templates }: Reading, fields, key) => {
  templates.walk(fields, key, value);
  return null;
});

/** Whether an agent or a workflow can be called so at all. */
export const isName = (text: string): boolean => textFault(text, agentKey) === null;

/** An agent by name, by id, or by a template that will say which; "" only after an issue. */
export const agentReference = filledTemplate
  .check((source) => (!isLiteral(source) || isName(source) ? null : `must be ${agentKey.form}, or a template`))
  .as(folded)
  .or("");

/** An agent by name or by id; "" only after an issue. */
export const agentId = text(agentKey).required().as(folded).or("");

/** A key of the blackboard that the manifest chooses. */
export const blackboardKey = text({
  min: 1,
  max: 128,
  pattern: /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u,
  form: "a plain name",
}).check((name, { names }: Reading) => {
  if (reservedKeys.has(name)) return "is a reserved key of the blackboard";
  return names.has(name) ? "is the name of a state" : null;
});

/**
 * An address that requests are sent to. A template is looked at with something harmless in the place of its values; what
 * it becomes is judged when the request is sent.
 */
export const urlTemplate = text({ min: 1, max: 4096 })
  .check((written, { templates }: Reading, fields, key) => {
    if (!templates.check(fields, key, written)) return false;
    return isLiteral(written) || !written.startsWith("{{") ? webUrlFault(withoutTags(written)) : null;
  })
  .required()
  .or("");

const withoutTags = (template: string): string => template.replace(/\{\{[^}]{0,4096}\}{2,4}/g, "1");

const maxTimeoutSeconds = 30 * 24 * 3600;

/** As agents' manifests have it, or with its parts set apart: `1h 30m`. */
const spacedDuration: Notation = {
  read: (value) => {
    if (typeof value !== "string") return readDuration(value);
    return value.length > 64 ? null : readDuration(value.trim().replace(/(?<=[dhm]) +(?=\d)/g, ""));
  },
  what: "a duration such as 90, 90s, 10m, 1h 30m or 2d",
  schema: {
    anyOf: [
      { type: "integer", minimum: 0 },
      {
        type: "string",
        maxLength: 64,
        pattern: "^\\s*(?:\\d{1,15}|(?:\\d{1,9}d *)?(?:\\d{1,9}h *)?(?:\\d{1,9}m *)?(?:\\d{1,9}s)?)\\s*$",
      },
    ],
  },
};

/** In milliseconds. */
export const duration = (bounds: MeasureBounds) => measure(spacedDuration, bounds);
/** In milliseconds, up to 30 days. */
export const longDuration = (said: string) => duration({ min: second, max: maxTimeoutSeconds * second, said });
export const timeout = longDuration("1 s to 30 days");
export const timeoutSeconds = integer(1, maxTimeoutSeconds);

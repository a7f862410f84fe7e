/** The kind of state that does one thing for each item of a list. */
import type { Json } from "../../../../kernel/json.ts";
import type { Fields } from "../../../../manifest/fields.ts";
import { unsupported } from "../../../../manifest/members.ts";
import { object, variants } from "../../../../manifest/object.ts";
import { choice, integer, Shape } from "../../../../manifest/shape.ts";
import type { ItemState, MapState } from "../../../definition/composed-states.ts";
import { maxItems } from "../../checks/maps.ts";
import { blackboardKey, type Of, type Reading, templateTree, timeout } from "../../members.ts";
import { isLiteral } from "../../templates.ts";
import { itemKinds } from "../kinds.ts";
import { subworkflowTarget } from "../subworkflow.ts";

/** What a state of its own has beside its work. */
const ends = { transitions: [], max_state_visits: 1, outcome: "completed" as const };
const ofTheMap = unsupported("belongs to the Map: what is done for an item has none");

const item = variants(
  "kind",
  {
    kind: choice(...(Object.keys(itemKinds) as ItemState["kind"][])).required(),
    transitions: ofTheMap,
    max_state_visits: ofTheMap,
    outcome: ofTheMap,
    compensate: ofTheMap,
    continue_as: ofTheMap,
  },
  itemKinds,
  // The kind of `own` is that of the table's member it was read by.
  (own) => ({ ...own, ...ends }) as ItemState,
).named("Item");

/** How many items may fail: a count, or `10%`. */
const tolerate = new Shape<MapState["tolerate"] | null>({
  read: (fields, key) => {
    const written = fields.raw(key);
    if (written === null) return null;
    if (typeof written === "number" && Number.isInteger(written) && written >= 0 && written <= maxItems)
      return { count: written };
    const percent = typeof written === "string" ? /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(written)?.[1] : undefined;
    if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent) };
    return fields.issue(key, `must be from 0 to ${maxItems}, or a part such as 10%`);
  },
  schema: () => ({
    anyOf: [
      { type: "integer", minimum: 0, maximum: maxItems },
      { type: "string", pattern: "^\\d{1,3}(?:\\.\\d{1,6})?%$" },
    ],
  }),
  texts: null,
  expected: "must be a number, or a part such as 10%",
});

const items = templateTree
  .check((items) => itemsFault(items))
  .schema({ type: ["string", "array"], maxItems })
  .required();

/** A list, or a text that can become one. */
function itemsFault(items: Json): string | readonly [string, string] | null {
  const fault = "must be a list, or a template whose text is a JSON list";
  if (Array.isArray(items)) return items.length > maxItems ? tooMany : null;
  if (typeof items !== "string") return fault;
  if (!isLiteral(items)) return /^\s*(?:\[|\{\{)/.test(items) ? null : fault;
  const list = listIn(items);
  if (list === null) return fault;
  return list.length > maxItems ? tooMany : null;
}

const tooMany = [`may have at most ${maxItems} items`, "map_unbounded"] as const;

function listIn(text: string): readonly Json[] | null {
  try {
    const read: Json = JSON.parse(text);
    return Array.isArray(read) ? read : null;
  } catch {
    return null;
  }
}

export const mapState = object({
  timeout,
  items,
  state: item,
  workflow: subworkflowTarget,
  input: templateTree,
  as: blackboardKey.or("item"),
  concurrency: integer(1, 100).or(10),
  batch: integer(1, 1000).or(100),
  tolerate: tolerate.or({ count: 0 }),
})
  .strict("a Map state")
  .build(({ timeout, items, state, workflow, input, ...read }, fields, reading: Reading): Of<MapState> => {
    const hasState = fields.has("state");
    const hasWorkflow = fields.has("workflow");
    if (hasState === hasWorkflow) fields.issue("state", "must be there exactly where workflow is not");
    if (input !== null && !hasWorkflow) fields.issue("input", "belongs to workflow");
    checkKeys(fields, read.as, reading);
    return {
      kind: "Map",
      timeout_ms: timeout,
      ...read,
      items: items ?? [],
      item: state ?? startOf(workflow ?? "", input ?? {}),
    };
  });

/** An item that runs a workflow; its result is the item's alone. */
const startOf = (workflow: string, input: Json): ItemState => ({
  kind: "Subworkflow",
  ...ends,
  timeout_ms: null,
  workflow,
  mode: "blocking",
  result_key: null,
  input,
});

/** What an item sees beside the blackboard hides no state. */
function checkKeys(fields: Fields, as: string, { names }: Reading): void {
  if (as === "index") fields.issue("as", "is where an item finds its position");
  else if (as === "item" && names.has(as)) fields.issue("as", "is the name of a state, which its items could not see");
}

/** The items of a Map, and what of the blackboard they can read. */
import { isObject, type Json } from "../../../kernel/json.ts";
import type { MapState } from "../../definition/composed-states.ts";
import { jsonBytes, maxBlackboardBytes } from "../blackboard/size.ts";
import { StateFault } from "../kind.ts";
import type { RunTurn } from "../turn.ts";

/** Of one Map. */
export const maxItems = 10_000;

/**
 * The list that a Map goes through: of a list every text is rendered, of a template its text is read as JSON; a sole
 * `{{path}}` or `{{json value}}` gives the value as it is.
 * @throws StateFault `items_not_a_list`, `too_many_items`, `items_too_large`; TemplateError
 */
export function itemsOf(run: RunTurn, items: Json): Json[] {
  const list = typeof items === "string" ? parsed(run.renderTyped(items)) : items;
  if (!Array.isArray(list)) throw new StateFault("items_not_a_list", "The items are no list");
  if (list.length > maxItems) throw new StateFault("too_many_items", `There are more than ${maxItems} items`);
  // What a template made is data; texts of the manifest are templates.
  const rendered = typeof items === "string" ? list : list.map((one: Json) => rendering(run, one));
  if (jsonBytes(rendered) > maxBlackboardBytes) {
    throw new StateFault("items_too_large", `The items are larger than ${maxBlackboardBytes} bytes together`);
  }
  return rendered;
}

function parsed(value: Json): Json {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    throw new StateFault("items_not_a_list", "The items are no JSON");
  }
}

function rendering(run: RunTurn, value: Json): Json {
  if (typeof value === "string") return run.renderTyped(value);
  if (Array.isArray(value)) return value.map((one: Json) => rendering(run, one));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rendering(run, member ?? null)]));
}

type Values = { readonly [name: string]: Json };

/** Small, and always there. */
const always: ReadonlySet<string> = new Set(["intent", "tenant_id", "attachments", "execution", "state"]);
/** Commands that start no process. */
const exact: ReadonlySet<string> = new Set(["noop", "update_blackboard"]);

/** Programs are handed all of the run's input. */
function isProgram(item: MapState["item"]): boolean {
  if (item.kind === "System") return item.command.form === "list" || !exact.has(item.command.text.trim());
  return item.kind === "ContainerRun" || item.kind === "ParallelContainerRun";
}

/** Ways to read a value without its name. */
const nameless = /blackboard|lookup|@root|\bthis\b|\{\{\{?[#&~^]?\s*(?:\w+\s+)?\.(?![\w/])/;

/**
 * The members of a blackboard that an item can read: those whose names its templates hold. All, where a template may
 * read one without naming it.
 */
export function readBy({ item }: Pick<MapState, "item">, blackboard: Values): Values {
  const text = JSON.stringify(item);
  if (nameless.test(text)) return blackboard;
  const isRead = (name: string): boolean =>
    always.has(name) || (name === "input" && isProgram(item)) || text.includes(JSON.stringify(name).slice(1, -1));
  return Object.fromEntries(Object.entries(blackboard).filter(([name]) => isRead(name)));
}

/** A map of states by their names, or a list of states that each have one. */
import type { Json } from "../../../kernel/json.ts";
import { isObject } from "../../../kernel/json.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { either, list, Shape, text } from "../../../manifest/shape.ts";
import { reservedKeys } from "../../run/blackboard/variables.ts";
import type { Reading } from "../members.ts";

export const maxStates = 100;
const nameForm = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

function nameFault(name: string): string | null {
  if (reservedKeys.has(name)) return `${name} is a reserved key of the blackboard`;
  if (nameForm.test(name)) return null;
  return "must be 1 to 64 letters, digits, _ and -, beginning with a letter or _";
}

/** Of a state that says it itself. */
export const stateName = text().check(nameFault).required();

export type Named<S> = readonly [name: string, state: S];

/** Notes where a state stands; an issue where another one of the run has its name. @param key of the name in `fields` */
function place(name: string, path: string, { paths }: Reading, fields: Fields, key: string): void {
  if (paths.has(name)) fields.issue(key, "is the name of another state");
  else paths.set(name, path);
}

/**
 * @param inMap a state whose name is the key of a map
 * @param inList a state of a list, beside its name
 */
export function statesOf<S>(inMap: Shape<S | null, Reading>, inList: Shape<Named<S> | null, Reading>) {
  const { declared } = inMap;
  const mapped = new Shape<readonly Named<S>[], Reading>({
    read: (fields, key, reading) => {
      const written = fields.raw(key);
      const section = fields.section(key);
      return Object.keys(isObject(written) ? written : {}).flatMap((name): Named<S>[] => {
        const fault = nameFault(name);
        if (fault !== null) section.issue(name, `the name ${fault}`);
        if (!section.has(name)) section.issue(name, "must be an object");
        place(name, section.at(name), reading, section, name);
        const read = declared.read(section, name, reading);
        return read === null ? [] : [[name, read]];
      });
    },
    schema: (definitions) => ({
      type: "object",
      minProperties: 1,
      maxProperties: maxStates,
      propertyNames: { pattern: nameForm.source },
      additionalProperties: declared.schema(definitions),
    }),
    texts: declared.texts === null ? null : { each: declared.texts },
    expected: "must be an object",
  });
  const placed = inList.as((named, reading: Reading, fields, key): Named<S> => {
    place(named[0], fields.at(key), reading, fields, `${key}.name`);
    return named;
  });
  return either("must be a map or a list of states", { object: mapped, array: list(placed, maxStates) })
    .guard((written) => {
      const { length } = Array.isArray(written) ? written : Object.keys(written ?? {});
      return length > maxStates ? `may have at most ${maxStates} states` : null;
    })
    .check((states, _scope, fields, key) =>
      states.length === 0 && Object.keys(fields.raw(key) ?? {}).length === 0 ? "must have a state" : null,
    )
    .required();
}

/** The states of a manifest by their names, as they are written and as far as transitions may lead to them. */
function writtenStates(states: Json | undefined): readonly Named<{ readonly [key: string]: Json }>[] {
  if (Array.isArray(states)) {
    return states.flatMap((state: Json) => {
      const name = isObject(state) ? state.name : null;
      return isObject(state) && typeof name === "string" && nameFault(name) === null ? [[name, state] as const] : [];
    });
  }
  if (!isObject(states)) return [];
  return Object.entries(states).flatMap(([name, state]) => (isObject(state) ? [[name, state] as const] : []));
}

export const namesOf = (states: Json | undefined): ReadonlySet<string> =>
  new Set(writtenStates(states).map(([name]) => name));

/** Of the whole run: those of branches too. */
export function allNamesOf(states: Json | undefined): ReadonlySet<string> {
  const inner = writtenStates(states).flatMap(([, { branches }]) =>
    Array.isArray(branches) ? branches.flatMap((one: Json) => (isObject(one) ? [...namesOf(one.states)] : [])) : [],
  );
  return new Set([...namesOf(states), ...inner]);
}

/**
 * What is written to a run's blackboard beside the results of its states, so that a fork can restore it as it was: a log
 * of its own, since most states write nothing else. Results stand in the events of the states' exits.
 */
import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../../../kernel/effect.ts";
import { isObject, type Json, JsonObject } from "../../../kernel/json.ts";
import type { Definition } from "../../definition.ts";
import { systemKeys } from "../blackboard/variables.ts";

export const StoredWrites = Type.Object({
  /** Of the entry into a state that wrote it; 0: before the first one. */
  entry: Type.Integer({ minimum: 0 }),
  values: JsonObject,
  /** Keys that have the result of the state. */
  results: Type.Optional(Type.Array(Type.String())),
});
export type StoredWrites = Static<typeof StoredWrites>;
export const workflowWrites = defineLog("writes", StoredWrites);

type Values = { readonly [key: string]: Json };

/** The writes of one turn, by entry. Those of branches and of items go with these, and are left out. */
export class WritesOfTurn {
  private readonly kept: (readonly [entry: number, values: Values])[] = [];

  add(entry: number, values: Values): void {
    this.kept.push([entry, values]);
  }
  /** For `cut`, to take back what comes after. */
  get count(): number {
    return this.kept.length;
  }
  cut(count: number): void {
    this.kept.length = count;
  }

  /** What the log has to hold of them. */
  stored({ states }: Pick<Definition, "states">): readonly StoredWrites[] {
    const byEntry = new Map<number, Values>();
    for (const [entry, values] of this.kept) byEntry.set(entry, { ...byEntry.get(entry), ...values });
    return [...byEntry].flatMap(([entry, all]): StoredWrites[] => {
      const written = Object.entries(all);
      const others = written.filter(([key, value]) => isKept(key, value, states));
      // Most states write nothing but their results.
      if (others.length === 0) return [];
      const own = new Set(written.flatMap(([key, value]) => (Object.hasOwn(states, key) ? [value] : [])));
      const results = others.flatMap(([key, value]) => (isObject(value) && own.has(value) ? [key] : []));
      const values = Object.fromEntries(others.filter(([key]) => !results.includes(key)));
      return [{ entry, values, ...(results.length === 0 ? {} : { results }) }];
    });
  }
}

/** The state at work is known from the events, but for what it was told. */
function isKept(key: string, value: Json, states: Definition["states"]): boolean {
  if (key === "state") return isObject(value) && (value as Values).feedback !== null;
  return key === "human" || !(systemKeys.includes(key) || Object.hasOwn(states, key));
}

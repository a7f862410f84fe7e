/** A runtime of a test's own making: what it answers stands in the given functions, unchecked. */
import type { Json } from "../../../actors/kernel/json.ts";
import { actorsOf } from "../../../src/runtime/handle.ts";
import type { Address, AskOptions, Runtime, TailListener } from "../../../src/runtime/port.ts";
import { reading } from "../../../src/runtime/reads/reading.ts";
import type { Sql } from "../../../src/store/postgres/pool.ts";

/** The reading half of a runtime. */
export function readingRuntime(sql: Sql): Pick<Runtime, "of"> {
  const refuse = () => Promise.reject(new Error("this runtime only reads"));
  const links = {
    ...reading(sql),
    ask: refuse,
    tell: refuse,
    tellCommitted: refuse,
    tail: () => () => {},
    isHere: () => true,
    newId: () => Bun.randomUUIDv7(),
  };
  return { of: (definition) => actorsOf(links, definition) };
}

export interface Answers {
  ask?(to: Address, type: string, body: Json, options: AskOptions): Promise<unknown>;
  tell?(to: Address, type: string, body: Json): Promise<void>;
  /** The state of an actor, for every kind of read; null: there is none. */
  state?(at: Address): unknown;
  tail?(at: Address, after: number, listener: TailListener): () => void;
}

export function fakeRuntime({ ask, tell, state = () => null, tail }: Answers): Pick<Runtime, "of"> {
  const of = ({ kind }: { readonly kind: string }) => {
    const many = async (tenant: string, keys: readonly string[]) =>
      new Map(keys.map((key) => [key, state({ kind, key, tenant })] as const).filter(([, found]) => found !== null));
    return {
      at: (tenant: string, key: string) => {
        const address = { kind, key, tenant };
        return {
          address,
          ask: (type: string, body: Json, options: AskOptions = {}) => ask?.(address, type, body, options),
          tell: (type: string, body: Json) => tell?.(address, type, body),
          tellCommitted: (type: string, body: Json) => tell?.(address, type, body),
          read: async () => state(address),
          log: async () => [],
          logLength: async () => 0,
          tail: (after: number, listener: TailListener) => tail?.(address, after, listener),
        };
      },
      isHere: () => true,
      newId: () => Bun.randomUUIDv7(),
      readMany: many,
      readListed: many,
      eraseLogs: async () => {},
      logPoints: async () => [],
      logEntries: async () => [],
    };
  };
  // Tests answer with parts of states.
  return { of } as unknown as Pick<Runtime, "of">;
}

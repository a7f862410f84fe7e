/** Rows of faults: a value at a path, and the one issue it is refused with. */
import { expect } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { WorkflowOffer } from "../../../../actors/workflow/manifest/judged.ts";
import { reading } from "./fixture.ts";

export type Over = Partial<WorkflowOffer>;

/** Without `at`, the issue is where the fault is; without `code` it is `invalid`. */
export type Row = readonly [path: string, value: Json | undefined, code?: string, at?: string];

export function expectOne(document: Json, path: string, code: string, over: Over = {}) {
  expect(reading(document, over).issues).toEqual([[path, code]]);
}

export const many = (count: number, of: (index: number) => Json): Json[] =>
  Array.from({ length: count }, (_, at) => of(at));

export const named = (count: number, of: (index: number) => [string, Json]): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)));

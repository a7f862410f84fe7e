/** What a text says that is written as a security context, and what is wrong with it. */
import type { Schemas } from "../../../programs/client/client.ts";

export type Written = Schemas["SecurityContextChange"];

/** @throws Error with what is wrong, for people */
export async function readContext(text: string): Promise<Written> {
  const { parse } = await import("yaml");
  const value: unknown = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("A security context is an object: capabilities, deny_list, usable_by, description");
  // The service says what it does not know.
  return value as Written;
}

export async function textOf(value: Record<string, unknown>): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value, { lineWidth: 110 });
}

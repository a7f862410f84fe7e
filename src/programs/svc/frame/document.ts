/** A file that holds one object. */
import { usageFailure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";
import { textOf } from "./values.ts";

/**
 * @param path of JSON or YAML; `-` is standard input
 * @throws Failure `usage` for what cannot be read and for what is no object
 */
export async function documentOf(io: Io, name: string, path: string): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml");
  const text = await textOf(io, path);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw usageFailure(`${path} is neither JSON nor YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usageFailure(`${name} takes an object; ${path} holds none`);
  return value as Record<string, unknown>;
}

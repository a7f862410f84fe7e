/** Refusals of the domain, which a service would answer with 422, as failures of usage. */
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { Failure } from "./exit.ts";

/** @throws Failure `usage` with a line for each issue */
export function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { issues } = error.extras as {
      readonly issues?: readonly { readonly path: string; readonly message: string }[];
    };
    const lines = (issues ?? []).map(({ path, message }) => `${path}: ${message}`);
    throw new Failure("usage", lines.length > 0 ? lines.join("\n") : error.message, error.code);
  }
}

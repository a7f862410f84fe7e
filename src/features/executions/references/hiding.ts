/** Activities whose outcome holds no value that the execution was given: hidden at this node, before it is committed. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { isObject } from "../../../../actors/kernel/json.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import { type Activity, isServiceAway, Retryable, Terminal } from "../../../runtime/port.ts";
import type { ExecutionReferences } from "./references.ts";

/** Members whose plain words are this service's own: hiding one would make the outcome unreadable. */
const ownWords = new Set(["status", "reason", "code", "role", "type", "finish_reason", "error_class", "provider"]);
const word = /^[a-z][a-z_]{0,31}$/;

/** @param maskerOf null for an execution that was given no values, which then pays for one look-up */
export const hidingIn =
  (maskerOf: ExecutionReferences["maskerOf"]) =>
  (activity: Activity): Activity => ({
    ...activity,
    async run(input, context) {
      try {
        const outcome = await activity.run(input, context);
        const masker = await maskerOf(context.actor);
        return masker === null ? outcome : hidden(masker, outcome);
      } catch (error) {
        if (!(error instanceof Error) || context.signal.aborted || isServiceAway(error)) throw error;
        // Where it cannot be known what to hide, nothing of the error is told.
        const masker = await maskerOf(context.actor).catch(() => undefined);
        if (masker === null) throw error;
        throw hiddenError(masker ?? null, error);
      }
    },
  });

function hidden(masker: Masker, outcome: Json): Json {
  if (Array.isArray(outcome)) return outcome.map((each: Json) => hidden(masker, each));
  if (!isObject(outcome)) return masker.maskJson(outcome);
  return Object.fromEntries(
    Object.entries(outcome).map(([name, value]) => {
      const isOwn = typeof value === "string" && ownWords.has(name) && word.test(value);
      return [isOwn ? name : masker.mask(name), isOwn ? value : hidden(masker, value ?? null)];
    }),
  );
}

function hiddenError(masker: Masker | null, error: Error): Error {
  const message = masker === null ? "The work failed; what it told cannot be shown" : masker.mask(error.message);
  if (error instanceof Terminal) {
    const { details } = error;
    if (details === undefined) return new Terminal(error.code, message);
    return masker === null
      ? new Terminal(error.code, message)
      : new Terminal(error.code, message, hidden(masker, details));
  }
  if (error instanceof Retryable) return new Retryable(message, error.afterMs);
  if (masker !== null && message === error.message) return error;
  return new Error(message);
}

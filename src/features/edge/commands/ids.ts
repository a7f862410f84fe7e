/** Ids of commands: computed, so that every repeat of an attempt names the same command. */
import { derivedUuid } from "../../../lib/digest.ts";

/** @param idx of the target within the run @param attempt from 1 @returns a UUID of version 8 */
export const commandId = (runId: string, idx: number, attempt: number): string =>
  derivedUuid(`edge command ${runId} ${idx} ${attempt}`);

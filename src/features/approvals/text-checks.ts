/** Checks of what people write, beyond what a schema can say. */

import { type Issue, invalidField, invalidRequest } from "../../../actors/kernel/problem.ts";
import { isStorable } from "../../../actors/manifest/storable.ts";
import { maxFeedbackBytes } from "./schema.ts";

/** One address that mail can be sent to, without a name beside it. */
const mailAddress = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;

/**
 * @param mustSay the member that must have more than blanks in it
 * @throws Problem 422 `validation_failed`
 */
export function checkTexts(texts: Readonly<Record<string, string | undefined>>, mustSay: string | null = null): void {
  const issues: Issue[] = [];
  for (const [path, text = ""] of Object.entries(texts)) {
    const message = faultOf(text, path === mustSay);
    if (message !== null) issues.push({ path, message, code: "invalid" });
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** @throws Problem 422 `validation_failed` */
export function checkRecipient(recipient: string): void {
  if (mailAddress.test(recipient) && isStorable(recipient)) return;
  throw invalidField("recipient", "must be one e-mail address");
}

function faultOf(text: string, mustSay: boolean): string | null {
  if (!isStorable(text)) return "may not hold NUL or broken Unicode";
  if (Buffer.byteLength(text) > maxFeedbackBytes) return `may have at most ${maxFeedbackBytes} bytes`;
  return mustSay && text.trim() === "" ? "may not be blank" : null;
}

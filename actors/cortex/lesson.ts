/** What a turn of an execution puts on record for others to learn from: an iteration that was lost, or passed later. */
import { type Static, Type } from "@sinclair/typebox";
import { defineFact } from "../kernel/effect.ts";
import { storableText, wholeCharacters } from "../kernel/text.ts";

/** Of an answer that is kept as a solution, bytes of UTF-8. */
const maxAnswerBytes = 8_192;
const maxMessageBytes = 4_096;

const of = { execution_id: Type.String(), iteration_number: Type.Integer() };

export const Lesson = Type.Union([
  Type.Object({
    ...of,
    kind: Type.Literal("lost"),
    /** `validation_rejected`, or the code of a fault. */
    error_type: Type.String(),
    message: Type.String(),
    /** No iteration of the execution follows. */
    is_last: Type.Boolean(),
  }),
  /** An iteration passed after others of the execution were lost. */
  Type.Object({ ...of, kind: Type.Literal("passed"), answer: Type.String() }),
]);
export type Lesson = Static<typeof Lesson>;

export const lessonFact = defineFact("cortex_lesson", Lesson);

export function lostLesson(lost: Omit<Extract<Lesson, { kind: "lost" }>, "kind">): Lesson {
  return { ...lost, kind: "lost", message: beginningOf(storableText(lost.message), maxMessageBytes) };
}

export function passedLesson(passed: Omit<Extract<Lesson, { kind: "passed" }>, "kind">): Lesson {
  return { ...passed, kind: "passed", answer: beginningOf(storableText(passed.answer), maxAnswerBytes) };
}

/** The longest beginning of a text that has at most so many bytes and ends with a whole character. */
export function beginningOf(text: string, bytes: number): string {
  // No character is shorter than a byte.
  const encoded = new TextEncoder().encode(text.slice(0, bytes).toWellFormed());
  if (encoded.length <= bytes && text.length <= bytes) return text;
  const cut = encoded.subarray(0, bytes);
  return new TextDecoder().decode(cut.subarray(0, wholeCharacters(cut)));
}

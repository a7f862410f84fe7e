/** The kind of state that waits for a time, a signal or a stimulus. */

import { suggestion } from "../../../../kernel/nearest.ts";
import type { Fields } from "../../../../manifest/fields.ts";
import { object } from "../../../../manifest/object.ts";
import { Shape, text } from "../../../../manifest/shape.ts";
import { parseExpression, pathsIn } from "../../../../template/expression.ts";
import type { WaitState } from "../../../definition/outside-states.ts";
import { type Of, type Reading, template, timeout } from "../../members.ts";
import { isLiteral } from "../../templates.ts";
import { expression } from "../expression.ts";

const maxSeconds = 365 * 24 * 3600;

/** A number, or a template of one. */
const seconds = new Shape<string | null, Reading>({
  read: (fields, key, reading) => {
    const written = fields.raw(key);
    if (typeof written === "string" && !isLiteral(written)) return template.declared.read(fields, key, reading);
    const value =
      typeof written === "string" && /^\s*\d{1,8}(?:\.\d{1,3})?\s*$/.test(written) ? Number(written) : written;
    if (typeof value === "number" && value >= 0 && value <= maxSeconds) return `${value}`;
    return value === null ? null : fields.issue(key, `must be from 0 to ${maxSeconds} seconds, or a template`);
  },
  schema: () => ({ anyOf: [{ type: "number", minimum: 0, maximum: maxSeconds }, { type: "string" }] }),
  texts: null,
  expected: "must be a number or a template",
});

/** ISO 8601 with its zone: a date and a time of day. */
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;
const until = template.check((written) => {
  if (!isLiteral(written)) return null;
  const isTime = time.test(written.trim()) && !Number.isNaN(Date.parse(written.trim()));
  return isTime ? null : "must be a time such as 2031-05-01T08:00:00Z, or a template";
});

const signal = text({ min: 1, max: 256, pattern: /^[^\p{Cc}]*[^\s\p{Cc}][^\p{Cc}]*$/u, form: "the name of a signal" });

const stimulus = object({
  source: text({ min: 1, max: 256, pattern: /^[^\s\p{Cc}]+$/u, form: "the name of a source" }).required(),
  key: text({ min: 1, max: 512, pattern: /^[^\s.\p{Cc}]+(?:\.[^\s.\p{Cc}]+)*$/u, form: "a path such as order.id" }),
  equals: template,
  match: expression.check((match) => matchFault(match)),
})
  .strict("what a Wait waits for")
  .build(({ source, key, equals, match }, fields): (WaitState["for"] & { what: "stimulus" }) | null => {
    if (fields.has("key") !== fields.has("equals")) fields.issue("equals", "and key belong together");
    return source === null ? null : { what: "stimulus", source, key, equals, match };
  });

/** What a stimulus is matched by. */
const seen = ["payload", "headers"];

function matchFault(match: string): string | null {
  const elsewhere = pathsIn(parseExpression(match)).find(([root = ""]) => !seen.includes(root));
  if (elsewhere === undefined) return null;
  const [root = ""] = elsewhere;
  return `sees payload and headers only, and not ${root.slice(0, 80)}${suggestion(root, seen)}`;
}

const ways = ["seconds", "until", "signal", "stimulus"] as const;

export const waitState = object({ seconds, until, signal, stimulus, timeout })
  .strict("a Wait state")
  .build(({ seconds, until, signal, stimulus, timeout }, fields): Of<WaitState> => {
    const written = ways.filter((way) => fields.has(way));
    if (written.length !== 1) fields.issue(written[1] ?? "seconds", `exactly one of ${ways.join(", ")} must be there`);
    checkTimeout(fields, written[0]);
    const event = signal === null ? stimulus : ({ what: "signal", signal } as const);
    const clock =
      until === null ? ({ what: "seconds", seconds: seconds ?? "0" } as const) : ({ what: "until", until } as const);
    return { kind: "Wait", timeout_ms: timeout, for: event ?? clock };
  });

function checkTimeout(fields: Fields, way: (typeof ways)[number] | undefined): void {
  if (fields.has("timeout") && (way === "seconds" || way === "until")) {
    fields.issue("timeout", "belongs to a Wait for a signal or a stimulus: a time comes by itself");
  }
}

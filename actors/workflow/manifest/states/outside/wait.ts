/** The kind of state that waits for a time, a signal or a stimulus. */

import type { Fields } from "../../../../manifest/fields.ts";
import { object } from "../../../../manifest/object.ts";
import { Shape, text } from "../../../../manifest/shape.ts";
import { matchFault } from "../../../../template/matching.ts";
import type { WaitState } from "../../../definition/outside-states.ts";
import { timeOf } from "../../../run/kinds/wait-time.ts";
import { type Of, type Reading, template, timeout } from "../../members.ts";
import { isLiteral } from "../../templates.ts";
import { expression } from "../expression.ts";

const maxSeconds = 365 * 24 * 3600;

/** A number, to the millisecond, or a template of one. */
const seconds = new Shape<string | null, Reading>({
  read: (fields, key, reading) => {
    const written = fields.raw(key);
    if (typeof written === "string" && !isLiteral(written)) return template.declared.read(fields, key, reading);
    const value =
      typeof written === "string" && /^\s*\d{1,8}(?:\.\d{1,3})?\s*$/.test(written) ? Number(written) : written;
    if (typeof value === "number" && value >= 0 && value <= maxSeconds) return `${Math.round(value * 1000) / 1000}`;
    return value === null ? null : fields.issue(key, `must be from 0 to ${maxSeconds} seconds, or a template`);
  },
  schema: () => ({ anyOf: [{ type: "number", minimum: 0, maximum: maxSeconds }, { type: "string" }] }),
  texts: null,
  expected: "must be a number or a template",
});

const until = template.check((written) =>
  !isLiteral(written) || timeOf(written.trim()) !== null
    ? null
    : "must be a time such as 2031-05-01T08:00:00Z, or a template",
);

const signal = text({ min: 1, max: 256, pattern: /^[^\p{Cc}]*[^\s\p{Cc}][^\p{Cc}]*$/u, form: "the name of a signal" });

const keyForm = /^(?:\[[^\]\p{Cc}]+\]|[^\s.[\]\p{Cc}]+)(?:\.(?:\[[^\]\p{Cc}]+\]|[^\s.[\]\p{Cc}]+))*$/u;

const stimulus = object({
  source: text({ min: 1, max: 256, pattern: /^[^\s\p{Cc}]+$/u, form: "the name of a source" }).required(),
  // A name in brackets is taken as it stands.
  key: text({ min: 1, max: 512, pattern: keyForm, form: "a path such as order.id" }),
  equals: template,
  match: expression.check((match) => matchFault(match)),
})
  .strict("what a Wait waits for")
  .build(({ source, key, equals, match }, fields): (WaitState["for"] & { what: "stimulus" }) | null => {
    if (fields.has("key") !== fields.has("equals")) fields.issue("equals", "and key belong together");
    return source === null ? null : { what: "stimulus", source, key, equals, match };
  });

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

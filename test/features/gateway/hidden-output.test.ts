/** Ends of output that are held back while they may begin a value that must not be shown. */
import { expect, test } from "bun:test";
import { HiddenOutput } from "../../../src/features/gateway/hidden-output.ts";
import { Masker } from "../../../src/lib/masking/masker.ts";

const masker = new Masker();
const value = "0123456789".repeat(6_000);
masker.hide([value]);

const piece = (offset: number, content: string) => ({ stream: "stdout" as const, offset, content });

test("a value split over messages is hidden", () => {
  const output = new HiddenOutput();
  const shown = [
    ...output.shown(masker, "a", [piece(0, `x${value.slice(0, 30_000)}`)]),
    ...output.shown(masker, "a", [piece(30_001, `${value.slice(30_000)}y`)]),
  ];
  expect(shown.map(({ content }) => content).join("")).toBe(`x${"*".repeat(60_000)}y`);
});

test("what many commands hold back is bounded by its size as well", () => {
  const output = new HiddenOutput();
  for (let command = 0; command < 400; command++) output.shown(masker, `${command}`, [piece(0, value.slice(0, -1))]);
  expect(output.size).toBeGreaterThan(1024 * 1024);
  expect(output.size).toBeLessThanOrEqual(16 * 1024 * 1024);
});

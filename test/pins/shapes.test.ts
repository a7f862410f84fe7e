/**
 * The shapes that nodes store and send, by their versions: a shape that changes must get a version of its own, so that
 * nodes of the former version leave it to those that know it (`version` of a protocol, of an activity).
 * `PIN=1 bun test test/pins/shapes.test.ts` writes the shapes of today, but none under a version that has another one.
 */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { ActivityDefinition } from "../../actors/kernel/activity.ts";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";

const actors = join(import.meta.dir, "../../actors");
const file = join(import.meta.dir, "shapes.jsonl");

/** `activity tool.call` → its version and the hash of its shape. */
type Shapes = Readonly<Record<string, readonly [version: number, shape: string]>>;

const isActor = (value: object): value is AnyActorDefinition => "kind" in value && "receive" in value;
const isActivity = (value: object): value is ActivityDefinition =>
  "name" in value && "input" in value && "output" in value;

const hashOf = (shape: unknown) => createHash("sha256").update(JSON.stringify(shape)).digest("hex").slice(0, 16);

async function shapesOfToday(): Promise<Shapes> {
  const found = new Map<string, readonly [number, string]>();
  for (const path of [...new Glob("**/*.ts").scanSync(actors)].sort()) {
    for (const value of Object.values((await import(join(actors, path))) as Record<string, unknown>)) {
      if (typeof value !== "object" || value === null) continue;
      if (isActor(value)) {
        const { kind, version = 1, state, messages } = value;
        found.set(`actor ${kind}`, [version, hashOf([state, messages])]);
      } else if (isActivity(value)) {
        const { name, version = 1, input, output } = value;
        found.set(`activity ${name}`, [version, hashOf([input, output])]);
      }
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

test("a shape that nodes store or send changes only with its version", async () => {
  const lines = readFileSync(file, "utf8").split("\n");
  const pinned: Shapes = Object.fromEntries(lines.filter((line) => line !== "").map((line) => JSON.parse(line)));
  const today = await shapesOfToday();
  const unraised = Object.entries(today).filter(([name, [version, shape]]) => {
    const [before = 0, former = shape] = pinned[name] ?? [];
    return version < before || (version === before && shape !== former);
  });
  // Raise the `version` of these.
  expect(unraised.map(([name]) => name)).toEqual([]);
  if (process.env.PIN === "1") {
    writeFileSync(
      file,
      `${Object.entries(today)
        .map((entry) => JSON.stringify(entry))
        .join("\n")}\n`,
    );
  } else expect(pinned).toEqual(today);
});

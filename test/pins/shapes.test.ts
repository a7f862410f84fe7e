/**
 * The shapes that nodes store and send, by their versions: a shape that changes must get a version of its own, so that
 * nodes of the former version leave it to those that know it (`version` of a protocol, of an activity).
 * `PIN=1 bun test test/pins/shapes.test.ts` writes the shapes of today, but none under a version that has another one.
 */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import type { ActivityDefinition } from "../../actors/kernel/activity.ts";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { LogDefinition } from "../../actors/kernel/effect.ts";

const actors = join(import.meta.dir, "../../actors");
const file = join(import.meta.dir, "shapes.jsonl");

/** `activity tool.call` → its version and the hash of its shape; a log has the version of its actor. */
type Shapes = Readonly<Record<string, readonly [version: number, shape: string]>>;

const isActor = (value: object): value is AnyActorDefinition => "kind" in value && "receive" in value;
const isActivity = (value: object): value is ActivityDefinition =>
  "name" in value && "input" in value && "output" in value;

const isLog = (value: object): value is LogDefinition =>
  "name" in value && typeof value.name === "string" && "entry" in value && typeof value.entry === "object";
/** One of many logs of an actor is made by a function of what tells it apart. */
const logOf = (name: string, value: unknown): unknown =>
  typeof value === "function" && name.endsWith("Log") ? value("one") : value;

const hashOf = (shape: unknown) => createHash("sha256").update(JSON.stringify(shape)).digest("hex").slice(0, 16);

async function shapesOfToday(): Promise<Shapes> {
  const found = new Map<string, readonly [number, string]>();
  /** By their file. They are those of the actor that the nearest folder around has, whose version holds for them. */
  const logs = new Map<string, Map<string, string>>();
  const versions = new Map<string, readonly [kind: string, version: number]>();
  for (const path of [...new Glob("**/*.ts").scanSync(actors)].sort()) {
    const ofFile = new Map<string, string>();
    logs.set(path, ofFile);
    for (const [exported, made] of Object.entries((await import(join(actors, path))) as Record<string, unknown>)) {
      // The log of events takes any JSON; these are its entries.
      if (exported === "eventFields") ofFile.set("event fields", hashOf(made));
      const value = logOf(exported, made);
      if (typeof value !== "object" || value === null) continue;
      if (isActor(value)) {
        const { kind, version = 1, state, messages } = value;
        found.set(`actor ${kind}`, [version, hashOf([state, messages])]);
        versions.set(dirname(path), [kind, version]);
      } else if (isLog(value)) {
        ofFile.set(value.name, hashOf(value.entry));
      } else if (isActivity(value)) {
        const { name, version = 1, input, output } = value;
        found.set(`activity ${name}`, [version, hashOf([input, output])]);
      }
    }
  }
  for (const [path, ofFile] of logs) {
    let folder = dirname(path);
    while (!versions.has(folder) && folder !== ".") folder = dirname(folder);
    const [kind, version] = versions.get(folder) ?? [];
    if (kind === undefined || version === undefined) continue;
    for (const [name, shape] of ofFile) found.set(`log ${kind} ${name}`, [version, shape]);
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

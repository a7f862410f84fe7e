/** Which directories of the host are mounted (docs/reference/volumes.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostDirectory } from "../../../src/adapters/sandbox/host-paths.ts";
import { openSources } from "../../../src/adapters/sandbox/process/bubblewrap/mount-sources.ts";
import { agentUser } from "../../../src/lib/files/agent-files.ts";
import { podman } from "../../harness/outside/podman.ts";
import { scratch } from "../../harness/scratch.ts";
import { dockerFixture } from "./docker/fixture.ts";
import { processFixture } from "./fixture.ts";
import { runToEnd, type SandboxFixture, specOf } from "./instances.ts";

const root = scratch("host-paths");
const at = (...names: readonly string[]) => join(root, ...names);
for (const path of ["open/models/a", "open/shared", "beside/secret", "data/volumes", "open/loose/inner"]) {
  mkdirSync(at(path), { recursive: true });
}
writeFileSync(at("open/models/a/weights"), "of the host\n");
writeFileSync(at("open/file"), "");
symlinkSync(at("open/models"), at("open/link"));
symlinkSync(at("beside"), at("open/out"));
symlinkSync(at("data"), at("open/data"));

const rules = { allowed: [at("open"), at("nowhere")], own: [at("data")] };
const found = (path: string, changed = rules) => {
  try {
    return hostDirectory(path, "/workspace/host", changed);
  } catch (error) {
    return (error as Error).message;
  }
};

describe("a directory of the host", () => {
  test("is mounted from where it really lies, within what the node opens", () => {
    expect(found(at("open/models/a"))).toBe(at("open/models/a"));
    expect(found(at("open/link/a"))).toBe(at("open/models/a"));
    expect(found(at("open"))).toBe(at("open"));
  });

  test.each([
    ["one that a link leads out to", "open/out/secret", "it is none that this node opens"],
    ["one beside", "beside", "it is none that this node opens"],
    ["a file", "open/file", "there is no such directory"],
    ["nothing", "open/none", "there is no such directory"],
    ["nothing within what is not there either", "nowhere/x", "there is no such directory"],
    ["the service's own, by a link", "open/data", "it is none that this node opens"],
  ])("is refused: %s", (_, path, reason) => {
    const message = found(at(path));
    expect(message).toEndWith(reason);
    expect(message).not.toContain(root);
  });

  test("is refused where it holds or is part of the service's own", () => {
    const all = { allowed: [root], own: [at("data")] };
    for (const path of ["data", "data/volumes", "."]) expect(found(at(path), all)).toEndWith("the service's own");
  });

  test.skipIf(process.getuid?.() !== 0)("is refused where an agent could put a link in its place", () => {
    chownSync(at("open/loose"), agentUser, agentUser);
    expect(found(at("open/loose"))).toBe(at("open/loose"));
    expect(found(at("open/loose/inner"))).toEndWith("agents could replace it");
    chownSync(at("open/loose"), 0, 0);
    expect(found(at("open/loose/inner"))).toBe(at("open/loose/inner"));
    for (const mode of [0o777, 0o757]) {
      chmodSync(at("open/loose"), mode);
      expect(found(at("open/loose/inner"))).toEndWith("agents could replace it");
    }
    // As /tmp is: only who owns an entry renames it.
    chmodSync(at("open/loose"), 0o1777);
    expect(found(at("open/loose/inner"))).toBe(at("open/loose/inner"));
    chownSync(at("open/loose/inner"), agentUser, agentUser);
    expect(found(at("open/loose/inner"))).toEndWith("agents could replace it");
  });

  test("is opened for an instance where it was found, and no other directory is", () => {
    const ours = at("open/models/a");
    expect(openSources([ours], at("data"), [ours])).toHaveLength(1);
    expect(() => openSources([ours], at("data"))).toThrow("never mounted");
    expect(() => openSources([at("open/link")], at("data"), [at("open/link")])).toThrow("never mounted");
    expect(() => openSources([at("data/volumes")], at("data"), [at("data/volumes")])).toThrow("never mounted");
  });
});

const engine = await podman();
const kinds: [string, (() => Promise<SandboxFixture>) | null][] = [
  ["a process", () => processFixture()],
  ["a container", engine === null ? null : () => dockerFixture(engine)],
];

for (const [kind, open] of kinds) {
  describe.skipIf(open === null)(`in ${kind}`, () => {
    let fixture: SandboxFixture;
    beforeAll(async () => {
      if (open !== null) fixture = await open();
    });
    afterAll(() => fixture?.dispose());

    test("it shows below the workspace, and takes no writes where it is read-only", async () => {
      if (!fixture.holds.mounts) return;
      const spec = specOf(fixture, "cat host/weights; touch host/made && echo wrote || echo refused");
      const mounts = [
        ...spec.mounts,
        { source: at("open/models/a"), target: "/workspace/host", readOnly: true, isOfHost: true as const },
      ];
      const { exit } = await runToEnd(fixture.sandbox, { ...spec, mounts });
      expect(exit.stdout).toBe("of the host\nrefused\n");
      const plain = mounts.map(({ source, target, readOnly }) => ({ source, target, readOnly }));
      const unmarked = specOf(fixture, "cat host/weights", { executionId: spec.executionId, mounts: plain });
      const refused = await runToEnd(fixture.sandbox, unmarked).catch(String);
      expect(JSON.stringify(refused)).not.toContain("of the host");
    });
  });
}

/** Several sandboxes on one node: chosen by isolation, searched by instance. */
import { expect, test } from "bun:test";
import { defaultIsolation } from "../../../src/adapters/sandbox/open.ts";
import type { Sandbox, SandboxDescription } from "../../../src/adapters/sandbox/port.ts";
import { Sandboxes } from "../../../src/adapters/sandbox/sandboxes.ts";

function holding(description: Partial<SandboxDescription>, held: readonly string[], calls: string[] = []): Sandbox {
  const isolation = description.isolation ?? "process";
  return {
    describe: () => ({
      isolation,
      sandbox: "bubblewrap",
      egressEnforced: true,
      unenforcedLimits: [],
      ...description,
    }),
    launch: async () => {},
    pause: async () => "gone" as const,
    resume: async () => {},
    exec: async () => null,
    inspect: async (id) => (held.includes(id) ? "running" : "gone"),
    follow: async () => ({
      reason: "lost",
      exitCode: null,
      stdout: "",
      stdoutTruncated: false,
      stderr: "",
      stderrTruncated: false,
    }),
    terminate: async (id) => void calls.push(`${isolation} terminate ${id}`),
    remove: async (id) => void calls.push(`${isolation} remove ${id}`),
    list: async () => held.map((instanceId) => ({ instanceId, executionId: `of ${instanceId}` })),
  };
}

test("a sandbox is chosen by its isolation, and what is not there is null", () => {
  const process = holding({ isolation: "process", egressEnforced: false, sandbox: "none" }, []);
  const docker = holding({ isolation: "docker", sandbox: "container" }, []);
  const sandboxes = new Sandboxes([process, docker]);
  expect(sandboxes.offered).toEqual(["process", "docker"]);
  expect(sandboxes.kinds).toEqual(["none", "container"]);
  expect(sandboxes.of("docker")).toBe(docker);
  expect(sandboxes.of("firecracker")).toBe(null);
  expect(["process", "docker", "firecracker"].map((name) => sandboxes.holds(name))).toEqual([false, true, false]);
});

test("instances are found, listed and ended wherever they are", async () => {
  const calls: string[] = [];
  const sandboxes = new Sandboxes([
    holding({ isolation: "process" }, ["a"], calls),
    holding({ isolation: "docker" }, ["b"], calls),
  ]);
  expect((await sandboxes.list()).map(({ instanceId }) => instanceId)).toEqual(["a", "b"]);
  expect(await Promise.all(["a", "b", "c"].map((id) => sandboxes.inspect(id)))).toEqual(["running", "running", "gone"]);
  await sandboxes.terminate("b", 5);
  await sandboxes.remove("b");
  expect(calls).toEqual(["process terminate b", "docker terminate b", "process remove b", "docker remove b"]);
});

test("one that does not answer delays no other, and the failure is told", async () => {
  const calls: string[] = [];
  const broken = { ...holding({ isolation: "docker" }, []), terminate: () => Promise.reject(new Error("engine away")) };
  const sandboxes = new Sandboxes([broken, holding({ isolation: "process" }, ["a"], calls)]);
  expect(sandboxes.terminate("a", 5)).rejects.toThrow("engine away");
  await sandboxes.remove("a");
  expect(calls[0]).toBe("process terminate a");
});

test("what a node cannot hold agents to is named, with its isolation", () => {
  const bare = holding({ sandbox: "none", egressEnforced: false, unenforcedLimits: ["cpu"] }, []);
  const engine = holding({ isolation: "docker", sandbox: "container", unenforcedLimits: ["disk"] }, []);
  expect(new Sandboxes([bare, engine]).weaknesses).toEqual([
    { code: "unsandboxed", message: "process: The agent runs without a sandbox on this node" },
    { code: "limit_not_enforced", message: "process: This node does not enforce: cpu" },
    { code: "limit_not_enforced", message: "docker: This node does not enforce: disk" },
  ]);
  expect(new Sandboxes([holding({}, [])]).weaknesses).toEqual([]);
});

const process = holding({ isolation: "process" }, []);
const docker = holding({ isolation: "docker" }, []);
test.each([
  ["both, nothing said", [process, docker], null, "docker"],
  ["processes only, nothing said", [process], null, "process"],
  ["containers only, nothing said", [docker], null, "docker"],
  ["both, process wanted", [process, docker], "process", "process"],
  ["processes only, docker wanted", [process], "docker", null],
] as const)("what inherit means: %s", (_, given, wanted, meant) => {
  expect(defaultIsolation(new Sandboxes(given), wanted)).toBe(meant);
});

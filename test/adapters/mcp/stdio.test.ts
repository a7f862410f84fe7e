/** Tool servers as programs in sandboxes (docs/reference/tool-servers.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { ListedTool } from "../../../actors/tool-server/listing.ts";
import {
  type Child,
  type ChildSpec,
  connectServer,
  launchChild,
  type McpConnection,
} from "../../../src/adapters/mcp/port.ts";
import {
  type ToolServerName,
  type ToolServerPrograms,
  toolServerPrograms,
} from "../../harness/outside/tool-servers.ts";
import { until } from "../../harness/until.ts";
import { processFixture } from "../sandbox/fixture.ts";

let programs: ToolServerPrograms;
let fixture: Awaited<ReturnType<typeof processFixture>>;

beforeAll(async () => {
  [programs, fixture] = await Promise.all([
    toolServerPrograms("filesystem", "everything", "memory", "odd"),
    processFixture({ allowUnsandboxed: false }),
  ]);
});
afterAll(() => fixture.dispose());

interface Opened {
  readonly child: Child;
  readonly connection: McpConnection;
  readonly logs: readonly string[];
  readonly changes: () => number;
  tool(name: string): Promise<ListedTool>;
  call(args: Record<string, unknown>, timeoutMs?: number, name?: string): ReturnType<McpConnection["call"]>;
  close(): Promise<void>;
}

async function open(
  name: ToolServerName,
  args: readonly string[] = [],
  more: Partial<ChildSpec> = {},
): Promise<Opened> {
  const logs: string[] = [];
  let changes = 0;
  const child = await launchChild(
    { sandbox: fixture.sandbox, dataDir: fixture.dataDir, shown: [programs.directory] },
    {
      instanceId: crypto.randomUUID(),
      serverId: crypto.randomUUID(),
      tenant: "acme",
      executable: programs.executable,
      args: [programs.program(name), ...args],
      environment: {},
      egress: null,
      cpuMillicores: 1_000,
      memoryBytes: 512 * 2 ** 20,
      log: (line) => logs.push(line),
      ...more,
    },
    30_000,
  );
  const connection = await connectServer(child.transport, {
    era: "auto",
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    changed: () => {
      changes += 1;
    },
  });
  const tool = async (wanted: string) => {
    const found = (await connection.list(10_000)).tools.find((each) => each.name === wanted);
    if (found === undefined) throw new Error(`no tool ${wanted}`);
    return found;
  };
  return {
    child,
    connection,
    logs,
    changes: () => changes,
    tool,
    call: async (given, timeoutMs = 30_000, called = "act") =>
      connection.call(await tool(called), given, { timeoutMs, signal: new AbortController().signal }),
    async close() {
      await child.stop(0);
      await child.ended;
    },
  };
}

const textOf = (end: Awaited<ReturnType<McpConnection["call"]>>): string =>
  end.kind === "result" ? String((end.result.content as { text: string }[])[0]?.text) : end.kind;

test("three servers from npm list their tools and answer calls in a sandbox", async () => {
  const cases = [
    ["filesystem", ["/tmp"], "list_directory", { path: "/tmp" }],
    ["everything", [], "echo", { message: "hello" }],
    ["memory", [], "read_graph", {}],
  ] as const;
  await Promise.all(
    cases.map(async ([name, args, called, given]) => {
      const opened = await open(name, args, { environment: { MEMORY_FILE_PATH: "/tmp/memory.json" } });
      expect((await opened.call(given, 30_000, called)).kind).toBe("result");
      expect(opened.connection.protocolVersion).toBe("2025-11-25");
      await opened.close();
    }),
  );
}, 60_000);

test("a server's environment is its named variables and nothing of the service's", async () => {
  process.env.SVC_SECRET_OF_THE_SERVICE = "not for children";
  const opened = await open("odd", [], { environment: { ODD_TOKEN: "for the child" } });
  const environment = JSON.parse(textOf(await opened.call({ do: "env" }))) as Record<string, string>;
  delete process.env.SVC_SECRET_OF_THE_SERVICE;
  const own = ["HOME", "LANG", "LOGNAME", "ODD_TOKEN", "PATH", "SHELL", "TERM", "USER"];
  expect(
    Object.keys(environment)
      .filter((name) => name !== "PWD" && name !== "SHLVL" && name !== "_")
      .sort(),
  ).toEqual(own);
  expect(environment.HOME).toBe("/tmp");
  await opened.close();
}, 60_000);

test("a server sees no network, no process of the host and no file of the service", async () => {
  const look = "ls /proc | grep -c '^[0-9]'; cat /proc/net/dev | wc -l; ls /data 2>&1; ls -d $0 2>&1";
  const logs: string[] = [];
  const child = await launchChild(
    { sandbox: fixture.sandbox, dataDir: fixture.dataDir, shown: [] },
    {
      instanceId: crypto.randomUUID(),
      serverId: crypto.randomUUID(),
      tenant: "acme",
      executable: "sh",
      args: ["-c", `(${look}) >&2`, fixture.dataDir],
      environment: {},
      egress: null,
      cpuMillicores: 1_000,
      memoryBytes: 512 * 2 ** 20,
      log: (line) => logs.push(line),
    },
    30_000,
  );
  await child.ended;
  const [processes, interfaces, ...rest] = logs;
  expect(Number(processes)).toBeLessThan(12);
  // Two lines of headings, and the loopback.
  expect(Number(interfaces)).toBe(3);
  expect(rest.join(" ")).toContain(`cannot access '${fixture.dataDir}'`);
}, 60_000);

test("answers of 11 MiB and 100 MB are refused while they are read", async () => {
  const opened = await open("odd");
  expect((await opened.call({ do: "large", bytes: 11 * 2 ** 20 })).kind).toBe("too_large");
  expect((await opened.call({ do: "large", bytes: 100_000_000 })).kind).toBe("too_large");
  expect(textOf(await opened.call({ text: "still here" }))).toBe("still here");
  await opened.close();
}, 60_000);

test("what a server prints beside messages is skipped, and a flood ends it", async () => {
  const opened = await open("odd", ["noise:list"]);
  expect(textOf(await opened.call({ do: "noise" }))).toBe("after noise");
  expect(opened.logs.some((line) => line.startsWith("[svc]"))).toBe(true);
  expect(["lost", "after the flood"]).toContain(textOf(await opened.call({ do: "flood" })));
  await opened.connection.closed;
  expect(opened.child.transport.fault).toContain("more messages");
  await opened.child.ended;
}, 60_000);

test("a call that takes too long is cancelled at the server", async () => {
  const opened = await open("odd");
  expect((await opened.call({ do: "hang" }, 300)).kind).toBe("timeout");
  await until(async () => textOf(await opened.call({ do: "cancelled" })).includes("requestId"));
  await opened.close();
}, 60_000);

test("a server that says its tools changed is heard", async () => {
  const opened = await open("odd");
  await opened.call({ do: "change" });
  await until(() => opened.changes() > 0);
  expect((await opened.connection.list(10_000)).tools.map(({ name }) => name)).toContain("fresh");
  await opened.close();
}, 60_000);

test("a server that ends in a call fails the call, and nothing of it is left", async () => {
  const opened = await open("odd");
  const pid = await opened.child.pid();
  expect(pid).not.toBeNull();
  expect((await opened.call({ do: "crash" })).kind).toBe("lost");
  await opened.child.ended;
  expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  expect(await fixture.sandbox.list()).toEqual([]);
}, 60_000);

test.each(["crash:start", "crash:initialize", "hang:initialize"])(
  "a server that fails with %s does not connect",
  async (mode) => {
    const instanceId = crypto.randomUUID();
    const child = await launchChild(
      { sandbox: fixture.sandbox, dataDir: fixture.dataDir, shown: [programs.directory] },
      {
        instanceId,
        serverId: crypto.randomUUID(),
        tenant: "acme",
        executable: programs.executable,
        args: [programs.program("odd"), mode],
        environment: {},
        egress: null,
        cpuMillicores: 1_000,
        memoryBytes: 512 * 2 ** 20,
        log() {},
      },
      30_000,
    );
    const signal = AbortSignal.timeout(60_000);
    const connected = connectServer(child.transport, { era: "auto", timeoutMs: 2_000, signal, changed() {} });
    expect(
      await connected.then(
        () => "connected",
        () => "failed",
      ),
    ).toBe("failed");
    await child.stop(0);
    await child.ended;
    await until(async () => (await fixture.sandbox.inspect(instanceId)) === "gone", { what: "nothing to be left" });
  },
  60_000,
);

test("files of the service are never shown, and what is not there is said", async () => {
  const refused = (executable: string) =>
    open("odd", [], { executable }).then(
      () => "opened",
      (error: Error) => error.message,
    );
  expect(await refused(`${fixture.dataDir}/programs`)).toContain("files of the service");
  expect(await refused("/opt/not-there/at-all")).toContain("is not there");
});

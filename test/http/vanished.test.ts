/**
 * Readers that vanish without a word: a machine that lost its network, and a process that was killed.
 *
 * The first needs network namespaces, so root; each test makes its own, and they go with it.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../harness/until.ts";

const program = join(import.meta.dir, "stream-program.ts");
/** What the keep-alives of the program's streams and the kernel's timeout below add up to, with room. */
const noticedWithinMs = 45_000;

function ip(...args: readonly string[]): boolean {
  return Bun.spawnSync(["ip", ...args], { stdout: "ignore", stderr: "ignore" }).success;
}

/** Two machines with one cable between them. */
class TwoMachines {
  readonly server = `svc-s-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  readonly client = this.server.replace("svc-s", "svc-c");

  /** False where this machine does not let us. */
  connect(): boolean {
    const [server, client] = [this.server, this.client];
    return (
      ip("netns", "add", server) &&
      ip("netns", "add", client) &&
      ip("-n", server, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", client) &&
      ip("-n", server, "address", "add", "10.77.0.1/24", "dev", "cable") &&
      ip("-n", client, "address", "add", "10.77.0.2/24", "dev", "cable") &&
      [server, client].every((name) => ip("-n", name, "link", "set", "cable", "up")) &&
      // Linux repeats for about 15 minutes by default; what happens when it gives up is what is tested.
      ip("netns", "exec", server, "sysctl", "-qw", "net.ipv4.tcp_retries2=3")
    );
  }

  cut(): void {
    ip("-n", this.client, "link", "set", "cable", "down");
  }

  [Symbol.dispose](): void {
    for (const name of [this.server, this.client]) ip("netns", "delete", name);
  }
}

function possible(): boolean {
  using machines = new TwoMachines();
  const works = process.platform === "linux" && Bun.which("ip") !== null && machines.connect();
  if (!works) console.error("\n!!! no network namespaces here: a reader whose MACHINE vanishes IS NOT TESTED !!!\n");
  return works;
}

/** Runs the listener, and reads what it says. */
function startListener(prefix: readonly string[], hostname: string) {
  const child = Bun.spawn([...prefix, process.execPath, program, hostname], { stdout: "pipe", stderr: "inherit" });
  const said: string[] = [];
  void (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) said.push(...chunk.trim().split("\n"));
  })();
  return {
    port: () => until(() => said[0]?.replace("port ", ""), { what: "the listener's port" }),
    saysLast: (line: string, timeoutMs = 10_000) => until(() => said.at(-1) === line, { what: line, timeoutMs }),
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

/** Opens a stream and reads it, as one process that holds the only descriptor of the connection. */
function startReader(prefix: readonly string[], hostname: string, port: string) {
  const script = `exec 3<>/dev/tcp/${hostname}/${port}; printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; exec cat <&3`;
  const child = Bun.spawn([...prefix, "bash", "-c", script], { stdout: "ignore", stderr: "inherit" });
  return Object.assign(child, { [Symbol.dispose]: () => child.kill("SIGKILL") });
}

test.skipIf(!possible())(
  "a reader whose network is gone is dropped when keep-alives stay unanswered",
  async () => {
    using machines = new TwoMachines();
    expect(machines.connect()).toBe(true);
    const on = (name: string) => ["ip", "netns", "exec", name];
    using listener = startListener(on(machines.server), "10.77.0.1");
    using reader = startReader(on(machines.client), "10.77.0.1", await listener.port());
    await listener.saysLast("open 1");
    machines.cut();
    await listener.saysLast("open 0", noticedWithinMs);
    // It never said goodbye, and does not know either.
    expect(reader.exitCode).toBeNull();
  },
  60_000,
);

test("a reader that was killed is let go at once", async () => {
  using listener = startListener([], "127.0.0.1");
  using reader = startReader([], "127.0.0.1", await listener.port());
  await listener.saysLast("open 1");
  reader.kill("SIGKILL");
  await listener.saysLast("open 0", 2_000);
});

/** Daemons as processes of their own, each with a state directory and a scripted service. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { carrying } from "../../../src/lib/processes/process-table.ts";
import { prepare, type StateDirectory, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { newKey, writeIdentity, writeKey } from "../../../src/programs/edge-daemon/state/identity.ts";
import { type DaemonStatus, readStatus } from "../../../src/programs/edge-daemon/state/status.ts";
import { onLeave } from "../../harness/at-exit.ts";
import { EdgeService, published } from "../../harness/outside/edge-service.ts";
import { scratch } from "../../harness/scratch.ts";

/** The daemon as one file, which starts three times as fast as its sources. */
async function bundled(): Promise<string> {
  const source = fileURLToPath(new URL("./daemon-program.ts", import.meta.url));
  const built = await Bun.build({ entrypoints: [source], target: "bun", outdir: scratch("edge-program") });
  const [output] = built.outputs;
  if (output === undefined) throw new Error("the daemon does not build");
  return output.path;
}
const program = await bundled();

export const openConfig = `reconnect: [0.05]
contexts: [{name: default, capabilities: [{tool_pattern: "*"}]}]
`;

let counted = 0;
/** A new id of a command. */
export const commandId = (): string =>
  `0190b3c2-9a00-7001-9d10-${(process.pid * 1_000 + counted++).toString(16).padStart(12, "0")}`;

const live = new Set<Bun.Subprocess>();
onLeave(() => {
  for (const child of live) child.kill("SIGKILL");
});

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Stands before the daemon's command line. */
  readonly before?: readonly string[];
}

/** A host: its service, its files, and its daemons one after the other. */
export class TestHost {
  readonly service: EdgeService;
  readonly state: StateDirectory;
  /** Scratch beside the state directory. */
  readonly top: string;
  child: Bun.Subprocess<"ignore", "ignore", "pipe"> | null = null;
  log = "";

  constructor(config = openConfig, service = new EdgeService(), url?: string) {
    this.service = service;
    this.top = realpathSync(scratch("edge-host"));
    this.state = stateAt(join(this.top, "state"));
    prepare(this.state);
    const node_id = crypto.randomUUID();
    writeKey(this.state, newKey());
    writeIdentity(this.state, {
      node_id,
      tenant_id: "acme",
      name: "h",
      connect_url: url ?? `ws://127.0.0.1:${service.port}/v1/edge/connect`,
      api_url: `http://127.0.0.1:${service.port}`,
      enrolled_at: new Date().toISOString(),
      service_keys: [published(service.key)],
    });
    writeFileSync(this.state.config, config);
  }

  start({ env = {}, args = [], before = [] }: StartOptions = {}): Bun.Subprocess<"ignore", "ignore", "pipe"> {
    const child = Bun.spawn([...before, process.execPath, program, "--state-dir", this.state.path, ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: this.top, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    live.add(child);
    void child.exited.then(() => live.delete(child));
    this.child = child;
    void this.#follow(child.stderr);
    return child;
  }

  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.log += decoder.decode(chunk, { stream: true });
  }

  /** The newest connection, once it said hello. */
  get peer() {
    return this.service.peer(this.service.peers.length - 1);
  }

  /** Starts a daemon and waits for its hello. */
  async connected(options: StartOptions = {}) {
    const index = this.service.peers.length;
    this.start(options);
    return await this.service.peer(index);
  }

  status(): DaemonStatus | null {
    return readStatus(this.state);
  }

  /** A path beside the state directory. */
  path(name: string): string {
    return join(this.top, name);
  }

  /** How many lines a file has; commands add one each time they start. */
  lines(name: string): number {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8").split("\n").length - 1 : 0;
  }

  async kill(): Promise<void> {
    this.child?.kill("SIGKILL");
    await this.child?.exited;
  }

  async end(): Promise<void> {
    await this.kill();
    await this.service.stop();
  }
}

/** Processes that a command has, wherever they went. */
export const processesOf = (id: string): number[] => carrying(`SVC_EDGE_COMMAND_ID=${id}`);

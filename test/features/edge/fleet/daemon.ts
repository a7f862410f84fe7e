/** A daemon of a host, as a test has it act. */
import { randomUUID } from "node:crypto";
import type { NodeProcess } from "../../../harness/node/node-process.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

export class Daemon {
  epoch = 0;
  connected = false;
  readonly invoked: string[] = [];
  readonly cancelled: string[] = [];
  readonly #boot = randomUUID();
  readonly #journal = randomUUID();

  constructor(
    readonly stores: TestStores,
    public node: NodeProcess,
    readonly tenant: string,
    readonly id: string,
    readonly name: string,
  ) {}

  readonly #ask = async (type: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await this.node.call(
      "POST",
      "/scripted",
      { tenant: this.tenant, host: this.id, type, body },
      { Authorization: "" },
    );
    if (answer.status !== 200) throw new Error(`${type}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  async connect(slots = 4): Promise<this> {
    const hello = {
      ...{ link_id: randomUUID(), node: "n", live_nodes: ["n"], journal_id: this.#journal, journal_seq: 0 },
      ...{ boot_id: this.#boot, agent_version: "1.0.0", outdated: false, slots, commands: [] },
      capabilities: { os: "linux", arch: "x86_64", local_tools: [], mount_points: [], labels: {} },
    };
    this.epoch = Number((await this.#ask("hello", hello)).epoch);
    this.connected = true;
    return this;
  }
  async close(): Promise<void> {
    await this.#ask("link_closed", { epoch: this.epoch, longer: false });
    this.connected = false;
  }

  revoke = () => this.#ask("revoke", {});

  /** Takes in what was sent. */
  async read(): Promise<void> {
    const rows = await this.stores.sql<{ kind: string; command_id: string }[]>`
      delete from edge_frames where host_id = ${this.id} returning kind, command_id`;
    for (const { kind, command_id } of rows) (kind === "invoke" ? this.invoked : this.cancelled).push(command_id);
  }
  /** The next command that it is told to run. */
  async next(): Promise<string> {
    return until(
      async () => {
        await this.read();
        return this.invoked.shift();
      },
      { what: `a command for ${this.name}` },
    );
  }
  report = (report: object) => this.#ask("reports", { epoch: this.epoch, reports: [report] });
  started = (command_id: string) => this.report({ type: "started", command_id });
  output = (run: string, command_id: string, offset: number, text: string) =>
    this.#ask("progress", { run, command_id, offset, text });
  async result(run: string, command_id: string, status = "ok", changes: object = {}): Promise<void> {
    await this.#ask("ended", { run, command_id });
    const exit_code = status === "ok" ? 0 : 1;
    const tails = { stdout_tail: "done\n", stderr_tail: "", stdout_bytes: 5, stderr_bytes: 0, truncated: false };
    const error_kind = status === "ok" ? null : "nonzero_exit";
    const result = { exit_code, duration_ms: 12, started_at: Date.now(), ...tails, structured: null, error_kind };
    await this.report({ type: "result", command_id, status, result: { ...result, error_message: null, ...changes } });
  }
}

/** A daemon of a host that takes commands, and ends them as a test wants. */
import { ScriptedDaemon } from "../../../harness/edge/scripted-daemon.ts";
import { until } from "../../../harness/until.ts";
import type { EnrolledHost } from "../fixture.ts";

export class Daemon {
  readonly link: ScriptedDaemon;
  readonly id: string;
  readonly #taken = new Set<string>();
  /** Those that it was told to run, in order, over all links. */
  readonly #told: string[] = [];
  #seen = 0;

  constructor(
    url: string,
    host: EnrolledHost,
    readonly name: string,
    address: string,
  ) {
    this.id = host.id;
    this.link = new ScriptedDaemon(url, host, address);
    for (const { kid, public_key } of host.serviceKeys) this.link.serviceKeys.set(kid, public_key);
  }

  /** Opens a link; commands that it was told to run and did not end still run. */
  async connect(): Promise<this> {
    this.#read();
    this.#seen = 0;
    const running = this.#told.filter((id) => !this.#ended.has(id));
    await this.link.welcome({ commands: running.map((command_id) => ({ command_id, state: "running" })) });
    return this;
  }
  close(): void {
    this.link.close();
  }

  readonly #ended = new Set<string>();
  #read(): void {
    const all = this.link.all("invoke");
    for (const { command_id } of all.slice(this.#seen)) this.#told.push(command_id);
    this.#seen = all.length;
  }
  /** Commands that it was told to run. */
  get told(): readonly string[] {
    this.#read();
    return this.#told;
  }
  /** The next command that it is told to run. */
  async next(): Promise<string> {
    const command = await until(() => this.told.find((id) => !this.#taken.has(id)), {
      what: `a command for ${this.name}`,
    });
    this.#taken.add(command);
    return command;
  }

  started(command: string): void {
    this.link.started(command);
  }
  output(command: string, offset: number, text: string): void {
    this.link.progress(command, offset, new TextEncoder().encode(text));
  }
  /** A command ends. */
  async result(command: string, status = "ok", changes: object = {}): Promise<void> {
    this.#ended.add(command);
    const failed = status === "ok" ? {} : { exit_code: 1, error_kind: "nonzero_exit" };
    this.link.result(command, { status, ...failed, ...changes });
    await this.link.settled();
  }
}

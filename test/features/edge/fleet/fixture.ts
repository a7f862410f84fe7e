/** Runs on a real node, with hosts whose daemons act as a test wants. */

import type { LooseJson } from "../../../harness/loose-json.ts";
import { type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";
import { EdgeFixture, type Headers } from "../fixture.ts";
import { Daemon } from "./daemon.ts";

export interface Event {
  readonly id: number;
  readonly event: string;
  readonly data: LooseJson;
}

/** A run's events as they come. */
export class RunReader {
  readonly events: Event[] = [];
  /** All that came, byte for byte. */
  text = "";
  over = false;
  failure: unknown = null;
  readonly #abort = new AbortController();
  readonly response: Promise<Response>;

  constructor(url: string, init: RequestInit) {
    this.response = fetch(url, { ...init, signal: this.#abort.signal });
    this.#read().catch((error: unknown) => {
      this.failure = error;
    });
  }

  async #read(): Promise<void> {
    const response = await this.response;
    const isLines = response.headers.get("content-type")?.startsWith("application/x-ndjson") ?? false;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const text = decoder.decode(chunk, { stream: true });
      this.text += text;
      const parts = (rest + text).split(isLines ? "\n" : "\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(part, isLines);
    }
    this.over = true;
  }
  #take(part: string, isLine: boolean): void {
    if (isLine) {
      if (part !== "") this.events.push(JSON.parse(part));
      return;
    }
    const [, id] = /^id: (\d+)$/m.exec(part) ?? [];
    const [, event = ""] = /^event: (.*)$/m.exec(part) ?? [];
    const [, data] = /^data: (.*)$/m.exec(part) ?? [];
    if (id !== undefined && data !== undefined) this.events.push({ id: Number(id), event, data: JSON.parse(data) });
  }

  get names(): string[] {
    return this.events.map(({ event }) => event);
  }
  /** Events but progress. */
  get lasting(): Event[] {
    return this.events.filter(({ event }) => event !== "command_progress");
  }
  async first(event: string): Promise<LooseJson> {
    return until(() => this.events.find((one) => one.event === event)?.data, { what: `an event ${event}` });
  }
  async end(): Promise<LooseJson> {
    await until(() => this.over, { what: "the end of the stream", timeoutMs: 20_000 });
    return this.events.at(-1)?.data;
  }
  close(): void {
    this.#abort.abort();
  }
}

export class FleetFixture {
  readonly daemons: Daemon[] = [];

  private constructor(
    readonly edge: EdgeFixture,
    readonly tenant: string,
    public ann: Headers,
  ) {}

  /** @param stores fresh ones when absent */
  static async open(tenant = "acme", stores?: TestStores): Promise<FleetFixture> {
    const edge = await EdgeFixture.open({ program: "test/features/edge/fleet/calls-program.ts" }, stores);
    const ann = await edge.user(tenant, "ann");
    await edge.node.call("GET", "/v1/agents", undefined, ann);
    return new FleetFixture(edge, tenant, ann);
  }
  close = (): Promise<void> => this.edge.close();

  /** After a restart of the node, which signs tokens with other keys then. */
  async signIn(): Promise<void> {
    this.ann = await this.edge.user(this.tenant, "ann", { client_id: crypto.randomUUID() });
  }

  get node(): NodeProcess {
    return this.edge.node;
  }
  another = (): Promise<NodeProcess> => startNodeProcess(this.edge.stores);

  /** Hosts of these names, with a tag each that no others have. */
  async hosts(tag: string, names: readonly string[], connected = true): Promise<Daemon[]> {
    const made: Daemon[] = [];
    for (const name of names) {
      const host = await this.edge.host(this.ann, { name, tags: [tag] });
      const daemon = new Daemon(this.node.url, host, name, this.edge.address());
      if (connected) await daemon.connect();
      made.push(daemon);
    }
    this.daemons.push(...made);
    return made;
  }

  call = (method: string, path: string, body?: unknown, headers: Headers = this.ann) =>
    this.edge.call(method, path, headers, body);

  /** Begins a run without following it. */
  async begin(body: object, headers: Headers = this.ann): Promise<string> {
    const answer = await this.call("POST", "fleet/invoke", body, { Accept: "application/json", ...headers });
    if (answer.status !== 202) throw new Error(`no run: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.fleet_command_id;
  }
  run = async (id: string, query = ""): Promise<LooseJson> => (await this.call("GET", `fleet/runs/${id}${query}`)).body;
  /** The run once it stands so. */
  stands = (id: string, fits: (run: LooseJson) => boolean, what = "it"): Promise<LooseJson> =>
    until(
      async () => {
        const run = await this.run(id);
        return fits(run) && run;
      },
      { what: `${what} of run ${id}` },
    );
  ended = (id: string): Promise<LooseJson> => this.stands(id, ({ outcome }) => outcome !== "running", "the end");
  invoke(body: object, headers: Headers = {}): RunReader {
    return new RunReader(`${this.node.url}/v1/edge/fleet/invoke`, {
      method: "POST",
      headers: { ...this.ann, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }
  follow(id: string, headers: Headers = {}, query = "", node = this.node): RunReader {
    return new RunReader(`${node.url}/v1/edge/fleet/runs/${id}/stream${query}`, {
      headers: { ...this.ann, ...headers },
    });
  }
}

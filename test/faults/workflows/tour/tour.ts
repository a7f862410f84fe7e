/**
 * A workflow with a state of each kind, and the world that its runs meet: people, hosts, a service, senders of stimuli and
 * signals. The world holds each run where a test wants it, so that a node can die with runs at every state.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EdgeFixture } from "../../../features/edge/fixture.ts";
import { Daemon } from "../../../features/edge/fleet/daemon.ts";
import type { NodeFixture } from "../../../features/workflows/definitions/node-fixture.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { say, shell } from "../../../harness/manifests.ts";
import type { Podman } from "../../../harness/outside/podman.ts";
import { Receiver } from "../../../harness/outside/receiver.ts";
import { until } from "../../../harness/until.ts";
import { kept, marksOf } from "../fixture.ts";
import { gate, gated, type Place, places, statesOf } from "./states.ts";

/** A run on its tour: two runs, the second of which follows the first and sees everything. */
export interface Tourist {
  readonly name: string;
  readonly first: string;
  /** Where the world holds it; none: it goes through. */
  held: ReadonlySet<Place>;
  /** The answers that the service gave to it. */
  answers: number;
}

export class Tour {
  readonly receiver = new Receiver();
  readonly tourists = new Map<string, Tourist>();
  daemon: Daemon | null = null;
  #admin: Readonly<Record<string, string>> = {};
  #served: Promise<void> | null = null;
  #isOpen = true;
  #isPaused = false;
  readonly #edge: EdgeFixture;

  private constructor(
    readonly at: NodeFixture,
    private readonly pod: Podman | null,
  ) {
    this.#edge = new EdgeFixture(at.stores, at.node);
  }

  static async open(at: NodeFixture, pod: Podman | null): Promise<Tour> {
    const tour = new Tour(at, pod);
    await at.deploy({ name: "quick", script: [say("quick")], tools: [] });
    await at.deploy({ name: "slow", script: [shell(gate("FAN")), say("slow")] });
    await at.deploy({ name: "tourist", script: [shell(gate("AGENT")), say("done")] });
    const waits = { kind: "Wait", stimulus: { source: "below", key: "name", equals: "{{input.name}}" }, timeout: "1h" };
    await at.register("below", { WAIT: { ...waits, transitions: [] } });
    await at.register("tick", { TICK: { kind: "System", command: "noop", transitions: [] } });
    const approval = { timeout_seconds: 3600 };
    const capabilities = [{ tool_pattern: "svc.workflow.run", approval }, { tool_pattern: "*" }];
    await at.ok("POST", "/v1/security-contexts", { name: "careful", capabilities });
    await tour.signIn();
    const root = { Authorization: `Bearer ${await at.node.token()}` };
    const host = await tour.#edge.host(root, { name: "bus", tags: ["tour"] });
    tour.daemon = await new Daemon(at.node.url, host, "bus", tour.#edge.address()).connect();
    tour.#begin();
    return tour;
  }

  #begin(): void {
    this.#served = this.#serve();
  }

  async signIn(): Promise<void> {
    this.#admin = await this.#edge.operator("admin");
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#served;
    this.daemon?.close();
    await this.receiver.stop();
  }

  /** Starts a run that is held there; what it needs to go through the rest comes before it is there. */
  async send(
    name: string,
    held: readonly Place[],
    hasBoxes = held.some((place) => /BOX|STEPS/.test(place)),
  ): Promise<Tourist> {
    // Each has a workspace of its own: that of its workflow.
    const spec = { ...kept.spec, security_context: "careful", max_total_transitions: 50 };
    await this.at.register(name, statesOf(this.receiver.url(""), this.pod), { spec });
    const input = { leg: 1, name, boxes: hasBoxes && this.pod !== null ? "yes" : "no" };
    this.receiver.replies.set(`/${name}`, () => this.#answer(name));
    const tourist: Tourist = { name, first: await this.at.start(name, { input }), held: new Set(held), answers: 0 };
    this.tourists.set(name, tourist);
    for (const place of places) if (!tourist.held.has(place)) await this.#letThrough(tourist, place);
    return tourist;
  }

  /** The second run of a tour. */
  async second({ first }: Tourist): Promise<string> {
    return (await this.at.reached(first, ({ continued_as }) => continued_as !== null, "the run that follows"))
      .continued_as;
  }

  async release(tourist: Tourist, place: Place): Promise<void> {
    tourist.held = new Set([...tourist.held].filter((one) => one !== place));
    await this.#letThrough(tourist, place);
  }

  /** What the sender of a signal, of a stimulus and of gates does; the others look for themselves. */
  async #letThrough(tourist: Tourist, place: Place): Promise<void> {
    const { name } = tourist;
    if (gated[place] !== undefined) {
      const { blackboard } = await this.at.record(tourist.first);
      const folder = join(this.at.node.dataDir, "volumes", blackboard.workspace_volume_id);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `go-${place}`), "");
    }
    if (place === "SIGNAL") await this.#signal(tourist, "go");
    if (place === "ROADS") await this.#signal(tourist, "road");
    const source = { BELOW: "below", STIMULUS: "tour" }[place as string];
    if (source === undefined) return;
    // Nothing routes it: it is there for the run that waits for it, or will.
    const body = { source, content: { name }, idempotency_key: `${source}-${name}` };
    const answer = await this.at.node.call("POST", "/v1/stimuli", body, { Prefer: "respond-async" });
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  }

  async #signal({ first }: Tourist, signal_name: string): Promise<void> {
    let id = first;
    for (;;) {
      const path = `/v1/workflows/executions/${id}/signal`;
      const answer = await this.at.node.call("POST", path, { signal_name, payload: { n: 1 } });
      if (answer.status === 202) return;
      if (answer.status !== 409) throw new Error(JSON.stringify(answer.body));
      id = answer.body.continued_as;
    }
  }

  /** The service's first answer is one that makes the state try again. */
  async #answer(name: string): Promise<Response> {
    const tourist = this.tourists.get(name);
    const isHeld = () => tourist?.held.has(tourist.answers === 0 ? "RETRY" : "HTTP") ?? true;
    await until(() => !isHeld(), { timeoutMs: 60_000, everyMs: 20, what: "the service to answer" });
    if (tourist === undefined) return new Response(null, { status: 404 });
    tourist.answers += 1;
    return tourist.answers === 1 ? new Response("later", { status: 503 }) : Response.json({ ok: true });
  }

  /** People decide and hosts work, but for runs that are held there. */
  async #serve(): Promise<void> {
    for (; this.#isOpen; await Bun.sleep(50)) {
      if (this.#isPaused) continue;
      try {
        await this.#decide();
        await this.#work();
      } catch (error) {
        // The node may be away, the record of an approval behind it.
        if (!this.#isOpen) throw error;
      }
    }
  }

  async #decide(): Promise<void> {
    const { items } = await this.at.ok("GET", "/v1/human-approvals?limit=100");
    for (const { id, state_name, workflow_name } of items) {
      if (this.tourists.get(workflow_name)?.held.has(state_name) !== false) continue;
      await this.at.node.call("POST", `/v1/human-approvals/${id}/approve`, {}, this.#admin);
    }
  }

  readonly #worked = new Set<string>();
  /** Commands that the host was told to run: of which run each is. */
  readonly commands = new Map<string, string>();
  #listen(): void {
    for (const { command_id, args } of this.daemon?.link.all("invoke") ?? []) {
      if (!this.commands.has(command_id)) this.commands.set(command_id, args.args[0]);
    }
  }
  async #work(): Promise<void> {
    this.#listen();
    for (const [command, name] of this.commands) {
      if (this.#worked.has(command) || this.tourists.get(name)?.held.has("FLEET") !== false) continue;
      this.#worked.add(command);
      await this.daemon?.result(command, "ok", { stdout_tail: name });
    }
  }

  /** Waits until a run stands where it is held. */
  async isAt(tourist: Tourist, place: Place): Promise<void> {
    const { name } = tourist;
    const second = await this.second(tourist);
    const marks = gated[place];
    const isThere = async (): Promise<boolean> => {
      if (marks !== undefined) {
        const made = await marksOf(this.at, second);
        return marks.every((mark) => made.includes(mark));
      }
      if (place === "FLEET") return [...this.commands.values()].includes(name);
      const asked = this.receiver.at(`/${name}`).length;
      if (place === "RETRY" || place === "HTTP")
        return asked > tourist.answers && tourist.answers === Number(place === "HTTP");
      const record = await this.at.record(second);
      if (place === "BELOW") {
        const children = await this.at.ok("GET", `/v1/workflows/executions?parent_execution_id=${second}`);
        const [child] = children.executions;
        return child !== undefined && (await this.at.record(child.id)).waiting_for !== null;
      }
      return record.waiting_for?.state_name === place;
    };
    await until(isThere, { timeoutMs: 60_000, everyMs: 20, what: `${name} to be at ${place}` });
  }

  /** Lets the service refuse a run for now. @returns once the run waits for its second attempt */
  async untilRetry(tourist: Tourist): Promise<void> {
    const second = await this.second(tourist);
    await this.release(tourist, "RETRY");
    const isRetried = async () => (await this.at.logOf(second)).some(({ type }) => type === "WorkflowStateRetried");
    await until(isRetried, { what: "the second attempt" });
  }

  /** `kill -9` of the node; the world waits for the next one. */
  async die(): Promise<void> {
    this.#isPaused = true;
    await this.at.node.kill();
    await this.at.node.restart();
    await this.signIn();
    this.#listen();
    await this.daemon?.connect();
    this.#isPaused = false;
  }

  /** What the run came to, without what is of this run alone. */
  async outcomeOf(tourist: Tourist): Promise<LooseJson> {
    const record = await this.at.ended(await this.second(tourist));
    const { status, error, error_code, final_output, compensation, state_outputs, state_visits, blackboard } = record;
    const { undone, below } = blackboard;
    const text = JSON.stringify({
      ...{ status, error, error_code, final_output, compensation, state_outputs, state_visits, undone, below },
      transition_count: record.transition_count,
    });
    return JSON.parse(
      text
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "id")
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
        .replaceAll(/"date":"[^"]*"/g, '"date":"time"')
        .replaceAll(/"(duration_ms|waited_ms)":\d+/g, '"$1":0')
        .replaceAll(tourist.name, "the run"),
      // Branches stand in the order of their ends.
      (key, value) => (key === "joined" ? value.toSorted() : value),
    );
  }

  /** The outcome of a run that met no containers. */
  static withoutBoxes(outcome: LooseJson): LooseJson {
    const { BOX: _, STEPS: __, ...state_outputs } = outcome.state_outputs;
    const { BOX: ___, STEPS: ____, ...state_visits } = outcome.state_visits;
    return { ...outcome, state_outputs, state_visits, transition_count: outcome.transition_count - 2 };
  }
}

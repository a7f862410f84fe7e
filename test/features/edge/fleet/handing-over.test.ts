/** A portion of commands that is handed over once more, long after a node died with it (docs/reference/edge-fleet.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { OfferReply } from "../../../../actors/edge-host/messages.ts";
import { offer } from "../../../../actors/fleet-run/activities.ts";
import { commandFacts } from "../../../../src/features/edge/commands/facts.ts";
import { commandId } from "../../../../src/features/edge/commands/ids.ts";
import { commandRecords } from "../../../../src/features/edge/commands/records.ts";
import { fleetActivities } from "../../../../src/features/edge/fleet/activities.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { Host, resultOf } from "../../../actors/edge-host/world.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";

const tenant = "acme";
let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

/** A host in memory whose commands are rows, and runs that mean it alone. */
class Fleet {
  readonly host = new Host();
  #written = 0;

  /** What turns have stated of commands is put on record, in one commit. */
  async commit(): Promise<void> {
    const facts = this.host.sim.facts.slice(this.#written).filter(({ name }) => name === "edge_command");
    this.#written = this.host.sim.facts.length;
    const stated = facts.map(({ fact }) => ({ tenant, at: this.host.sim.now, fact, key: "", kind: "edge-host" }));
    for (const { text, parameters } of commandFacts.write(stated))
      await stores.sql.unsafe(text, [...parameters] as string[]);
  }

  /** The run's portion is handed over: the same again for the same run. */
  async handOver(run: string): Promise<void> {
    const ask = async (type: string, body: object) => this.host.ask<OfferReply>(type, body);
    const activities = fleetActivities({
      runtime: { of: () => ({ at: () => ({ ask, read: async () => ({ resolution: 0 }) }) }) },
      records: { targets: async () => [{ idx: 0, node_id: "" }] },
      commands: commandRecords(stores.sql),
    } as unknown as Parameters<typeof fleetActivities>[0]);
    const activity = activities.find(({ definition }) => definition === offer);
    const input = {
      ...{ attempt: 1, indices: [0], held: false, queue_until: null, turn_at: 0, tool: "cmd.run" },
      ...{ timeout_ms: 60_000, max_output_bytes: 1024, grace_ms: 120_000 },
    };
    const context = { actor: { kind: "fleet-run", tenant, key: run } } as unknown as ActivityContext;
    expect(await activity?.run(input, context)).toEqual({ full: [] });
    await this.commit();
  }

  async end(run: string): Promise<void> {
    this.host.report(resultOf(commandId(run, 0, 1)));
    await this.commit();
  }
}

test("what has ended is not started again, however many have ended since", async () => {
  const fleet = new Fleet();
  fleet.host.hello(1, { slots: 64 });
  const [first = "", ...others] = Array.from({ length: 65 }, () => crypto.randomUUID());
  for (const run of [first, ...others]) {
    await fleet.handOver(run);
    await fleet.end(run);
  }
  // Sent, and not on record as ended: a repeat that comes early leaves it as it is.
  const open = crypto.randomUUID();
  await fleet.handOver(open);
  expect(fleet.host.frames()).toHaveLength(66);
  for (const run of [first, open]) await fleet.handOver(run);
  expect(fleet.host.frames()).toEqual([]);
  const id = commandId(first, 0, 1);
  expect(await commandRecords(stores.sql).statuses(tenant, [id])).toEqual(new Map([[id, "ok"]]));
  expect(fleet.host.ended).toHaveLength(65);
});

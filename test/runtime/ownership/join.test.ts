/** A node registers when it starts, also where the database does not take it at once. */
import { expect, test } from "bun:test";
import type { Leases } from "../../../src/runtime/ownership/lease.ts";
import { Ownership, type OwnershipOptions } from "../../../src/runtime/ownership/ownership.ts";

/** @param failures what registering fails with, one after the other */
async function start(failures: Error[]): Promise<{ readonly joins: number; readonly reports: number }> {
  let joins = 0;
  let reports = 0;
  const leases = {
    partitions: 8,
    async join() {
      joins++;
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
    beat: async () => {},
    look: async () => ({
      live: ["n"],
      willing: [],
      holders: [],
      mine: [],
      free: [],
      needs: new Map(),
      acknowledge: true,
      takesAhead: true,
      incarnation: "",
    }),
    announceDraining: async () => {},
    release: async () => {},
    leave: async () => {},
  };
  const options = {
    leases: leases as unknown as Leases,
    lane: {
      held: new Map(),
      busySince: null,
      checkIncarnation: async () => {},
      tick: async () => {},
      detach: async () => {},
    },
    redis: { publish: async () => 0 },
    keys: { leases: "leases" },
    node: "n",
    ttlMs: 1000,
    onLook: async () => {},
    report: () => void reports++,
    crash: () => {},
  };
  // Only what a start makes it use.
  const ownership = new Ownership(options as unknown as OwnershipOptions);
  try {
    await ownership.start();
  } finally {
    await ownership.stop();
    await ownership.leave();
  }
  return { joins, reports };
}

test("a connection that comes too late does not end a node that starts", async () => {
  const late = () => Object.assign(new Error("write CONNECT_TIMEOUT"), { code: "CONNECT_TIMEOUT" });
  expect(await start([late(), late()])).toEqual({ joins: 3, reports: 2 });
});

test("another number of partitions does", async () => {
  await expect(start([new Error("This database has 16 partitions, not 8")])).rejects.toThrow("16 partitions");
});

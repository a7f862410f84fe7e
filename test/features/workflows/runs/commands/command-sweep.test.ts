/** What commands leave on a host is taken away once no run works with them any more. */
import { expect, test } from "bun:test";
import { Attempts, thisMachine } from "../../../../../src/features/workflows/runs/commands/attempts.ts";
import { sweepCommands } from "../../../../../src/features/workflows/runs/commands/sweep.ts";
import { scratch } from "../../../../harness/scratch.ts";

test("commands of ended and unknown runs are removed, and those that are done with", async () => {
  const dataDir = scratch("sweep");
  const attempts = new Attempts(dataDir);
  const [live, ended, unknown] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const note = async (executionId: string) => {
    const id = crypto.randomUUID();
    await attempts.write(id, { executionId, number: 1, phase: "launched", at: 1, error: null, machine: thisMachine });
    attempts.makeWorkspace(id, 1, null);
    return id;
  };
  const current = await note(live);
  const gone = [await note(live), await note(ended), await note(unknown)];
  const asked: unknown[] = [];
  const reported: unknown[] = [];
  await sweepCommands({
    dataDir,
    runs: {
      known: async () => [
        { id: live, tenant: "acme", ended_at: null },
        { id: ended, tenant: "acme", ended_at: new Date() },
      ],
      wantedInstances: async (tenant, ids) => {
        asked.push([tenant, ids]);
        return new Set([current]);
      },
    },
    report: (event, facts) => reported.push([event, facts.command_id]),
  });
  expect(asked).toEqual([["acme", [live]]]);
  expect(await attempts.list()).toEqual([current]);
  expect(reported.length).toBe(gone.length);
});

test("a host that never ran a command has nothing to sweep", async () => {
  const never = () => Promise.reject(new Error("not asked"));
  await sweepCommands({ dataDir: scratch("sweep"), runs: { known: never, wantedInstances: never }, report() {} });
});

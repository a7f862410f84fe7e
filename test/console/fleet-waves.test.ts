/** Hosts of a run by its waves: which section each lies in, and which parts are drawn again. */
import { expect, test } from "bun:test";
import { createView } from "../../src/console/pages/fleet/runs/cells.ts";
import { sectionsOf } from "../../src/console/pages/fleet/runs/waves.ts";

const titles = (waves: Parameters<typeof sectionsOf>[0], resolved: number) =>
  sectionsOf(waves, resolved).map(({ title, from }) => [title, from]);

test("canary, batches and hosts that are waited for", () => {
  expect(titles({ canary: 1, size: 2, hosts: 5 }, 7)).toEqual([
    ["Canary", 0],
    ["Batch 1 of 2", 1],
    ["Batch 2 of 2", 3],
    ["Waited for", 5],
  ]);
  // Nothing to tell apart: no heading.
  expect(titles({ canary: 0, size: 5, hosts: 5 }, 5)).toEqual([["", 0]]);
  expect(titles({ canary: 0, size: 1, hosts: 500 }, 500)).toEqual([["", 0]]);
  expect(titles({ canary: 2, size: 1, hosts: 5 }, 5)).toEqual([
    ["Canary", 0],
    ["One after the other", 2],
  ]);
  expect(titles({ canary: 1, size: 10, hosts: 9_001 }, 9_001)).toEqual([
    ["Canary", 0],
    ["900 batches of 10", 1],
  ]);
});

test("hosts lie in the parts of their section, and only what changed is another part", () => {
  const view = createView();
  const hosts = Array.from({ length: 250 }, (_, nth) => ({ node_id: `h${nth}`, name: `host-${nth}` }));
  const started = { resolved: hosts, queued: [], status: "running" };
  view.hear({ event: "fleet_started", data: started, id: "1" } as never);
  view.divide([0, 3, 200]);
  const first = view.take();
  expect(first.parts.map(({ section, cells }) => [section, cells[0]?.id, cells.length])).toEqual([
    [0, "h0", 3],
    [1, "h3", 100],
    [1, "h103", 97],
    [2, "h200", 50],
  ]);
  view.hear({ event: "command_progress", data: { node_id: "h150", chunk: { status: "running" } }, id: "2" } as never);
  const next = view.take();
  expect(next.parts.map((part, nth) => part === first.parts[nth])).toEqual([true, true, false, true]);
  expect(next.counts).toEqual({ pending: 249, running: 1 });
});

/**
 * A whole node that starts executions of routers for whoever asks at a port of its own, as classification does, so that
 * tests need no stimuli for it. Its card says where: `starts_port`.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import { Undo } from "../../../src/node/disposer.ts";
import { openEngine } from "../../../src/node/engine.ts";
import { openFront } from "../../../src/node/front.ts";
import { settle } from "../../../src/node/settled.ts";
import { openGround } from "../../../src/node/stores.ts";

const config = loadConfig(process.env);
const undo = new Undo();
const settled = await settle(config, {});
const ground = await openGround(config, undo, () => {});
const engine = await openEngine(config, ground, settled, {}, undo);
const { port, internalPort } = await openFront(config, ground, settled, engine, () => false, undo);

const starts = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { agentId, input } = (await request.json()) as { agentId: string; input: string };
    const origin = {
      trigger: "stimulus",
      parent: null,
      workflow: null,
      initiatingUserSub: null,
      exempt: true,
    } as const;
    const asked = { tenant: "svc-system", agentId, input, origin, starter: null };
    return Response.json(await engine.executions.startAs(Bun.randomUUIDv7(), true, asked));
  },
});

const card = join(ground.dataDir, `node-${process.pid}.json`);
writeFileSync(`${card}.new`, JSON.stringify({ port, internal_port: internalPort, starts_port: starts.port }));
renameSync(`${card}.new`, card);
process.on("SIGTERM", () => void undo.unwind(() => {}).then(() => process.exit(0)));

/** A node of the service: its parts wired together, started in order, stopped in the reverse one. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Models } from "../adapters/models/port.ts";
import type { Sandboxes } from "../adapters/sandbox/port.ts";
import type { Config } from "../config/config.ts";
import { Undo } from "./disposer.ts";
import { openEngine } from "./engine.ts";
import { openFront } from "./front.ts";
import { type NodeParts, settle } from "./settled.ts";
import { openGround } from "./stores.ts";

export interface Node {
  readonly id: string;
  readonly port: number;
  readonly internalPort: number;
  readonly egressPort: number;
  readonly models: Models;
  readonly sandboxes: Sandboxes;
  /** Takes no more work, finishes or hands over what is under way, leaves the stores. */
  stop(): Promise<void>;
}

/**
 * @param progress one line about what takes long
 * @throws ConfigError for settings that do not fit together; other errors when a part cannot start
 */
export async function startNode(
  config: Config,
  progress: (line: string) => void,
  parts: NodeParts = {},
): Promise<Node> {
  const undo = new Undo();
  try {
    const settled = await settle(config, parts);
    const ground = await openGround(config, undo, progress);
    const { logger, dataDir } = ground;
    if (settled.warning) logger.warn({ reason: settled.warning }, "models");
    const engine = await openEngine(config, ground, settled, parts, undo);
    let draining = false;
    const ports = await openFront(config, ground, settled, engine, () => draining, undo);
    const id = engine.runtime.nodeId;
    const card = await leaveCard(dataDir, { node: id, port: ports.port, internal_port: ports.internalPort });
    undo.push(() => rm(card, { force: true }));
    logger.info({ node_id: id, port: ports.port, internal_port: ports.internalPort }, "ready");

    let stopped: Promise<void> | null = null;
    return {
      id,
      ...ports,
      models: settled.models,
      sandboxes: engine.sandboxes,
      stop: () => {
        draining = true;
        stopped ??= undo.unwind((error) => logger.warn({ error: String(error) }, "stop"));
        return stopped;
      },
    };
  } catch (error) {
    await undo.unwind(() => {});
    throw error;
  }
}

/** Says in a file where this process listens, for whoever started it with ports of 0. */
async function leaveCard(dataDir: string, facts: Record<string, string | number>): Promise<string> {
  const path = join(dataDir, `node-${process.pid}.json`);
  await writeFile(`${path}.new`, JSON.stringify({ pid: process.pid, ...facts }));
  await rename(`${path}.new`, path);
  return path;
}

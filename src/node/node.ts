/** A node of the service: opened in order, started, stopped in the reverse order. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeContext } from "../features/feature.ts";
import type { Config } from "./config.ts";
import { openContext } from "./context.ts";
import { Disposer } from "./disposer.ts";
import { features } from "./features.ts";
import { createApps, listenInside, listenOutside } from "./listeners.ts";
import { openFeatures } from "./open-features.ts";
import { openStores } from "./stores.ts";
import { type NodeOverrides, validateConfig } from "./validated-config.ts";

export interface Node extends Pick<NodeContext, "models" | "sandboxes"> {
  readonly id: string;
  readonly port: number;
  readonly internalPort: number;
  readonly egressPort: number;
  /** Null: it serves no metrics. */
  readonly metricsPort: number | null;
  /** Takes no more work, finishes or hands over what is under way for as long as it may, leaves the stores. */
  stop(): Promise<void>;
}

/**
 * @param progress one line about what takes long
 * @throws ConfigError for settings that do not fit together; other errors when a part cannot start
 */
export async function startNode(
  config: Config,
  progress: (line: string) => void,
  overrides: NodeOverrides = {},
): Promise<Node> {
  const disposer = new Disposer();
  try {
    const validated = await validateConfig(config, overrides);
    const stores = await openStores(config, disposer, progress);
    const { logger, dataDir } = stores;
    for (const problem of config.unknownSettings) logger.warn({ reason: problem }, "settings");
    const { models } = validated;
    const unserved = models.warning();
    if (unserved !== null) logger.warn({ reason: unserved }, "models");
    else logger.info({ served: models.served() }, "models");
    const { context, runtime, identity } = await openContext(config, stores, validated, overrides, disposer, progress);
    const mounted = await openFeatures([...features, ...(overrides.features ?? [])], context, disposer);
    let draining = false;
    const apps = createApps(config, stores, {
      features: mounted.opened,
      runtime,
      identity,
      sandboxes: context.sandboxes,
      streams: context.streams,
      draining: () => draining,
    });

    // The inner listeners come first, so that what resumes finds them. Their stop is pushed twice: it runs before the
    // runtime drains, and when the runtime fails to start; a second call does nothing.
    const inside = await listenInside(apps.internal, mounted.opened, config.internalHost);
    disposer.push(inside.stop);
    disposer.push(() => runtime.drain());
    await runtime.start(mounted.work(inside.address));
    stores.onBack(() => runtime.storeBack());
    disposer.push(inside.stop);
    for (const begin of mounted.opened.flatMap(({ jobs = [] }) => jobs)) disposer.push(begin());
    for (const { tenantWork } of mounted.opened) {
      if (tenantWork !== undefined) disposer.push(tenantWork(mounted.tenantWork));
    }
    for (const begin of mounted.opened.flatMap(({ sweeps = [] }) => sweeps)) disposer.push(begin());
    const { port, metricsPort } = listenOutside(config, apps, context, disposer, overrides.sharedPort === true);

    const { internal: internalPort, egress: egressPort } = inside.ports;
    const id = runtime.nodeId;
    const addressFile = await writeAddressFile(dataDir, { node: id, port, internal_port: internalPort });
    disposer.push(() => rm(addressFile, { force: true }));
    logger.info({ node_id: id, port, internal_port: internalPort }, "ready");

    let stopped: Promise<void> | null = null;
    return {
      id,
      port,
      internalPort,
      egressPort,
      metricsPort,
      models: context.models,
      sandboxes: context.sandboxes,
      stop: () => {
        if (!draining) for (const { leaving } of mounted.opened) leaving?.();
        draining = true;
        // What is not done by then is taken over by other nodes, or resumed at the next start.
        stopped ??= disposer.dispose((error) => logger.warn({ error: String(error) }, "stop"), context.drainMs);
        return stopped;
      },
    };
  } catch (error) {
    await disposer.dispose(() => {});
    throw error;
  }
}

/**
 * Writes where this process listens, for the process that started it with port 0.
 * @returns the file's path
 */
async function writeAddressFile(dataDir: string, facts: Record<string, string | number>): Promise<string> {
  const path = join(dataDir, `node-${process.pid}.json`);
  await writeFile(`${path}.new`, JSON.stringify({ pid: process.pid, ...facts }));
  await rename(`${path}.new`, path);
  return path;
}

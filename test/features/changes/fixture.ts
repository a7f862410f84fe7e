/** The feature on nodes that are nothing else: several beside each other on one Redis. */
import { changes } from "../../../src/features/changes/feature.ts";
import type { Changed } from "../../../src/features/changes/port.ts";
import type { NodeContext } from "../../../src/features/feature.ts";
import { createApp } from "../../../src/http/app.ts";
import { listen } from "../../../src/http/listen.ts";
import { createLogger } from "../../../src/http/operations/log.ts";
import { EventStreams } from "../../../src/http/streams/sse.ts";
import { openTenantCounts } from "../../../src/http/streams/tenant-counts.ts";
import { openNotices } from "../../../src/store/redis/notices.ts";
import { believing } from "../../harness/callers.ts";
import type { TestStores } from "../../harness/stores.ts";

export type ChangesNode = Awaited<ReturnType<typeof openNode>>;

export async function openNode({ redisServers, redisUrl, prefix }: TestStores) {
  const servers = redisServers ?? redisUrl;
  const notices = openNotices(servers, prefix);
  let counts: ReturnType<typeof openTenantCounts> | null = null;
  const streams = new EventStreams({
    counts(own) {
      counts = openTenantCounts({ redisServers: servers, prefix, node: crypto.randomUUID(), own });
      return counts;
    },
  });
  const warnings: string[] = [];
  const context = {
    ...{ redisServers: servers, prefix, notices, streams, now: Date.now, newId: () => Bun.randomUUIDv7() },
    warn: (event: string) => void warnings.push(event),
  };
  // It uses no more of a node.
  const opened = await changes.open(context as unknown as NodeContext<Record<never, never>>, {});
  const ends = (opened.jobs ?? []).map((begin) => begin());
  const app = createApp({
    ...{ routes: opened.routes ?? [], authenticator: believing, metrics: null, corsOrigins: [] },
    logger: createLogger("silent"),
  });
  const listening = listen(app, { hostname: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${listening.port}/v1/events`,
    warnings,
    interrupted: () => opened.interrupted?.(),
    redisLost: () => opened.redisLost?.(),
    erase: (tenant: string) => opened.erase?.(tenant),
    changed: (tenant: string, id: string, status: string, more: Partial<Changed> = {}) =>
      opened.service.changed(tenant, { type: "execution", id, status, ...more }),
    changedForAll: (change: Changed) => opened.service.changedForAll(change),
    async close() {
      await listening.stop(0);
      for (const end of ends) await end();
      await opened.close?.();
      await counts?.close();
      notices.close();
    },
  };
}

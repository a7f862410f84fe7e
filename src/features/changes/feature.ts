/**
 * Changes: what happens to a tenant's records, for those who follow all of them at once. Features tell of their records;
 * commits of actors are heard here.
 */
import { Counter, Gauge } from "prom-client";
import type { RecordChange } from "../../../actors/change/change.ts";
import { defineFeature } from "../feature.ts";
import { createAnnouncing } from "./announcing.ts";
import { createFeeds } from "./feeds.ts";
import { createLosses } from "./losses.ts";
import { changesOfActors } from "./of-actors.ts";
import type { Changed, Changes } from "./port.ts";
import { changeRoutes } from "./routes.ts";
import { ChangeEvent } from "./schema.ts";
import { openChangeStore } from "./store.ts";
import { openWatched } from "./watched.ts";

export const changes = defineFeature({
  name: "changes",
  schemas: { ChangeEvent },
  open({ redisServers, prefix, notices, streams, now, newId, warn }) {
    const store = openChangeStore(redisServers, prefix);
    const watched = openWatched({ redisServers, prefix, newId, now });
    const feeds = createFeeds({ store, watched, warn });
    const told = new Counter({
      name: "svc_changes_told_total",
      help: "Changes of records that were told to followers of their tenant",
      registers: [],
    });
    const lost = new Counter({
      name: "svc_changes_lost_total",
      help: "Times at which changes of a tenant were dropped for want of room, and its followers were told of a gap",
      registers: [],
    });
    const announcing = createAnnouncing({
      store,
      watched,
      tell: (tenant) => notices.tell("changes", tenant),
      counted: (count) => told.inc(count),
      dropped: () => lost.inc(),
      warn,
    });
    const losses = createLosses({ store, watched, feeds, tell: (tenant) => notices.tell("changes", tenant), warn });
    const followers = new Gauge({
      name: "svc_changes_followers",
      help: "Streams of this node that follow the changes of a tenant",
      registers: [],
      collect(): void {
        this.set(feeds.followers());
      },
    });
    const changeOf = ({ type, id, status, rev, telling = "always" }: Changed): RecordChange => {
      return { type, id, status, at: now(), rev: rev ?? null, telling };
    };
    const service: Changes = {
      changed: (tenant, change) => announcing.put(tenant, changeOf(change)),
      changedForAll(change) {
        announcing
          .putForAll(changeOf(change))
          .catch((error: unknown) => warn("changes_not_told", { error: String(error) }));
      },
      mayBeFollowed: (tenant) => watched.has(tenant) !== false,
      async isAnyFollowed() {
        await watched.look();
        return watched.all().length > 0;
      },
    };
    return {
      service,
      routes: changeRoutes({ feeds, streams }),
      projections: changesOfActors(service),
      interrupted: losses.interrupted,
      redisLost: losses.redisLost,
      jobs: [
        () => {
          const ends = [notices.on("changes", feeds.heard), feeds.start(), losses.end];
          return () => Promise.all(ends.map((end) => end()));
        },
      ],
      queues: [{ name: "changes", depth: announcing.waiting }],
      metrics: [told, lost, followers],
      async erase(tenant) {
        await Promise.all([store.erase(tenant), watched.erase(tenant)]);
        return true;
      },
      async close() {
        await announcing.close();
        store.close();
        watched.close();
      },
    };
  },
});

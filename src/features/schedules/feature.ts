/** Agents that start by themselves. */
import { agents } from "../agents/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { tenants } from "../tenants/feature.ts";
import { exported } from "./exported.ts";
import { openSchedules, type Schedules } from "./service.ts";

export const schedules = defineFeature({
  name: "schedules",
  exported,
  needs: { agents, executions, tenants },
  open({ sql, redisServers, prefix, now, warn }, { agents, executions, tenants }) {
    let schedules: Schedules | null = null;
    const start = () => {
      const opened = openSchedules({
        sql,
        redisServers,
        prefix,
        resolve: agents.resolveForExecution,
        start: (id, request) => executions.startAs(id, false, request),
        unfinished: async (ids) => {
          const open = (await executions.records.known(ids)).filter(({ ended_at }) => ended_at === null);
          return new Set(open.map((row) => row.id));
        },
        now,
        log: warn,
      });
      schedules = opened;
      agents.onChange((change) => opened.watch(change));
      return () => opened.stop();
    };
    tenants.whenActive((tenant) => void schedules?.active(tenant));
    return { service: null, jobs: [start], redisLost: () => schedules?.redisLost() };
  },
});

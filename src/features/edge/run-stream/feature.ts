/** The streams of the events of fleet runs. */
import { defineFeature } from "../../feature.ts";
import { exported } from "./exported.ts";
import { streamRecords } from "./records.ts";
import { openStreamStore } from "./stream-store.ts";
import { createRunStreams } from "./streams.ts";

export const edgeRunStream = defineFeature({
  name: "edge/run-stream",
  exported,
  tenantTables: ["edge_run_event_ids", "edge_run_streams"],
  open({ sql, redisServers, prefix, runtime, notices, now, warn }) {
    const store = openStreamStore(redisServers, prefix);
    const streams = createRunStreams({ runtime, records: streamRecords(sql), store, notices, now, warn });
    return {
      service: streams,
      announced: streams.announced,
      redisLost: streams.redisLost,
      queues: [{ name: "edge_run_progress", depth: streams.waiting }],
      close: () => store.close(),
    };
  },
});

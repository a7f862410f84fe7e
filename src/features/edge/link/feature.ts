/** Links: the WebSockets over which the daemons of hosts get their commands and tell what became of them. */
import { isVersion } from "../../../../actors/edge/version.ts";
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import { integer, readText } from "../../../config/setting.ts";
import { defineFeature } from "../../feature.ts";
import { incidents } from "../../incidents/feature.ts";
import { edgeCommands } from "../commands/feature.ts";
import { edgeHosts } from "../hosts/feature.ts";
import { edgeKeys } from "../keys/feature.ts";
import { edgeRunStream } from "../run-stream/feature.ts";
import { openLink } from "./service.ts";

export const edgeLink = defineFeature({
  name: "edge/link",
  needs: { edgeCommands, edgeHosts, edgeKeys, edgeRunStream, incidents },
  settings: {
    heartbeatSeconds: integer("SVC_EDGE_HEARTBEAT_SECONDS", {
      meaning: "how often daemons of edge hosts say that they are there",
      unit: "s",
      min: 1,
      max: 3600,
      default: 30,
    }),
    staleSeconds: integer("SVC_EDGE_STALE_SECONDS", {
      meaning: "silence after which a link to an edge host is closed",
      unit: "s",
      min: 2,
      max: 10_800,
      default: 90,
    }),
    minVersion: readText("SVC_EDGE_MIN_VERSION", {
      meaning: "version below which daemons of edge hosts get no new commands, and are sent away",
      unit: "SemVer",
      bounds: "a version such as 1.2.0",
      defaultText: "none",
      fault: (text) => (isVersion(text) ? null : "must be a version such as 1.2.0"),
    }),
    hellosPerSecond: integer("SVC_EDGE_HELLOS_PER_SECOND", {
      meaning: "daemons that may say hello to one node in a second; more are sent away for 1–30 s",
      min: 1,
      max: 100_000,
      default: 500,
    }),
  },
  contradictions: ({ heartbeatSeconds, staleSeconds }) =>
    heartbeatSeconds !== undefined && staleSeconds !== undefined && staleSeconds < 2 * heartbeatSeconds
      ? ["SVC_EDGE_STALE_SECONDS must be at least twice SVC_EDGE_HEARTBEAT_SECONDS."]
      : [],
  open: (node, needs) => {
    const link = openLink(node, needs);
    return {
      service: null,
      routes: link.routes,
      actors: [edgeHost],
      projections: [link.projection],
      metrics: link.metrics.all,
      jobs: [link.work],
      sweeps: [link.rounds],
      erase: link.erase,
      close: link.close,
    };
  },
});

/** The dispatch gateway: the exchange of sandbox instances with their executions, on a listener of its own. */

import { BlockList, isIP } from "node:net";
import { join } from "node:path";
import { address, choice, integer, port, text } from "../../config/setting.ts";
import { openMovable } from "../../lib/start-failure.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { listenInternally } from "./listener.ts";
import { createCommandPlaces } from "./places.ts";
import { gatewayRoute } from "./routes.ts";

/** The gateway's callers come again by themselves; they are not waited for longer than this, ms. */
const graceMs = 500;

export const gateway = defineFeature({
  name: "gateway",
  needs: { executions, executionTokens, securityContexts },
  settings: {
    internalHost: text("SVC_INTERNAL_HOST", {
      meaning: "address of the listener for agents",
      ...address,
      default: "127.0.0.1",
    }),
    internalPort: port("SVC_INTERNAL_PORT", { meaning: "port of the listener for agents", default: 8081 }),
    dispatchMaxBodyBytes: integer("SVC_DISPATCH_MAX_BODY_BYTES", {
      meaning: "largest message an agent may send",
      unit: "bytes",
      min: 1024,
      max: 268_435_456,
      default: 16_777_216,
    }),
    dispatchAuth: choice("SVC_DISPATCH_AUTH", {
      meaning:
        "trusted_network takes the execution from the message; only with a loopback or private SVC_INTERNAL_HOST",
      of: ["required", "trusted_network"],
      default: "required",
    }),
  },
  contradictions: ({ dispatchAuth, internalHost }) =>
    dispatchAuth === "trusted_network" && internalHost !== undefined && !isPrivateAddress(internalHost)
      ? [`SVC_DISPATCH_AUTH trusted_network needs a loopback or private SVC_INTERNAL_HOST, not ${internalHost}`]
      : [],
  open(
    { settings, dataDir, models, runtime, now, warn, development, environmentAsSet },
    { executions, executionTokens, securityContexts },
  ) {
    const { internalHost: hostname, internalPort, dispatchAuth, dispatchMaxBodyBytes } = settings;
    const tokens = executionTokens.gateway;
    // Two checkouts run beside each other without a word.
    const mayMove = development && (environmentAsSet().SVC_INTERNAL_PORT ?? "") === "";
    const places = createCommandPlaces({ runtime, counters: securityContexts.counters, warn });
    return {
      service: null,
      internalRoutes: [
        gatewayRoute({
          runtime,
          tokens,
          servesModel: (alias) => models.serves(alias),
          maxBodyBytes: dispatchMaxBodyBytes,
          tokenRequired: dispatchAuth === "required",
          now,
          places,
          maskerOf: executions.maskerOf,
          tenantOf: async (executionId) => (await executions.records.known([executionId]))[0]?.tenant ?? null,
        }),
      ],
      queues: [{ name: "commands", depth: places.held }],
      sweeps: [() => places.start()],
      listener: {
        name: "internal",
        async open(app) {
          const socket = join(dataDir, "gateway", `${runtime.nodeId}.sock`);
          const opened = await openMovable({ prefix: "SVC_INTERNAL", hostname, port: internalPort, mayMove }, (port) =>
            listenInternally(app, { hostname, port, socket, tokens }),
          );
          await opened.ready;
          return { port: opened.port, stop: () => opened.stop(graceMs) };
        },
      },
    };
  },
});

/** Addresses that are not on the open internet. */
const networks = new BlockList();
networks.addSubnet("127.0.0.0", 8, "ipv4");
networks.addSubnet("10.0.0.0", 8, "ipv4");
networks.addSubnet("172.16.0.0", 12, "ipv4");
networks.addSubnet("192.168.0.0", 16, "ipv4");
networks.addAddress("::1", "ipv6");
networks.addSubnet("fc00::", 7, "ipv6");

/** Whether a host as written is loopback or in a private network. Names other than localhost are not resolved. */
export function isPrivateAddress(host: string): boolean {
  if (host === "localhost") return true;
  const family = isIP(host);
  return family !== 0 && networks.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** The route of links; see docs/reference/edge-link.md. */
import { edgeProtocol } from "../../../../actors/edge/frames.ts";
import { media } from "../../../http/answer.ts";
import { definePublicRoute, type Incoming, type Route } from "../../../http/route.ts";
import { acceptSocket, requireSocket } from "../../../http/sockets.ts";
import type { Links } from "./links.ts";

/** @param heard told of every request: its `stopping` says when this node leaves */
export function linkRoutes(links: Links, heard: (incoming: Incoming) => void): readonly Route[] {
  return [
    definePublicRoute({
      method: "GET",
      path: "/v1/edge/connect",
      summary: `The link of a host's daemon: a WebSocket of subprotocol ${edgeProtocol}`,
      responses: { 101: media() },
      refusals: [
        "upgrade_required",
        "subprotocol_required",
        "malformed_request",
        "rate_limited",
        "service_unavailable",
      ],
      handler(call) {
        requireSocket(call, edgeProtocol);
        links.requireRoom(call.address);
        heard(call);
        const link = links.create(call.address);
        try {
          return acceptSocket(call, edgeProtocol, link);
        } catch (error) {
          links.discard(link);
          throw error;
        }
      },
    }),
  ];
}

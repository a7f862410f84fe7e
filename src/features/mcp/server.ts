/** What the service offers to one caller, as a server of the official library that answers one request. */
import { Server } from "@modelcontextprotocol/server";
import { version } from "../../../package.json";
import type { FaceCaller } from "./caller.ts";
import type { Resources } from "./resources.ts";

export interface Offer {
  readonly resources: Resources;
}

const instructions =
  "svc runs agents and workflows under control. Executions and their files are resources: svc://executions/{id} and " +
  "svc://executions/{id}/files/{path}.";

export function serverOf(caller: FaceCaller, { resources }: Offer): Server {
  const server = new Server({ name: "svc", version }, { capabilities: { resources: {} }, instructions });
  server.setRequestHandler("resources/list", ({ params }) => resources.list(caller, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => resources.templates());
  server.setRequestHandler("resources/read", ({ params }) => resources.read(caller, params.uri));
  return server;
}

/** The egress proxy of a node: opened on its port and on its socket, counted, closed. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { basename, dirname } from "node:path";
import { Counter, Gauge } from "prom-client";
import {
  createProxy,
  type EgressEnvironment,
  type Proxy as EgressProxy,
  type Outcome,
} from "../../adapters/egress/port.ts";
import type { Masker } from "../../lib/masking/masker.ts";
import { listenToTenants } from "../../lib/sockets/tenant-sockets.ts";
import { openMovable } from "../../lib/start-failure.ts";
import type { Address, Runtime } from "../../runtime/port.ts";
import type { ExecutionTokens } from "../execution-tokens/port.ts";
import type { Plans } from "../executions/port.ts";
import type { Incidents } from "../incidents/port.ts";
import { createAdmission, type FurtherSubjects, type Subject } from "./admission.ts";
import { createRefusals } from "./refusals.ts";

export interface EgressOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Where the port is taken, any free one does as well. */
  readonly mayMove: boolean;
  /** Path of the unix socket of agents of no tenant's folder; those of the tenants lie beside it. */
  readonly socket: string;
  readonly outside: EgressEnvironment;
  /** Whether an agent may be open to every public host. */
  readonly openEgress: boolean;
  readonly tokens: Pick<ExecutionTokens, "verify">;
  readonly runtime: Pick<Runtime, "of">;
  readonly further: readonly FurtherSubjects[];
  readonly plans: Plans;
  readonly incidents: Pick<Incidents, "report">;
  /** What hides the values that an execution was given; null: it was given none. */
  readonly maskerOf: (execution: Address) => Promise<Masker | null>;
  log(event: string, facts: Readonly<Record<string, unknown>>): void;
}

/** The proxy, not yet listening. */
export function createEgress(options: EgressOptions) {
  const { log } = options;
  const warn = (error: unknown) => log("egress_failed", { error: String(error) });
  const admission = createAdmission({
    ...options,
    report: ({ executionId, tenant }: Subject, traffic) => {
      bytes.inc({ direction: "sent" }, traffic.sent);
      bytes.inc({ direction: "received" }, traffic.received);
      log("egress", { execution_id: executionId, tenant, ...traffic });
    },
  });
  const { connections, requests, bytes } = metricsOf(admission.connections);
  const proxy = createProxy({
    admission,
    outside: options.outside,
    refused: createRefusals(options.runtime, options.incidents, options.maskerOf, warn),
    answered: (outcome: Outcome) => requests.inc({ outcome }),
    failed: warn,
  });

  return {
    metrics: [connections, requests, bytes],

    /** @returns the port it got and what ends it, with every connection @throws StartFailure when the port is taken */
    async listen(): Promise<{ readonly port: number; stop(): Promise<void> }> {
      const { hostname, port: wanted, mayMove } = options;
      const onPort = await openMovable({ prefix: "SVC_EGRESS", hostname, port: wanted, mayMove }, async (at) => {
        const server = listener(proxy);
        const failure = await listening(server, () => server.listen(at, hostname));
        if (failure !== null) throw failure;
        return server;
      });
      const sockets = await listenToTenants(dirname(options.socket), basename(options.socket), proxy.acceptor);
      const { port } = onPort.address() as AddressInfo;
      return {
        port,
        async stop() {
          sockets.close();
          const closed = new Promise((done) => onPort.close(done));
          admission.stop();
          proxy.cutAll();
          await closed;
        },
      };
    },
  };
}

const listener = (proxy: EgressProxy): Server => createServer({ allowHalfOpen: true, noDelay: true }, proxy.acceptor());

/** @returns what kept it from listening, or null */
function listening(server: Server, listen: () => void): Promise<Error | null> {
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.once("listening", () => resolve(null));
    listen();
  });
}

function metricsOf(count: () => number) {
  const registers: [] = [];
  const connections = new Gauge({
    name: "svc_egress_connections",
    help: "Connections of agents to the egress proxy of this node",
    registers,
    collect() {
      this.set(count());
    },
  });
  const requests = new Counter({
    name: "svc_egress_requests_total",
    help: "Requests and tunnels of agents, by what became of them",
    labelNames: ["outcome"],
    registers,
  });
  const bytes = new Counter({
    name: "svc_egress_bytes_total",
    help: "Bytes agents sent to and received from the outside",
    labelNames: ["direction"],
    registers,
  });
  return { connections, requests, bytes };
}

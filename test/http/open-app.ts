/** An app on a free port, with identity over real stores, for tests of what every route shares. */

import type { Network } from "../../actors/policy/network/address.ts";
import { createApp } from "../../src/http/app.ts";
import type { ServedNames } from "../../src/http/entry.ts";
import { listen } from "../../src/http/listen.ts";
import { createLogger } from "../../src/http/operations/log.ts";
import type { Metrics } from "../../src/http/operations/metrics.ts";
import type { Route } from "../../src/http/route.ts";
import type { Authenticator } from "../../src/identity/authenticate.ts";
import { createIdentification, type Identification, withDevelopmentClients } from "../../src/identity/open.ts";
import { readAuthSettings } from "../../src/identity/settings.ts";
import { type DevelopmentIssuer, defaultDevelopmentClients } from "../../src/identity/tokens/development-issuer.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";

export interface OpenApp {
  readonly url: string;
  readonly port: number;
  /** Every log line so far. */
  readonly log: string[];
  stop(graceMs?: number): Promise<void>;
}

export interface OpenAppOptions {
  readonly routes: readonly Route[];
  readonly authenticator?: Authenticator;
  readonly metrics?: Metrics;
  readonly corsOrigins?: readonly string[];
  readonly trustedProxies?: readonly Network[];
  readonly served?: ServedNames;
  readonly bodyDeadlineMs?: number;
  readonly idleTimeoutSeconds?: number;
}

export function openApp(options: OpenAppOptions): OpenApp {
  const log: string[] = [];
  const app = createApp({
    routes: options.routes,
    authenticator: options.authenticator ?? null,
    logger: createLogger("info", { write: (line) => void log.push(line) }),
    metrics: options.metrics ?? null,
    corsOrigins: options.corsOrigins ?? [],
    trustedProxies: options.trustedProxies ?? [],
    served: options.served ?? null,
    bodyDeadlineMs: options.bodyDeadlineMs ?? 10_000,
  });
  const { idleTimeoutSeconds = 30 } = options;
  const listening = listen(app, { hostname: "127.0.0.1", port: 0, idleTimeoutSeconds });
  return {
    url: `http://127.0.0.1:${listening.port}`,
    port: listening.port,
    log,
    stop: (graceMs = 0) => listening.stop(graceMs),
  };
}

export interface TestIdentityOptions {
  readonly sql: Sql;
  /** The `auth` section. */
  readonly auth?: unknown;
  readonly development?: Pick<DevelopmentIssuer, "realms">;
  readonly now?: () => number;
  readonly limitFailures?: boolean;
}

export function openTestIdentity(options: TestIdentityOptions): Identification {
  const { settings, problems } = readAuthSettings(options.auth ?? {}, true);
  if (!settings) throw new Error(problems.join("\n"));
  return createIdentification({
    sql: options.sql,
    notices: null,
    settings: options.development ? withDevelopmentClients(settings, defaultDevelopmentClients) : settings,
    issuer: options.development ?? null,
    limitFailures: options.limitFailures ?? false,
    now: options.now ?? Date.now,
  });
}

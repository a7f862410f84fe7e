/**
 * How a feature declares itself. A feature is one folder: its `feature.ts` says what it needs, what its settings are and
 * what it brings, and `src/node` opens it after what it needs, mounts what it brings and closes it again.
 */

import type { Metric } from "prom-client";
import type { Identity } from "../../actors/identity/identity.ts";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { EgressEnvironment } from "../adapters/egress/port.ts";
import type { Mail } from "../adapters/mail/port.ts";
import type { NodeModels } from "../adapters/models/port.ts";
import type { Isolation, Sandboxes } from "../adapters/sandbox/port.ts";
import type { Mode } from "../config/load.ts";
import type { SettingTable, Values } from "../config/setting.ts";
import type { App } from "../http/app.ts";
import type { NamedSchemas } from "../http/openapi/components.ts";
import type { Probe } from "../http/operations/health.ts";
import type { Queue } from "../http/operations/queues.ts";
import type { RequestAudit } from "../http/request-audit.ts";
import type { Route } from "../http/route.ts";
import type { EventStreams } from "../http/streams/sse.ts";
import type { Keys } from "../identity/callers/api-keys.ts";
import type { Members } from "../identity/callers/members.ts";
import type { Starters } from "../identity/callers/starters.ts";
import type { Users } from "../identity/callers/users.ts";
import type { AuthSettings } from "../identity/settings.ts";
import type { Tenants } from "../identity/tenants/tenants.ts";
import type { DevelopmentIssuer } from "../identity/tokens/development-issuer.ts";
import type { EmbeddedRealms } from "../identity/tokens/embedded-realms.ts";
import type { IssuerProbe } from "../identity/tokens/realms.ts";
import type { SignInRealms } from "../identity/tokens/sign-in-realms.ts";
import type { Activity, FactWriter, News, Projection, Runtime } from "../runtime/port.ts";
import type { Sql } from "../store/postgres/pool.ts";
import type { RedisServers } from "../store/redis/connections.ts";
import type { Notices } from "../store/redis/notices.ts";
import type { ToolProvider } from "./tools/port.ts";

/** What every feature may use of the node it is opened on. */
export interface NodeContext<S extends SettingTable = SettingTable> {
  /** Values of the settings that the feature declares. */
  readonly settings: Values<S>;
  readonly sql: Sql;
  readonly redisServers: RedisServers;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path of the folder of the volumes that stay. */
  readonly storageRoot: string;
  /** Names what the nodes of this data directory share, as the runtime does. */
  readonly host: string;
  readonly development: boolean;
  /** Where clients reach the public listener, without a trailing slash. */
  readonly publicUrl: string;
  /** Web origins whose pages may call the API; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** How long a stopping node may finish what it has begun, ms. */
  readonly drainMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /**
   * PostgreSQL's time, for what is signed by it and judged by it to the second, Unix milliseconds.
   * @throws Problem 503 `service_unavailable` where this node has not heard of it for 90 s
   */
  readonly databaseNow: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Every setting with its value, without secrets. */
  readonly configured: () => readonly { readonly name: string; readonly meaning: string; readonly value: Json }[];
  /** Every variable of the environment byte for byte, for secrets whose names depend on what they are for. */
  readonly environmentAsSet: () => Readonly<Record<string, string | undefined>>;
  /** Reads at once; takes messages once the node has started it, after every feature is open. */
  readonly runtime: Runtime;
  /** What nodes tell each other of what they changed. */
  readonly notices: Notices;
  readonly streams: EventStreams;
  readonly tenants: Tenants;
  /** Issuers of the tokens of the platform's people and of consumers; tenants' own are not named to strangers. */
  readonly openIssuers: readonly string[];
  /** Issuers of the configuration, to be asked whether they are there. */
  readonly issuerProbes: readonly IssuerProbe[];
  /** Where people sign in. */
  readonly signInRealms: SignInRealms;
  /** The realm that a tenant's own people come from; for null, that of consumers. */
  readonly realmOf: (tenant: string | null) => string;
  readonly members: Members;
  readonly keys: Keys;
  readonly users: Users;
  /** Whom management tools act for, as they stand now. */
  readonly starters: Starters;
  /** Who sends a request to a public route, where it carries a good bearer token; null for all others. */
  readonly callerOf: (request: Request) => Promise<Identity | null>;
  /** Null outside development mode. */
  readonly issuer: DevelopmentIssuer | null;
  /** Null: the service is no identity provider of its own. */
  readonly embedded: {
    readonly realms: EmbeddedRealms;
    /** `auth.service_accounts` */
    readonly serviceAccounts: AuthSettings["service_accounts"];
  } | null;
  readonly models: NodeModels;
  readonly sandboxes: Sandboxes;
  /** What agents and commands get that name no isolation. */
  readonly defaultIsolation: Isolation;
  readonly outside: EgressEnvironment;
  /** Whether manifests may open every public host at once. */
  readonly openEgress: boolean;
  /** Registries that images may come from; null: any. */
  readonly imageRegistries: readonly string[] | null;
  /** Directories of the host that operators' agents may mount. */
  readonly hostPaths: readonly string[];
  /** Images that may be run without asking a registry; null: any. */
  readonly localImages: readonly string[] | null;
  /** Whether containers may run as root inside. */
  readonly containerRoot: boolean;
  /** Null: no mail server is configured. */
  readonly mail: Mail | null;
}

/** Ends what was started; resolves once what was under way is done. */
export type Stop = () => Promise<unknown> | unknown;

/** A listener of its own, beside the public one. It is closed before the runtime drains. */
export interface FeatureListener {
  /** What the node names its port by. */
  readonly name: "internal" | "egress";
  /** @param app answers the internal routes of all features @throws StartFailure when the port is taken */
  open(app: App): Promise<{ readonly port: number; readonly stop: Stop }>;
}

/** Where sandboxes reach this node: the internal routes of all features. */
export interface InternalAddress {
  readonly url: string;
  /** Answers a request without a connection, for agents that run in the node's own process. */
  handle(request: Request): Promise<Response>;
}

/** How what a purged tenant had in one feature is taken away. */
export interface TenantErasure {
  /** The feature's. */
  readonly name: string;
  /** See `Feature.tenantTables`. */
  readonly tables: readonly string[];
  /** See `Opened.erase`; null: the feature has rows alone. */
  readonly erase: ((tenant: string) => Promise<boolean>) | null;
}

/** What of a table leaves with an export of its tenant. */
export interface ExportedTable {
  /** Columns that leave, separated by spaces. */
  readonly columns: string;
  /** Those of them that are texts of JSON documents. */
  readonly json?: string;
  /** Columns that stay, separated by spaces, and why. Together with `columns` and `tenant` they are all columns. */
  readonly withheld?: Readonly<Record<string, string>>;
  /** Which rows are the tenant's, where no column `tenant` says so: a condition in which `$1` is the tenant. */
  readonly rows?: string;
}

/** Tables of a feature, each with what leaves, or why nothing of it does. */
export type ExportedTables = Readonly<Record<string, ExportedTable | string>>;

/** Records that no table has as they are to leave. */
export interface ExportedRecords {
  /** Names the file. */
  readonly kind: string;
  /** One after another: no more than one of them is held at once. */
  read(tenant: string): AsyncIterable<Readonly<Record<string, unknown>>>;
}

/** A file of a tenant as an export has it. */
export interface ExportedFile {
  /** Relative, with `/` between its parts; none of them is `.` or `..`. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Unix milliseconds. */
  readonly modifiedMs: number;
  /** Called once, before the next file is asked for. */
  content(): AsyncIterable<Uint8Array>;
}

/** A file of a tenant that an export does not have, and why. */
export interface ExportFlaw {
  readonly path: string;
  readonly problem: string;
}

/** What an export of a tenant has, of all features. */
export interface TenantExport {
  /** By the names of tables. */
  readonly tables: ReadonlyMap<string, ExportedTable>;
  readonly records: readonly ExportedRecords[];
  files(tenant: string): AsyncIterable<ExportedFile | ExportFlaw>;
}

/** What a feature brings. */
export interface Opened<Service> {
  /** What other features may call: ids and documents, never tables. */
  readonly service: Service;
  readonly routes?: readonly Route[];
  /** Of the listener that only sandboxes reach. */
  readonly internalRoutes?: readonly Route[];
  readonly actors?: readonly AnyActorDefinition[];
  /** Given the address that sandboxes call, which is known once the internal listener is open. */
  readonly activities?: (internal: InternalAddress) => readonly Activity[];
  readonly projections?: readonly Projection[];
  /** What writes the facts that turns state; see `fact` of actors/kernel/effect.ts. */
  readonly facts?: readonly FactWriter[];
  /** Told what this node commits to actors' logs; a hint, since a crash may come between. Must not throw. */
  readonly announced?: (news: readonly News[]) => void;
  /**
   * Told, within about a second, that Redis may have lost what it held: it was flushed, replaced, started anew or failed
   * over. What the feature keeps there is to be filled again from PostgreSQL. Must not throw.
   */
  readonly redisLost?: () => void;
  /**
   * Told that a node died, or that the end of a commit of this one is in doubt: `announced` and `committed` were perhaps
   * not told of what was committed last. Must not throw.
   */
  readonly interrupted?: () => void;
  /** Told of requests of the public listener; of one feature at most. */
  readonly requestAudit?: RequestAudit;
  readonly listener?: FeatureListener;
  /** Tools that calls may reach. */
  readonly toolProviders?: readonly ToolProvider[];
  /** Given those of all features, in the order of opening, before the runtime starts; of one feature at most. */
  readonly toolsKnown?: (all: readonly ToolProvider[]) => void;
  /** Rounds over what is stored, now and then. Each is begun once the runtime runs, and ended before it drains. */
  readonly sweeps?: readonly (() => Stop)[];
  /** Workers and watches; begun before the sweeps, ended after them. */
  readonly jobs?: readonly (() => Stop)[];
  /** What waits in it, as the metrics show it. */
  readonly queues?: readonly Queue[];
  /**
   * Takes away what a purged tenant has beside the rows of `tenantTables`: actors, files, objects, secrets elsewhere.
   * Features are asked from the last one opened to the first, so what works with others' things is gone before them, and
   * the rows go behind it. Repeatable, and asked by several nodes at once perhaps.
   * @returns whether nothing is left; otherwise it is asked again later
   */
  readonly erase?: (tenant: string) => Promise<boolean>;
  /**
   * Ends what a deleted tenant has under way, and begins nothing new. Repeatable: asked until nothing is left.
   * @returns whether nothing was under way
   */
  readonly endWork?: (tenant: string) => Promise<boolean>;
  /** What an export of a tenant has beside rows of tables. Secrets, credentials and keys are never among them. */
  readonly exportedRecords?: readonly ExportedRecords[];
  /** Files of a tenant, one after another. */
  readonly exportedFiles?: (tenant: string) => AsyncIterable<ExportedFile | ExportFlaw>;
  /** Given what all features export, before the runtime starts; of one feature at most. */
  readonly exportsKnown?: (all: TenantExport) => void;
  /** Ends and erases tenants by what all features bring; begun with the jobs. Of one feature at most. */
  readonly tenantWork?: (all: TenantWork) => Stop;
  /** Made with `registers: []`: the node registers them. */
  readonly metrics?: readonly Metric[];
  /** By the name under which `/health/ready` tells of them. */
  readonly health?: Readonly<Record<string, Probe>>;
  /** Called when this node is told to stop, before anything of it ends. Returns at once and must not throw. */
  readonly leaving?: () => void;
  /** Once the runtime has drained. */
  readonly close?: Stop;
}

/** What all features together bring for the end of a tenant. */
export interface TenantWork {
  /** In the order in which they are asked. */
  readonly erasures: readonly TenantErasure[];
  /** @returns whether nothing of the tenant was under way any more */
  endWork(tenant: string): Promise<boolean>;
}

/** Features by the name under which they are handed over. */
export type Needs = Readonly<Record<string, AnyFeature>>;

export interface Feature<Service, S extends SettingTable, N extends Needs> {
  /** The path of its folder in `src/features`. */
  readonly name: string;
  /** The only features that its folder may import from. */
  readonly needs: N;
  readonly settings: S;
  /** What no single setting shows, as sentences; values that were not readable are undefined. */
  readonly contradictions?: (settings: Partial<Values<S>>, mode: Mode) => readonly string[];
  /** Beginnings of variables that the feature reads by itself: their names say what they are for. */
  readonly variablePrefixes?: readonly string[];
  /**
   * Its tables with a column `tenant`, whose rows of a tenant go when it is purged, in this order. Rows of other tables
   * go with them by a foreign key, or by `Opened.erase`.
   */
  readonly tenantTables?: readonly string[];
  /** Its tables as an export of a tenant has them. A test names tables that no feature declares. */
  readonly exported?: ExportedTables;
  /** Shapes of the wire by the names that the API document gives them. */
  readonly schemas?: NamedSchemas;
  /** What `--help` says beside the table of settings. */
  readonly help?: string;
  /** @throws ConfigError, StartFailure when the node cannot start with it */
  open(node: NodeContext<S>, needs: ServicesOf<N>): Opened<Service> | Promise<Opened<Service>>;
}

/** A feature whose types are folded away: a list of features knows what each declares, and no more. */
export interface AnyFeature {
  readonly name: string;
  readonly needs: Needs;
  readonly settings: SettingTable;
  readonly tenantTables?: readonly string[];
  readonly exported?: ExportedTables;
  readonly help?: string;
  readonly variablePrefixes?: readonly string[];
  readonly schemas?: NamedSchemas;
  contradictions?(settings: never, mode: Mode): readonly string[];
  open(node: never, needs: never): Opened<unknown> | Promise<Opened<unknown>>;
}

export type ServiceOf<F extends AnyFeature> = Awaited<ReturnType<F["open"]>>["service"];
type ServicesOf<N extends Needs> = { readonly [K in keyof N]: ServiceOf<N[K]> };

type Declared<Service, S extends SettingTable, N extends Needs> = Omit<Feature<Service, S, N>, "needs" | "settings"> & {
  readonly needs?: N;
  readonly settings?: S;
};

/** Declares a feature; `src/node/features.ts` lists it. */
export function defineFeature<
  Service,
  S extends SettingTable = Record<never, never>,
  N extends Needs = Record<never, never>,
>(declared: Declared<Service, S, N>): Feature<Service, S, N> {
  // Absent means empty, which is what the defaults of the type parameters say.
  return { needs: {} as N, settings: {} as S, ...declared };
}

/** The frames between a daemon and the service: their bodies, what closes a connection, and what bounds it. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import { Nullable, Text } from "../kernel/schema.ts";

export const edgeProtocol = "svc-edge.v1";

export const frameLimits = {
  /** Longest message of either side, bytes. */
  maxFrameBytes: 1_048_576,
  /** Longest first message of a daemon, bytes. */
  maxHelloBytes: 65_536,
  helloWithinMs: 10_000,
  heartbeatMs: 30_000,
  staleMs: 90_000,
  /** How far a heartbeat may be from its interval, either way. */
  heartbeatJitter: 0.2,
  /** Bytes of output that may be on the way before the service has returned credit. */
  outputWindow: 262_144,
  maxProgressBytes: 16_384,
  maxTailBytes: 8_192,
  maxStructuredBytes: 131_072,
  /** A frame that is not acknowledged for so long makes the daemon connect anew. */
  ackWithinMs: 30_000,
  ackAfterMs: 250,
  graceMs: 5_000,
  maxSlots: 64,
  /** Commands that a hello may list: those that run, and those that ended and were not acknowledged. */
  maxListed: 256,
  /** Bytes unsent on a socket of the service above which it is closed. */
  maxUnsentBytes: 4_194_304,
} as const;

/** Why a connection ends. What each asks of a daemon is in docs/reference/edge-daemon.md. */
export const closes = {
  stopped: 1000,
  leaving: 1001,
  restarting: 1012,
  protocol: 4000,
  notAuthenticated: 4001,
  silent: 4002,
  revoked: 4003,
  helloLate: 4008,
  superseded: 4009,
  outdated: 4010,
  overloaded: 4013,
} as const;

/** The reason of a close 4013. */
export const overloadedReason = (milliseconds: number): string => `retry_after_ms=${milliseconds}`;

/** Milliseconds that the reason of a close 4013 asks for; null: it asks for none that is meant. */
export function retryAfterMs(reason: string): number | null {
  const text = /^retry_after_ms=(\d{1,9})$/.exec(reason)?.[1];
  return text === undefined ? null : Number(text);
}

/** Lower-case. */
const Uuid = Type.String({ pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" });
/** Base64 of 32 bytes. */
const Bytes32 = Type.String({ pattern: "^[A-Za-z0-9+/]{43}=$" });
/** ISO 8601 in UTC. */
const Instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$" });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Kid = Type.String({ minLength: 1, maxLength: 128 });
const short = (maxLength: number) => Type.String({ maxLength });

/** A public key of the service. */
export const ServiceKey = Type.Object({ kid: Kid, public_key: Bytes32 });
export type ServiceKey = Static<typeof ServiceKey>;

export const Challenge = Type.Object({ server_nonce: Bytes32, server_time: Instant });
export type Challenge = Static<typeof Challenge>;

/** What a daemon says of its machine and of what its policy can ever allow: its own word. */
export const Capabilities = Type.Object({
  os: short(64),
  arch: short(64),
  local_tools: Type.Array(short(128), { maxItems: 256 }),
  tools: Type.Optional(Type.Array(short(128), { maxItems: 256 })),
  mount_points: Type.Array(short(4096), { maxItems: 64 }),
  // Of keys only a pattern is checked, and what does not fit it is no label at all.
  labels: Type.Record(Type.String({ pattern: "^[^]{1,63}$" }), short(256), {
    maxProperties: 64,
    additionalProperties: false,
  }),
  cpu_cores: Type.Optional(Count),
  memory_mb: Type.Optional(Count),
});
export type Capabilities = Static<typeof Capabilities>;

export const ListedCommand = Type.Object({
  command_id: Uuid,
  state: Type.Union([Type.Literal("running"), Type.Literal("finished")]),
});
export type ListedCommand = Static<typeof ListedCommand>;

export const Hello = Type.Object({
  node_id: Uuid,
  public_key: Bytes32,
  client_nonce: Bytes32,
  journal_id: Uuid,
  /** Records that the journal has had on disk. */
  journal_seq: Count,
  /** New at each start of the daemon. */
  boot_id: Uuid,
  agent_version: short(64),
  /** Keys of the service that the daemon holds. */
  service_kids: Type.Array(Kid, { minItems: 1, maxItems: 64 }),
  slots: Type.Integer({ minimum: 1, maximum: frameLimits.maxSlots }),
  capabilities: Capabilities,
  commands: Type.Array(ListedCommand, { maxItems: frameLimits.maxListed }),
});
export type Hello = Static<typeof Hello>;

export const Welcome = Type.Object({
  epoch: Count,
  server_time: Instant,
  heartbeat_ms: Type.Integer({ minimum: 1 }),
  stale_ms: Type.Integer({ minimum: 1 }),
  output_window: Count,
  max_frame_bytes: Type.Integer({ minimum: 1 }),
  /** SemVer; null: every daemon is new enough. */
  min_version: Nullable(short(64)),
  service_keys: Type.Array(ServiceKey, { minItems: 1, maxItems: 64 }),
});
export type Welcome = Static<typeof Welcome>;

export const Revoked = Type.Object({ node_id: Uuid, revoked_at: Instant });
export type Revoked = Static<typeof Revoked>;

export const Heartbeat = Type.Object({ running: Count, accepting: Type.Boolean() });

/** `seq`: the highest number of the daemon's that is committed. `credit`: bytes of output given back. */
export const Ack = Type.Object({ seq: Count, credit: Type.Optional(Count) });
export type Ack = Static<typeof Ack>;

/** W3C trace context. */
export const Trace = Type.Object({ traceparent: short(64), tracestate: Type.Optional(short(512)) });
export type Trace = Static<typeof Trace>;

export const Invoke = Type.Object({
  command_id: Uuid,
  fleet_command_id: Uuid,
  /** Round of retries, from 1. */
  attempt: Type.Integer({ minimum: 1 }),
  tool: Type.String({ minLength: 1, maxLength: 256 }),
  args: JsonObject,
  security_context: Nullable(short(256)),
  requested_by: Type.Object({ sub: Text, tenant_id: Text }),
  /** Starts no later than this, by the service's clock. */
  not_after: Instant,
  timeout_ms: Type.Integer({ minimum: 1 }),
  max_output_bytes: Count,
  trace: Type.Optional(Trace),
});
export type Invoke = Static<typeof Invoke>;

export const Started = Type.Object({ command_id: Uuid, started_at: Instant });
export type Started = Static<typeof Started>;

const Stream = Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]);

/** `offset`: of its first byte in that stream. `data`: base64 of at most `maxProgressBytes`. */
export const Progress = Type.Object({
  command_id: Uuid,
  stream: Stream,
  offset: Count,
  data: Type.String({ maxLength: 4 * Math.ceil(frameLimits.maxProgressBytes / 3) }),
});
export type Progress = Static<typeof Progress>;

export const ResultStatus = Type.Union([
  Type.Literal("ok"),
  Type.Literal("err"),
  Type.Literal("timed_out"),
  Type.Literal("cancelled"),
  Type.Literal("refused"),
  Type.Literal("lost"),
]);
export type ResultStatus = Static<typeof ResultStatus>;

export const Result = Type.Object({
  command_id: Uuid,
  status: ResultStatus,
  exit_code: Nullable(Type.Integer()),
  duration_ms: Nullable(Count),
  /** Null: it never started. */
  started_at: Nullable(Instant),
  /** Text of the last bytes, at most so many as UTF-8; what was no UTF-8 is replaced. */
  stdout_tail: short(frameLimits.maxTailBytes),
  stderr_tail: short(frameLimits.maxTailBytes),
  stdout_bytes: Count,
  stderr_bytes: Count,
  truncated: Type.Boolean(),
  structured: AnyJson,
  /** Why it did not end well; the kinds are in docs/reference/edge-daemon.md. */
  error_kind: Nullable(short(64)),
  error_message: Nullable(short(4096)),
});
export type Result = Static<typeof Result>;

export const Cancel = Type.Object({ command_id: Uuid, reason: short(256), grace_ms: Count });
export type Cancel = Static<typeof Cancel>;

/** Bodies by type, of what the service sends. */
export const framesDown = {
  challenge: Challenge,
  welcome: Welcome,
  revoked: Revoked,
  ack: Ack,
  invoke: Invoke,
  cancel: Cancel,
} as const satisfies Record<string, TSchema>;

/** Bodies by type, of what a daemon sends. */
export const framesUp = {
  hello: Hello,
  heartbeat: Heartbeat,
  started: Started,
  progress: Progress,
  result: Result,
  capabilities: Capabilities,
} as const satisfies Record<string, TSchema>;

/** All other types are signed. */
export const unsignedTypes: ReadonlySet<string> = new Set(["challenge", "heartbeat", "progress"]);

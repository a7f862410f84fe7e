/** The wire shapes of tool servers. */
import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { serverName } from "../../../actors/tool-server/definition.ts";

const Transport = Type.Union([Type.Literal("stdio"), Type.Literal("streamable_http")]);
const Definitions = Type.Union([Type.Literal("pinned"), Type.Literal("follow")]);
const Status = Type.Union(
  (["stopped", "starting", "running", "unhealthy", "failed"] as const).map((word) => Type.Literal(word)),
);
const short = (most: number) => Type.String({ maxLength: most });

const Capability = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 96, description: "As the server lists it" }),
  skip_judge: Type.Optional(Type.Boolean({ default: false, description: "No tool judge is asked about its calls" })),
});

const fields = {
  enabled: Type.Optional(Type.Boolean()),
  transport: Type.Optional(Transport),
  executable: Type.Optional(Nullable(short(4_096))),
  args: Type.Optional(Type.Array(short(32_768), { maxItems: 256 })),
  environment: Type.Optional(Type.Record(Type.String({ maxLength: 128 }), short(32_768), { maxProperties: 256 })),
  egress: Type.Optional(
    Type.Array(short(512), {
      maxItems: 256,
      description: "Hosts that a program may reach, as allowlists of manifests",
    }),
  ),
  url: Type.Optional(Nullable(short(4_096))),
  credentials: Type.Optional(
    Type.Record(Type.String({ maxLength: 128 }), short(1_024), {
      maxProperties: 64,
      description: "By variable or header: `env:VARIABLE` (operators), `secret:<path>[#field]` or `credential:<id>`",
    }),
  ),
  capabilities: Type.Optional(
    Nullable(Type.Array(Capability, { maxItems: 500, description: "Other tools are hidden; null: none are" })),
  ),
  call_timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
  max_concurrent: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Calls at once on each node" })),
  definitions: Type.Optional(Definitions),
  health_check: Type.Optional(
    Type.Object({
      interval_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
      timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
    }),
  ),
  resource_limits: Type.Optional(
    Type.Object({
      cpu_millicores: Type.Optional(Type.Integer({ minimum: 10, maximum: 64_000 })),
      memory_mb: Type.Optional(Type.Integer({ minimum: 64, maximum: 65_536 })),
    }),
  ),
};

const example = {
  name: "tickets",
  transport: "streamable_http",
  url: "https://tickets.example/mcp",
  credentials: { Authorization: "secret:ops/tickets#header" },
  capabilities: [{ name: "search", skip_judge: true }, { name: "create" }],
  // To be looked at before it is used.
  enabled: false,
};

export const NewToolServer = Type.Object(
  {
    name: Type.String({ pattern: serverName }),
    tenant_id: Type.Optional(Nullable(Type.String({ maxLength: 63, description: "Null: all tenants (operators)" }))),
    ...fields,
  },
  { examples: [example] },
);
export type NewToolServer = Static<typeof NewToolServer>;

export const ToolServerChange = Type.Object(fields, { examples: [{ enabled: false }] });
export type ToolServerChange = Static<typeof ToolServerChange>;

const ToolServerInstance = Type.Object({
  node_id: Text,
  status: Status,
  pid: Nullable(Type.Integer()),
  restarts: Type.Integer(),
  last_error: Nullable(Text),
  started_at: Nullable(Time),
  last_health_at: Nullable(Time),
});

export const ToolServer = Type.Object({
  id: Text,
  name: Text,
  tenant_id: Nullable(Text),
  source: Type.Union([Type.Literal("api"), Type.Literal("file")]),
  enabled: Type.Boolean(),
  transport: Transport,
  executable: Nullable(Text),
  args: Type.Array(Text),
  environment: Type.Record(Type.String(), Text),
  egress: Type.Array(Text),
  url: Nullable(Text),
  credentials: Type.Record(Type.String(), Text),
  capabilities: Nullable(Type.Array(Type.Object({ name: Text, skip_judge: Type.Boolean() }))),
  call_timeout_seconds: Type.Integer(),
  max_concurrent: Type.Integer(),
  definitions: Definitions,
  health_check: Type.Object({ interval_seconds: Type.Integer(), timeout_seconds: Type.Integer() }),
  resource_limits: Type.Object({ cpu_millicores: Type.Integer(), memory_mb: Type.Integer() }),
  unenforced_limits: Type.Array(Text),
  status: Status,
  instances: Type.Array(ToolServerInstance),
  protocol_version: Nullable(Text),
  tools_count: Type.Integer(),
  withheld_tools: Type.Array(Text),
  version: Type.Integer(),
  created_at: Time,
  updated_at: Time,
});
export type ToolServer = Static<typeof ToolServer>;

const Annotations = Type.Object({
  readOnlyHint: Type.Boolean(),
  destructiveHint: Type.Boolean(),
  idempotentHint: Type.Boolean(),
  openWorldHint: Type.Boolean(),
});

const AcceptedTool = Type.Object(
  { description: Text, input_schema: JsonObject, output_schema: Nullable(JsonObject), annotations: Annotations },
  { description: "What a withheld tool was when it was accepted; null: it is new, or that is not known" },
);

export const ServerTool = Type.Object({
  name: Type.String({ description: "As calls, manifests and contexts name it: `<server>.<tool>`" }),
  description: Text,
  inputSchema: JsonObject,
  input_schema: JsonObject,
  outputSchema: Type.Optional(JsonObject),
  annotations: Annotations,
  withheld: Type.Boolean({ description: "It is new or changed since the list was accepted, and cannot be called" }),
  is_new: Type.Boolean({ description: "Withheld, and never accepted" }),
  accepted: Nullable(AcceptedTool),
  skip_judge: Type.Boolean(),
});
export type ServerTool = Static<typeof ServerTool>;

export const ServerLogLine = Type.Object({ at: Time, node_id: Text, line: Text });

export const LogQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: "The last lines; 1000 when absent" })),
});

export const Acceptance = Type.Object(
  {
    tools: Type.Optional(
      Type.Array(Type.String({ maxLength: 160 }), {
        maxItems: 500,
        description: "Names; absent: all that are withheld",
      }),
    ),
  },
  { examples: [{}] },
);

export const DeletedToolServer = Type.Object({ status: Type.Literal("deleted"), name: Text });

export const ServerName = Type.Object({ name: Type.String({ maxLength: 63, examples: ["tickets"] }) });

/** By the names that the API document gives them. */
export const named = {
  ToolServer,
  NewToolServer,
  ToolServerChange,
  ToolServerInstance,
  ServerTool,
  ServerLogLine,
  DeletedByName: DeletedToolServer,
};

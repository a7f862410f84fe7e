/** The wire shapes of workflow definitions (docs/reference/workflows.md). */

import { type Static, Type } from "@sinclair/typebox";
import { AnyJson, type Json } from "../../../../actors/kernel/json.ts";
import { Text } from "../../../../actors/kernel/schema.ts";
import { workflowSchema } from "../../../../actors/workflow/manifest/manifest.ts";
import { pagingQuery } from "../../../http/paging.ts";

const Names = Type.Record(Text, Text);

export const Scope = Type.Union([Type.Literal("tenant"), Type.Literal("global")]);
export type Scope = Static<typeof Scope>;

export const Finding = Type.Object({ path: Text, code: Text, message: Text });
export type Finding = Static<typeof Finding>;

export const RegisterQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: "Replace this version if it is there already" })),
  scope: Type.Optional(Scope),
});

export const Registered = Type.Object({
  id: Text,
  workflow_id: Text,
  name: Text,
  version: Text,
  scope: Scope,
  status: Type.Literal("registered"),
  registered_at: Text,
  created_at: Text,
  tenant_id: Text,
  warnings: Type.Array(Finding),
});
export type Registered = Static<typeof Registered>;

export const Judgement = Type.Object({
  valid: Type.Boolean(),
  issues: Type.Array(Finding),
  warnings: Type.Array(Finding),
});
export type Judgement = Static<typeof Judgement>;

const row = {
  id: Text,
  workflow_id: Text,
  name: Text,
  version: Text,
  description: Text,
  scope: Scope,
  status: Type.Literal("active"),
  labels: Names,
  annotations: Names,
  tags: Type.Array(Text),
  tenant_id: Text,
  execution_count: Type.Integer(),
  versions_count: Type.Integer(),
  created_at: Text,
  updated_at: Text,
  registered_at: Text,
  input_schema: AnyJson,
};
/** As lists show it. */
export const WorkflowElement = Type.Object(row);
export type WorkflowElement = Static<typeof WorkflowElement>;

const detail = { ...row, manifest_yaml: Text, metadata: AnyJson };
export const WorkflowDetail = Type.Object(detail);
export type WorkflowDetail = Static<typeof WorkflowDetail>;

export const WorkflowFilter = Type.Object({
  scope: Type.Optional(Scope),
  visible: Type.Optional(Type.Boolean({ description: "The tenant's own and the global ones" })),
  label: Type.Optional(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 16, description: "k=v" })),
  tag: Type.Optional(Type.String({ maxLength: 1024 })),
  q: Type.Optional(Type.String({ maxLength: 256, description: "A part of the name or the description" })),
  all_versions: Type.Optional(Type.Boolean()),
  ...pagingQuery,
});
export type WorkflowFilter = Static<typeof WorkflowFilter>;

export const VersionElement = Type.Object({
  id: Text,
  workflow_id: Text,
  name: Text,
  version: Text,
  description: Text,
  scope: Scope,
  tenant_id: Text,
  created_at: Text,
  registered_at: Text,
  is_latest: Type.Boolean(),
  manifest_sha256: Text,
});
export type VersionElement = Static<typeof VersionElement>;

/** Of two manifests; see `differenceOf`. */
export const VersionsDiff = Type.Object({
  /** Paths that the second version alone has, and those that the first one alone has. */
  added: Type.Array(Text),
  removed: Type.Array(Text),
  changed: Type.Array(Type.Object({ path: Text, from: AnyJson, to: AnyJson })),
});

const Version = Type.Optional(Type.String({ maxLength: 64 }));
export const VersionQuery = Type.Object({ version: Version });
export const DeleteQuery = Type.Object({ version: Version, force: Type.Optional(Type.Boolean()) });
export const Deleted = Type.Object({
  status: Type.Literal("deleted"),
  success: Type.Literal(true),
  name: Text,
  deleted_versions: Type.Array(Text),
});
export type Deleted = Static<typeof Deleted>;

export const ScopeRequest = Type.Object(
  { scope: Type.Optional(Scope), target_scope: Type.Optional(Scope) },
  { examples: [{ scope: "global" }] },
);
export const ScopeChanged = Type.Object({
  ...detail,
  previous_scope: Scope,
  new_scope: Scope,
  changed: Type.Boolean(),
  success: Type.Literal(true),
});
export type ScopeChanged = Static<typeof ScopeChanged>;

/** What the API document says of a manifest's body: any of its forms. */
export const ManifestBody = Type.Unsafe<Json>({
  anyOf: [
    { "x-ref": "WorkflowManifest" },
    { type: "object", required: ["manifest"], properties: { manifest: { "x-ref": "WorkflowManifest" } } },
    { type: "object", required: ["manifest_yaml"], properties: { manifest_yaml: { type: "string" } } },
  ],
  examples: [
    {
      apiVersion: "svc.dev/v1",
      kind: "Workflow",
      metadata: { name: "count-bytes", version: "1.0.0" },
      spec: {
        initial_state: "COUNT",
        states: { COUNT: { kind: "System", command: "wc -c < report.txt", transitions: [] } },
      },
    },
    {
      apiVersion: "svc.dev/v1",
      kind: "Workflow",
      metadata: {
        name: "hand-over-orders",
        version: "1.0.0",
        input_schema: { type: "object", properties: { orders: { type: "array", maxItems: 500, default: [] } } },
      },
      spec: {
        initial_state: "RESERVE",
        compensate_on: ["failed", "cancelled"],
        schedules: [{ name: "nightly", cron: "30 2 * * *", timezone: "Europe/Berlin" }],
        states: {
          RESERVE: {
            kind: "Map",
            items: "{{input.orders}}",
            as: "order",
            tolerate: "5%",
            state: { kind: "Http", url: "https://stock.example/reserve/{{order.id}}", method: "POST" },
            retry: { attempts: 3, delay: "2s" },
            compensate: "RELEASE",
            transitions: [{ condition: "on_success", target: "READY" }],
          },
          READY: {
            kind: "Branch",
            join: "any",
            branches: [
              {
                name: "told",
                initial_state: "SIGNAL",
                states: { SIGNAL: { kind: "Wait", signal: "ready", transitions: [] } },
              },
              {
                name: "late",
                initial_state: "TIME",
                states: { TIME: { kind: "Wait", seconds: 3600, transitions: [] } },
              },
            ],
            transitions: [{ target: "PRINT" }],
          },
          PRINT: {
            kind: "Fleet",
            target: { group: "printers" },
            command: ["print-labels", "{{RESERVE.succeeded}}"],
            transitions: [{ condition: "on_success", target: "TELL" }],
          },
          TELL: { kind: "Tool", tool: "web.fetch", arguments: { url: "https://orders.example/done" }, transitions: [] },
          RELEASE: {
            kind: "Http",
            url: "https://stock.example/release",
            method: "POST",
            body: { reserved: "{{state.of.result.succeeded}}" },
            transitions: [],
          },
        },
      },
    },
  ],
});

/** By the names that the API document gives them. */
export const named = {
  WorkflowManifest: workflowSchema,
  Workflow: WorkflowElement,
  WorkflowDetail,
  WorkflowRegistered: Registered,
  WorkflowJudgement: Judgement,
  WorkflowVersion: VersionElement,
  WorkflowVersionsDiff: VersionsDiff,
  WorkflowDeleted: Deleted,
  WorkflowScopeChanged: ScopeChanged,
};

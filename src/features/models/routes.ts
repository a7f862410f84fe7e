/** The operators' route of models. */
import { type Static, Type } from "@sinclair/typebox";
import { invalid, Problem } from "../../../actors/kernel/problem.ts";
import { Nullable, Text } from "../../../actors/kernel/schema.ts";
import { ModelError, type NodeModels } from "../../adapters/models/port.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../audit/port.ts";
import type { openReloading } from "./service.ts";

/** The whole test, retries included, ms. */
const testMs = 20_000;
const shownAnswer = 200;

const TestBody = Type.Object({
  alias: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, default: "default", description: "which model, as agents name it" }),
  ),
});
const TestReply = Type.Object({
  alias: Text,
  ok: Type.Boolean(),
  provider: Nullable(Text),
  model: Nullable(Text),
  elapsed_ms: Type.Integer(),
  answer: Nullable(Type.String({ description: "the first 200 characters of what the model said" })),
  error: Nullable(Type.Object({ class: Text, message: Text })),
});
type TestReply = Static<typeof TestReply>;

export interface ModelRoutesOptions {
  readonly reloading: Pick<ReturnType<typeof openReloading>, "reload">;
  readonly models: Pick<NodeModels, "generate">;
  readonly sql: Sql;
  readonly audit: Audit;
}

const ReloadReply = Type.Object({
  status: Type.Literal("reloaded"),
  served: Type.Array(Type.Object({ alias: Text, provider: Text, model: Text })),
  count: Type.Integer(),
  other_nodes_told: Type.Boolean({
    description: "False when the other nodes could not be told: they keep what they have until they are asked again",
  }),
});

export function modelRoutes({ reloading, models, sql, audit }: ModelRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/admin/llm/reload",
      summary: "Reads llm_providers and llm_selection of the configuration file again, on every node",
      tag: "models",
      operatorsOnly: true,
      refusals: ["operator_required", "validation_failed"],
      responses: { 200: ReloadReply },
      async handler(call) {
        if (call.identity.role !== "admin") {
          throw new Problem("operator_required", "Only operators with the role admin may do this");
        }
        const outcome = await reloading.reload();
        if (!outcome.ok) {
          const [first] = outcome.issues;
          const place = first === undefined || first.path === "" ? "" : `${first.path}: `;
          const message = `The models stay as they are: ${place}${first?.message ?? "the configuration is not valid"}`;
          throw invalid("validation_failed", message, outcome.issues);
        }
        const { served, othersTold } = outcome;
        await sql.begin((tx) =>
          audit.append(tx, auditedBy(call), {
            tenant: call.tenant,
            action: "models.reloaded",
            target: { type: "configuration", id: "llm_providers" },
            details: { aliases: served.length },
          }),
        );
        return { status: "reloaded", served, count: served.length, other_nodes_told: othersTold } as const;
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/admin/llm/test",
      summary: "Asks a model one short question, within 20 s: whether it is there, and what it says",
      tag: "models",
      operatorsOnly: "operator",
      body: jsonBody(TestBody, { optional: true }),
      responses: { 200: TestReply },
      handler: (call) => tested(models, call.body.alias ?? "default", call.signal),
    }),
  ];
}

/** What fails at the provider is an answer: it is what was asked. */
async function tested(models: Pick<NodeModels, "generate">, alias: string, signal: AbortSignal): Promise<TestReply> {
  const began = performance.now();
  const shared = { alias, provider: null, model: null, answer: null, error: null };
  const elapsed = () => Math.round(performance.now() - began);
  try {
    const { provider, model, content } = await models.generate({
      alias,
      messages: [{ role: "user", content: "Answer with the single word: ready" }],
      tools: [],
      budgetMs: testMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(testMs)]),
      agentName: "connection-test",
      iteration: 1,
    });
    return { ...shared, ok: true, provider, model, elapsed_ms: elapsed(), answer: content.slice(0, shownAnswer) };
  } catch (error) {
    if (error instanceof ModelError) {
      const { provider, model } = error.facts;
      const fault = { class: error.errorClass, message: error.message };
      return {
        ...shared,
        ok: false,
        provider: provider || null,
        model: model || null,
        elapsed_ms: elapsed(),
        error: fault,
      };
    }
    if (signal.aborted || !(error instanceof DOMException)) throw error;
    const late = { class: "timeout", message: `No answer came within ${testMs / 1000} s` };
    return { ...shared, ok: false, elapsed_ms: elapsed(), error: late };
  }
}

/** The tools `execute.intent` and `execute.status`: what is wanted becomes a program, which runs in a sandbox. */
import { Type } from "@sinclair/typebox";
import { AnyJson, isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { RunRecord } from "../../../../../actors/workflow/run/record/record.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../../../management-tools/port.ts";
import { ToolFailure } from "../../../tools/port.ts";
import { isPipeline, languages, pipelineOf, type RuntimeImage, running, writing } from "../intents/pipeline.ts";
import { readStart } from "../request.ts";
import type { Runs } from "../service.ts";
import { initiatedBy } from "./run-tools.ts";

export interface IntentToolOptions {
  readonly runs: Pick<Runs, "startAs" | "record">;
  /** Of this node. */
  readonly runtimes: readonly RuntimeImage[];
  /** Under which clients reach the service. */
  readonly publicUrl: string;
}

/** Bytes of their JSON; programs get them in a variable of their environment, which can hold a little more. */
const maxInputsBytes = 96 * 1024;

export function intentTools({ runs, runtimes, publicUrl }: IntentToolOptions): readonly ManagementTool[] {
  const streamOf = (executionId: string) => `${publicUrl}/v1/workflows/executions/${executionId}/logs/stream`;
  return [
    defineTool({
      name: "svc.execute.intent",
      effect: "repeatable",
      description:
        "Have a program written that does what is wanted, and run it in a sandbox without network; it gets the inputs, " +
        "and what it prints is the result. Follow it with execute.status or execute.wait",
      scope: "workflow:run",
      arguments: Type.Object({
        intent: Type.String({ minLength: 1, maxLength: 16_384, description: "What is wanted" }),
        inputs: Type.Optional(AnyJson),
        language: Type.Union(
          languages.map((language) => Type.Literal(language)),
          { default: "python" },
        ),
        timeout_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 300, description: "Of the program" }),
      }),
      call: async (caller, { intent, inputs = {}, language, timeout_seconds }) => {
        requireSmall(inputs);
        const ofService = pipelineOf(language, timeout_seconds, runtimes);
        const { ceilings, workId } = caller;
        const request = readStart(caller, ofService.name, { input: inputs, intent }, {});
        const started = await runs.startAs(workId, false, {
          ...request,
          ofService,
          ceilings,
          initiatedBy: initiatedBy(caller),
        });
        const { execution_id, status, started_at } = started;
        return {
          pipeline_execution_id: execution_id,
          execution_id,
          status,
          language,
          started_at,
          stream_url: streamOf(execution_id),
        };
      },
    }),
    defineTool({
      name: "svc.execute.status",
      effect: "reads",
      description: "How far the pipeline of an intent is: its program, and what the program printed",
      scope: "workflow:read",
      arguments: Type.Object({ pipeline_execution_id: Type.String({ format: "uuid" }) }),
      call: async (caller, { pipeline_execution_id }) => {
        const record = await recordOf(runs, caller, pipeline_execution_id.toLowerCase());
        return { ...shown(record), stream_url: streamOf(record.execution_id) };
      },
    }),
  ];
}

/** @throws ToolFailure `invalid_arguments` */
function requireSmall(inputs: Json): void {
  if (Buffer.byteLength(JSON.stringify(inputs)) <= maxInputsBytes) return;
  const message = `may have at most ${maxInputsBytes} bytes as JSON`;
  const issues = [{ path: "inputs", message, code: "invalid" }];
  throw new ToolFailure("invalid_arguments", "The arguments do not fit the tool", { issues });
}

/** @throws ToolFailure `not_found` for what is no pipeline of the tenant's */
async function recordOf(runs: IntentToolOptions["runs"], { tenant }: ToolCaller, id: string): Promise<RunRecord> {
  const notFound = () => new ToolFailure("not_found", "There is no such pipeline");
  try {
    const record = await runs.record(tenant, id);
    if (isPipeline(record.workflow_id)) return record;
  } catch (error) {
    if (error instanceof Problem && error.code === "workflow_execution_not_found") throw notFound();
    throw error;
  }
  throw notFound();
}

const stages: Readonly<Record<string, string>> = { [writing]: "writing", [running]: "running" };

function shown(record: RunRecord) {
  const { execution_id, status, current_state, state_visits, state_outputs, final_output } = record;
  const written = membersOf(state_outputs[writing]);
  const ran = membersOf(state_outputs[running]);
  const { exit_code, stdout, stderr, duration_ms, timed_out, truncated } = ran;
  return {
    pipeline_execution_id: execution_id,
    execution_id,
    status,
    /** Null once it is over. */
    stage: record.ended_at === null ? (stages[current_state ?? ""] ?? null) : null,
    attempts: state_visits[writing] ?? 0,
    program: textOf(written.output ?? null),
    result: exit_code === undefined ? null : { exit_code, stdout, stderr, duration_ms, timed_out, truncated },
    final_output,
    error: record.error,
    error_code: record.error_code,
    started_at: record.started_at,
    ended_at: record.ended_at,
  };
}

const membersOf = (result: Json | undefined): { readonly [member: string]: Json | undefined } =>
  isObject(result) ? result : {};

/** As it was written into its file. */
const textOf = (output: Json): string | null =>
  output === null || typeof output === "string" ? output : JSON.stringify(output);

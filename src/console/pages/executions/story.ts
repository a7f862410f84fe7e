/**
 * What happened in an execution, told by its events: iterations and, within them, calls of the model, of tools, judges,
 * child executions. Each is a span of time; a reader adds events one by one, in their order, each once.
 */

import {
  type ConsolePart,
  errorIn,
  type Fields,
  moment,
  number,
  type Span,
  type SpanKind,
  type Turn,
  text,
  textOrNull,
} from "./span.ts";

export class Story {
  readonly spans: Span[] = [];
  readonly console: ConsolePart[] = [];
  readonly turns: Turn[] = [];
  /** When the latest event was. */
  latest = 0;
  count = 0;
  isOver = false;
  private iteration: Span | null = null;
  /** Since when the model may be thinking: what came before it has ended. */
  private thinkingSince = 0;
  private readonly calls = new Map<string, Span>();
  private readonly children = new Map<string, Span>();
  private sandbox: Span | null = null;
  private pull: Span | null = null;
  private handler: Span | null = null;
  private last = 0;

  /** @param event an object with one member, the event's name; @param id grows with each: an earlier one is left out */
  add(event: unknown, id: string): void {
    const order = Number(id);
    if (order > 0 && order <= this.last) return;
    this.last = Math.max(this.last, order);
    if (typeof event !== "object" || event === null) return;
    const [name, fields] = Object.entries(event)[0] ?? ["", null];
    if (typeof fields !== "object" || fields === null) return;
    this.count += 1;
    this.apply(name, fields as Fields, id);
  }

  /** What it does at this moment; null: nothing that is known. */
  now(): Span | null {
    if (this.isOver) return null;
    return this.spans.findLast((span) => span.end === null && span.kind !== "sandbox") ?? null;
  }

  private apply(name: string, fields: Fields, id: string): void {
    switch (name) {
      case "execution_started":
        this.see(moment(fields.started_at));
        return;
      case "iteration_started": {
        const at = this.see(moment(fields.started_at));
        this.iteration = this.open("iteration", `Iteration ${number(fields.iteration_number)}`, at, id, 0, {
          iteration: number(fields.iteration_number),
          input: text(fields.action),
        });
        this.thinkingSince = at;
        return;
      }
      case "iteration_restarted":
        if (this.iteration !== null) {
          this.iteration.facts = [
            ...this.iteration.facts,
            ["Restarted", `attempt ${number(fields.attempt)}: ${text(fields.reason)}`],
          ];
        }
        this.note("Restarted", moment(fields.restarted_at), id, text(fields.reason), "paused");
        this.thinkingSince = this.latest;
        return;
      case "iteration_completed":
        if (this.iteration !== null) this.iteration.output = text(fields.output);
        this.thinkingSince = this.see(moment(fields.completed_at));
        return;
      case "iteration_rejected":
        if (this.iteration !== null)
          this.iteration.error = `${text(fields.validator)} rejected the output (score ${number(fields.score)})${
            textOrNull(fields.feedback) === null ? "" : `: ${text(fields.feedback)}`
          }`;
        this.closeIteration("rejected", moment(fields.rejected_at));
        return;
      case "iteration_failed": {
        const { code, message } = (fields.error ?? {}) as Fields;
        if (this.iteration !== null) this.iteration.error = `${text(code)}: ${text(message)}`;
        this.closeIteration("failed", moment(fields.failed_at));
        return;
      }
      default:
        this.applyCalls(name, fields, id);
    }
  }

  /** What is called: sandboxes, images, models, children. */
  private applyCalls(name: string, fields: Fields, id: string): void {
    switch (name) {
      case "instance_spawned":
        this.sandbox = this.open("sandbox", "Sandbox", this.see(moment(fields.spawned_at)), id, 1, {
          facts: [["Instance", text(fields.instance_id)]],
        });
        this.thinkingSince = this.latest;
        return;
      case "instance_terminated": {
        const code = fields.exit_code;
        if (this.sandbox !== null) {
          this.close(this.sandbox, code === 0 || code === null ? "completed" : "failed", moment(fields.terminated_at));
          if (typeof code === "number") this.sandbox.facts = [...this.sandbox.facts, ["Exit code", String(code)]];
          this.sandbox = null;
        }
        return;
      }
      case "image_pull_started":
        this.pull = this.open("sandbox", `Image ${text(fields.image)}`, this.see(moment(fields.timestamp)), id, 0);
        return;
      case "image_pull_completed":
      case "image_pull_failed":
        if (this.pull === null) return;
        this.pull.error = textOrNull(fields.error);
        this.close(this.pull, name === "image_pull_completed" ? "completed" : "failed", moment(fields.timestamp));
        this.pull = null;
        return;
      case "llm_interaction":
        this.model(fields, id);
        return;
      case "llm_call_failed": {
        const at = this.see(moment(fields.timestamp));
        const start = Math.max(this.thinkingSince, at - number(fields.elapsed_ms));
        const span = this.open("model", text(fields.model), start, id, 1, {
          iteration: number(fields.iteration_number),
        });
        span.error = `${text(fields.error_class)}: ${text(fields.message)}`;
        span.facts = [
          ["Provider", text(fields.provider)],
          ["Attempts", String(number(fields.attempts))],
        ];
        this.close(span, "failed", at);
        this.thinkingSince = at;
        return;
      }
      case "console_output":
        this.console.push({
          iteration: number(fields.iteration_number),
          stream: fields.stream === "stderr" ? "stderr" : "stdout",
          content: text(fields.content),
          at: this.see(moment(fields.timestamp)),
          callId: textOrNull(fields.call_id),
          isCut: fields.truncated === true,
        });
        return;
      case "child_execution_spawned": {
        const childId = text(fields.child_execution_id);
        const span = this.open("child", "Child execution", this.see(moment(fields.spawned_at)), id, 1, { childId });
        this.children.set(childId, span);
        return;
      }
      case "child_execution_completed": {
        const span = this.children.get(text(fields.child_execution_id));
        if (span !== undefined) this.close(span, text(fields.outcome), moment(fields.completed_at));
        return;
      }
      default:
        this.applyRest(name, fields, id);
    }
  }

  /** Judges, handlers, notes and the end. */
  private applyRest(name: string, fields: Fields, id: string): void {
    switch (name) {
      case "gradient_validation_performed": {
        const at = this.see(moment(fields.validated_at));
        const score = number(fields.score);
        const span = this.open(
          "judge",
          `Judge ${text(fields.validator)}`,
          Math.min(this.thinkingSince || at, at),
          id,
          1,
          {
            iteration: number(fields.iteration_number),
            output: { score, confidence: number(fields.confidence) },
            facts: [
              ["Score", String(score)],
              ["Confidence", String(number(fields.confidence))],
            ],
          },
        );
        this.close(span, "completed", at);
        this.thinkingSince = at;
        return;
      }
      case "multi_judge_consensus":
        this.note("Consensus of the judges", moment(fields.reached_at), id, fields, "completed");
        return;
      case "refinement_applied":
        this.note("Feedback for the next iteration", moment(fields.applied_at), id, text(fields.feedback), "completed");
        return;
      case "output_handler_started":
        this.closeIteration("completed", moment(fields.timestamp));
        this.handler = this.open("handler", `Output handler: ${text(fields.handler_type)}`, this.latest, id, 0);
        return;
      case "output_handler_completed":
      case "output_handler_failed":
        if (this.handler === null) return;
        this.handler.output = fields.result;
        this.handler.error = textOrNull(fields.error);
        this.close(
          this.handler,
          name === "output_handler_completed" ? "completed" : "failed",
          moment(fields.timestamp),
        );
        return;
      case "policy_violation":
        this.note(`Refused: ${text(fields.tool_name)}`, moment(fields.blocked_at), id, fields, "rejected");
        return;
      case "egress_blocked":
        this.note(
          `Connection refused: ${text(fields.host)}:${number(fields.port)}`,
          moment(fields.blocked_at),
          id,
          text(fields.reason),
          "rejected",
        );
        return;
      case "execution_warning":
        this.note(`Warning: ${text(fields.code)}`, moment(fields.at), id, text(fields.message), "paused");
        return;
      case "rate_limit_warning":
        this.note(
          `A rate is nearly used up: ${text(fields.resource_type)}`,
          moment(fields.timestamp),
          id,
          fields,
          "paused",
        );
        return;
      case "execution_completed":
        this.finish("completed", moment(fields.completed_at));
        return;
      case "execution_failed":
        this.finish("failed", moment(fields.failed_at));
        return;
      case "execution_cancelled":
        this.finish("cancelled", moment(fields.cancelled_at));
        return;
      case "execution_timed_out":
        this.finish("timed_out", moment(fields.timed_out_at));
        return;
      default:
        if (name.startsWith("tool_call_")) this.tool(name, fields, id);
    }
  }

  private model(fields: Fields, id: string): void {
    const at = this.see(moment(fields.timestamp));
    const tokens = { input: number(fields.input_tokens), output: number(fields.output_tokens) };
    const iteration = number(fields.iteration_number);
    const span = this.open("model", text(fields.model), Math.min(this.thinkingSince || at, at), id, 1, {
      iteration,
      facts: [["Provider", text(fields.provider)]],
    });
    span.tokens = tokens;
    span.input = fields.prompt ?? undefined;
    span.output = fields.response ?? undefined;
    this.close(span, "completed", at);
    this.thinkingSince = at;
    this.turns.push({
      id: span.id,
      iteration,
      model: span.name,
      at,
      prompt: textOrNull(fields.prompt),
      response: textOrNull(fields.response),
      tokens,
      calls: [],
    });
  }

  private tool(name: string, fields: Fields, id: string): void {
    const at = this.see(moment(fields.started_at ?? fields.completed_at ?? fields.at));
    const span = this.callOf(name, fields, id, at);
    if (fields.arguments !== undefined) span.input = fields.arguments;
    if (name === "tool_call_waiting") {
      span.status = "waiting";
      span.approvalId = textOrNull(fields.approval_id);
      span.waits.push({ from: at, to: null });
      return;
    }
    const wait = span.waits.at(-1);
    if (wait !== undefined) wait.to ??= at;
    if (name === "tool_call_approved" || name === "tool_call_started") {
      span.status = "running";
    } else if (name === "tool_call_rejected" || name === "tool_call_withdrawn") {
      span.error ??= textOrNull(fields.code) ?? (name === "tool_call_rejected" ? "rejected" : "withdrawn");
      this.close(span, name === "tool_call_rejected" ? "rejected" : "cancelled", at);
    } else this.answered(span, fields, at);
    if (span.end !== null) this.thinkingSince = at;
  }

  /** The call that an event tells of; one that ended may be told to begin again. */
  private callOf(name: string, fields: Fields, id: string, at: number): Span {
    const callId = text(fields.call_id);
    const known = this.calls.get(callId);
    const isEnd = name === "tool_call_completed";
    if (known !== undefined && (known.end === null || isEnd)) return known;
    const start = isEnd ? at - number(fields.duration_ms) : at;
    const span = this.open("tool", text(fields.tool_name), start, id, 1, {
      iteration: number(fields.iteration_number),
    });
    this.calls.set(callId, span);
    this.turns.at(-1)?.calls.push(span);
    return span;
  }

  private answered(span: Span, fields: Fields, at: number): void {
    if (fields.result !== undefined) span.output = fields.result;
    const code = fields.exit_code;
    if (typeof code === "number") span.facts = [["Exit code", String(code)]];
    this.close(span, text(fields.status), at);
    if (span.status !== "succeeded") span.error ??= errorIn(fields.result) ?? span.status.replaceAll("_", " ");
  }

  private open(
    kind: SpanKind,
    name: string,
    start: number,
    id: string,
    depth: number,
    more: Partial<Pick<Span, "iteration" | "input" | "output" | "facts" | "childId">> = {},
  ): Span {
    const span: Span = {
      id: `${kind}-${id}`,
      kind,
      name,
      start,
      end: null,
      status: "running",
      iteration: more.iteration ?? this.iteration?.iteration ?? null,
      depth,
      tokens: null,
      error: null,
      facts: more.facts ?? [],
      childId: more.childId ?? null,
      approvalId: null,
      waits: [],
      ...("input" in more ? { input: more.input } : {}),
      ...("output" in more ? { output: more.output } : {}),
    };
    this.spans.push(span);
    return span;
  }

  private note(name: string, at: number, id: string, output: unknown, status: string): void {
    const span = this.open("note", name, this.see(at), id, 1, { output });
    this.close(span, status, at);
  }

  private close(span: Span, status: string, at: number): void {
    if (span.end !== null) return;
    span.end = Math.max(span.start, this.see(at));
    span.status = status;
    for (const wait of span.waits) wait.to ??= span.end;
  }

  private closeIteration(status: string, at: number): void {
    if (this.iteration !== null) this.close(this.iteration, status, at);
    this.thinkingSince = this.see(at);
  }

  private finish(status: string, at: number): void {
    this.isOver = true;
    for (const span of this.spans)
      if (span.end === null) this.close(span, span === this.iteration ? status : "cancelled", at);
    this.see(at);
  }

  private see(at: number): number {
    if (at > this.latest) this.latest = at;
    return at;
  }
}

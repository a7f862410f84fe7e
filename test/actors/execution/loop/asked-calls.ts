/** Stories in which people are asked about tool calls. */
import type { ApprovalDecided, Open } from "../../../../actors/approval/messages.ts";
import type { CallArguments } from "../../../../actors/approval/tool-call.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { AskedApproval, ClearedCall } from "../../../../actors/policy/security/clearance.ts";
import { toolApprovalOf, type WrittenToolApproval } from "../../../../actors/policy/security/spec.ts";
import { builtinTools, findTool } from "../../../../actors/tool/catalog.ts";
import { Story } from "../scenario.ts";
import { bounds } from "./fixture.ts";

export const minute = 60_000;

export const fromContext = (written: WrittenToolApproval = {}, index = 0): AskedApproval => ({
  from: { context: "build", capability_index: index },
  approval: toolApprovalOf(written),
});
export const fromManifest = (written: WrittenToolApproval = {}): AskedApproval => ({
  from: "manifest",
  approval: toolApprovalOf(written),
});

/** What policy says of a call that is cleared. */
export function cleared(tool: string, approvals: readonly AskedApproval[] = []): ClearedCall {
  const entry = findTool(builtinTools, tool);
  if (entry === undefined) throw new Error(`no tool ${tool}`);
  return {
    is: "cleared",
    invocation_id: crypto.randomUUID(),
    tool,
    context: "build",
    context_version: 1,
    capability_index: 0,
    entry,
    approvals: [...approvals],
    max_timeout_secs: 3600,
    max_response_size: 10_485_760,
  };
}

interface Asked {
  readonly tool: string;
  readonly arguments?: { readonly [name: string]: Json };
  readonly approvals?: readonly AskedApproval[];
}

export class AskedStory extends Story {
  asked = "";

  constructor(header = {}) {
    super({ header: { bounds: { ...bounds, tool_wait_max_ms: 7 * 24 * 60 * minute }, ...header } });
    this.start().launch();
    this.asked = this.generate();
  }

  /** The model calls these tools, and says why. */
  calls(...calls: readonly Asked[]): this {
    return this.modelSays({
      content: "It has to be done.",
      calls: calls.map(({ tool, arguments: given = {} }) => ({ name: tool, arguments: given })),
      clearances: calls.map(({ tool, approvals = [] }) => cleared(tool, approvals)),
    });
  }

  /** What people are to be shown is read, for all calls that wait for that. */
  gather(given: { readonly [name: string]: Json } = { command: "make" }, full: Json = null): this {
    return this.found(given, { full });
  }

  /** The same of changed arguments, which concern these. */
  gatherEdited(given: { readonly [name: string]: Json }, approvals: readonly AskedApproval[]): this {
    return this.found(given, { full: null, judged: { status: "cleared", approvals: [...approvals] } });
  }

  /** The same of changed arguments that policy refuses after all. */
  refuseEdited(given: { readonly [name: string]: Json }, judged: Json): this {
    return this.found(given, { full: null, judged });
  }

  private found(given: { readonly [name: string]: Json }, more: { readonly [member: string]: Json }): this {
    for (let [next] = this.sim.underWay("call.gather"); next !== undefined; [next] = this.sim.underWay("call.gather")) {
      const found = { given, redacted: given, sha256: JSON.stringify(given) };
      const rest = { model_reason: "It has to be done.", mails: false, initiator_email: "ida@example.com" };
      this.sim.succeed(next.id, { arguments: found, ...rest, ...more });
    }
    return this;
  }

  /** Approvals that were opened, in order. */
  get opened(): { readonly id: string; readonly body: Open & { readonly arguments: CallArguments } }[] {
    return this.toldTo("open").map(({ key, message }) => ({ id: key, body: message.body as never }));
  }
  /** What approvals were told. */
  toldTo(type: string) {
    return this.sim.coCommitted.filter(({ kind, message }) => kind === "approval" && message.type === type);
  }
  get withdrawn(): string[] {
    return this.toldTo("withdraw").map(({ key }) => key);
  }
  get executed(): [string, boolean][] {
    return this.toldTo("executed").map(({ key, message }) => [key, (message.body as { executed: boolean }).executed]);
  }

  /** People decide about the approval at a place. */
  decide(place: number, decision: Partial<ApprovalDecided> = {}): this {
    const status = decision.status ?? "approved";
    this.sim.tell("approval_decided", {
      approval_id: this.opened[place]?.id ?? "",
      status,
      via: status === "timed_out" ? "timeout" : "approve",
      decided_at: new Date(this.sim.now).toISOString(),
      result: {},
      ...(status === "approved" ? { remember: "none" } : { reason: null }),
      ...decision,
    } as Json);
    return this;
  }

  /** Today's policy lets a command pass that people have approved. */
  clear(): this {
    const [next] = this.sim.underWay("call.clear");
    this.sim.succeed(next?.id ?? "", { status: "cleared", max_timeout_secs: null });
    return this;
  }

  /** The last tool message. */
  get told(): { readonly [member: string]: Json } {
    return JSON.parse(this.conversation().at(-1)?.content ?? "null");
  }
}

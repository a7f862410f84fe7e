/** `approvals approve`, `reject`, `link`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import type { Context } from "../../frame/context.ts";
import { jsonOrText, textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { usageFailure } from "../../process/exit.ts";
import { aboutApproval, approvalId } from "./find.ts";

const memories = ["none", "execution", "tool"] as const;

export function addDecisions(approvals: Command): void {
  addVerb(approvals, {
    words: "approve <approval>",
    summary: "Say yes",
    about: aboutApproval,
    options: {
      "-m, --feedback <text>": "what the workflow or the agent is told",
      "--arguments <json>": "the tool is called with these instead; @FILE reads a file",
      "--remember <what>": {
        meaning: "do not ask again in this execution: for equal arguments, or for this tool with any",
        choices: memories,
      },
    },
    examples: [
      ["svc approvals approve 0190a1b2-… -m 'go ahead'", "Approve with a word to it"],
      ["svc approvals approve last", "Approve what was asked last"],
      ["svc approvals approve 0190a1b2-… --arguments @call.json", "Change what the tool is called with"],
    ],
    async run(context, [word], options) {
      const service = await context.client();
      const { feedback } = options;
      const changed = await argumentsOf(context, options.arguments);
      const body = given({ feedback, arguments: changed, remember: oneOf(memories, options.remember) });
      const params = { path: { id: await approvalId(service, word) }, header: once() };
      await told(context, await answer(service.POST("/v1/human-approvals/{id}/approve", { params, body })));
    },
  });
  addVerb(approvals, {
    words: "reject <approval> [reason]",
    summary: "Say no",
    about: { ...aboutApproval, reason: "why; the workflow or the agent is told" },
    examples: [["svc approvals reject 0190a1b2-… 'not on a Friday'", "Reject with the reason"]],
    async run(context, [word, reason]) {
      const service = await context.client();
      const why = reason ?? (context.io.isInteractive ? await context.io.ask("Why? ") : null);
      if (why === null || why.trim() === "") throw usageFailure("A rejection needs a reason behind the id");
      const params = { path: { id: await approvalId(service, word) }, header: once() };
      const body = { reason: why };
      await told(context, await answer(service.POST("/v1/human-approvals/{id}/reject", { params, body })));
    },
  });
  addVerb(approvals, {
    words: "link <approval> <recipient>",
    summary: "Make a link with which one of the approvers can decide without signing in",
    about: { ...aboutApproval, recipient: "the mail address, as the approval names it" },
    more: "The link is good for one decision. It is printed once and is kept nowhere.",
    examples: [["svc approvals link 0190a1b2-… ada@example.org", "A link to send to Ada"]],
    async run({ out, client }, [word, recipient]) {
      const service = await client();
      const params = { path: { id: await approvalId(service, word) } };
      const link = await answer(service.POST("/v1/human-approvals/{id}/links", { params, body: { recipient } }));
      await out.data(link);
      out.line(say`${link.url}`);
      out.note(say`It is good until ${link.expires_at}.`);
    },
  });
}

/** @throws Failure `usage` for what is no object */
async function argumentsOf({ io }: Context, text: string | undefined): Promise<Record<string, never> | undefined> {
  if (text === undefined) return undefined;
  const value = jsonOrText(await textOrFile(io, text));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usageFailure("--arguments takes an object of JSON");
  // The document leaves the members open.
  return value as Record<string, never>;
}

interface Decided {
  readonly status: string;
  readonly approval_id: string;
  readonly approvals?: number;
  readonly quorum?: number;
}

async function told({ out }: Context, decided: Decided): Promise<void> {
  await out.data(decided);
  const { status, approval_id, approvals, quorum } = decided;
  const counted = approvals === undefined ? status : `counted: ${approvals} of ${quorum} said yes`;
  out.line(say`${out.colours.green("✓")} ${approval_id} ${counted}`);
}

/** `tools call`. */
import type { Command } from "commander";
import { callSigned, openSession } from "../../../client/seal.ts";
import { given } from "../../frame/body.ts";
import { objectOf } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";

export function addCall(tools: Command): void {
  addVerb(tools, {
    words: "call <tool>",
    summary: "Call a tool as yourself, signed",
    about: { tool: "its name" },
    more: "Makes a key, opens a session of its own with it, and signs the call. It stands among `svc tools calls list`. Tools of sandboxes need an execution and cannot be called so. Ends with 1 where the tool itself failed.",
    options: {
      "-a, --arg <name=value...>": "an argument; values are JSON or text, @FILE adds a file's members",
      "--security-context <name>": "what is allowed; the one of your role without it",
    },
    examples: [
      ["svc tools call svc.agent.list", "A tool without arguments"],
      ["svc tools call web.fetch -a url=https://example.org", "With one"],
    ],
    async run({ out, client, io }, [name], { arg, securityContext }) {
      const service = await client();
      const named = await objectOf(io, "--arg", arg);
      const session = await openSession(service, given({ security_context: securityContext }));
      const { result } = await callSigned(service, session, { name, arguments: named });
      await out.data({ session_id: session.id, result });
      out.line(lines(resultText(result)));
      if (result.status === "pending" && typeof result.approval_id === "string")
        out.note(say`A person is asked: svc approvals show ${result.approval_id}`);
      return result.isError === true ? "failed" : "ok";
    },
  });
}

/** What servers of tools answer as texts, as texts; anything else as JSON. */
function resultText(result: Readonly<Record<string, unknown>>): string {
  const { content } = result;
  const texts = Array.isArray(content) ? content.map(textOf) : [];
  return texts.length > 0 && texts.every((text) => text !== null) ? texts.join("\n") : JSON.stringify(result, null, 2);
}

const textOf = (part: unknown): string | null =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : null;

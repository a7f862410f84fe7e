/** `tools call`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { objectOf } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import { createSessionKey, signedCall } from "./envelope.ts";

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
      const key = createSessionKey();
      const body = { agent_public_key: key.publicKey, ...given({ security_context: securityContext }) };
      const { security_token, session_id } = await answer(service.POST("/v1/seal/attest", { body }));
      const envelope = signedCall(key, security_token, { name, arguments: named }, io.now());
      const response = await service.send("/v1/seal/invoke", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...once() },
        body: JSON.stringify(envelope),
      });
      const said = (await response.json()) as { readonly result?: Readonly<Record<string, unknown>> };
      const result = said.result ?? {};
      await out.data({ session_id, result });
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

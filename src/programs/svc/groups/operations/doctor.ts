/** `svc doctor`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { addVerb } from "../../frame/verb.ts";
import { painted } from "../../output/colours.ts";
import { say } from "../../output/inert.ts";

export function doctor(program: Command): void {
  addVerb(program, {
    words: "doctor",
    summary: "Check what the service stands on, and say what to do",
    more: "Stores, clock, sandbox, models, issuers. Ends with 1 when a check fails.",
    examples: [["svc doctor", "Is anything wrong?"]],
    async run({ out, client }) {
      const found = await answer((await client()).GET("/v1/admin/doctor"));
      await out.data(found);
      for (const { name, status, message, remedy } of found.checks) {
        out.line(say`${painted(status, out.colours)} ${out.colours.bold(name)} ${message}`);
        if (remedy !== null) out.line(say`     → ${remedy}`);
      }
      return found.checks.some(({ status }) => status === "fail") ? "failed" : "ok";
    },
  });
}

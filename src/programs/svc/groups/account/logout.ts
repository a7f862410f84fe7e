/** `svc logout`. */
import type { Command } from "commander";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { Failure } from "../../process/exit.ts";
import { variable } from "../../process/io.ts";
import { readContexts } from "../../session/contexts.ts";
import { changeGrant, grantOf } from "../../session/tokens.ts";

export function logout(program: Command): void {
  addVerb(program, {
    words: "logout",
    summary: "Sign out and forget the tokens",
    more: "Ends the sign-in at the issuer where it can, and forgets the tokens in any case. The context stays.",
    examples: [["svc logout --context staging", "Sign out of another context than the current one"]],
    async run({ io, out, globals }) {
      const name = globals.context ?? variable(io, "SVC_CONTEXT") ?? (await readContexts(io)).current;
      if (name === null) throw new Failure("conflict", "There is no context to sign out of");
      const grant = await grantOf(io, name);
      if (grant === null) {
        await out.data({ context: name, status: "signed_out" });
        return out.note(say`Context ${name} is not signed in`);
      }
      const { revoked } = await import("../../session/revocation.ts");
      const isRevoked = grant.kind === "login" ? await revoked(grant) : true;
      await changeGrant(io, name, async () => null);
      await out.data({ context: name, status: "signed_out", revoked: isRevoked });
      if (!isRevoked)
        out.note(say`${out.noteColours.yellow("warning:")} the issuer could not be told; its session ends by itself`);
      out.line(say`${out.colours.green("✓")} Signed out of ${out.colours.bold(name)}`);
    },
  });
}

/** `token create`: a token that enrolls one host. Its text is shown this once. */

import { seconds } from "../command/values.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";

interface Issued {
  readonly id: string;
  readonly token: string;
  readonly expires_at: string;
  readonly command_hint: string;
}

export const verb = defineVerb({
  usage: "[--name NAME] [--ttl TIME] [--tag TAG]…",
  flags: {
    ...serviceFlags,
    name: { kind: "text", value: "NAME", meaning: "the host's name" },
    ttl: { kind: "text", value: "TIME", meaning: "how long it enrolls, to 15m (default 15m)" },
    tag: { kind: "list", value: "TAG", meaning: "a tag of the host; may be repeated" },
    team: { kind: "text", value: "ID", meaning: "the team whose host it becomes" },
  },
  positions: [0, 0],
  async run(invocation) {
    const { flags, output } = invocation;
    const ttl = seconds("ttl", flags.ttl, 1, 900);
    const issued = await connect(invocation).call<Issued>("POST", "/v1/edge/enrollment-tokens", {
      body: {
        ...(flags.name === null ? {} : { name: flags.name }),
        ...(ttl === null ? {} : { ttl_seconds: ttl }),
        ...(flags.team === null ? {} : { team_tenant_id: flags.team }),
        tags: flags.tag,
      },
      idempotencyKey: crypto.randomUUID(),
    });
    output.json(issued);
    output.line(issued.token);
    output.note(`token ${issued.id}, until ${issued.expires_at}. On the host:\n  ${issued.command_hint}`);
    return "ok";
  },
});

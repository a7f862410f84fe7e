/** `token revoke`: the token enrolls no host any more. */
import { usageFailure } from "../command/exit.ts";
import { uuidOf } from "../command/values.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";

export const verb = defineVerb({
  usage: "<id>",
  flags: serviceFlags,
  positions: [1, 1],
  async run(invocation) {
    const [text = ""] = invocation.positions;
    const id = uuidOf(text);
    if (id === null) throw usageFailure(`${text} is not the id of a token; token ls tells them`);
    await connect(invocation).call("DELETE", `/v1/edge/enrollment-tokens/${id}`);
    invocation.output.json({ id, status: "revoked" });
    invocation.output.line(`token ${id} is revoked`);
    return "ok";
  },
});

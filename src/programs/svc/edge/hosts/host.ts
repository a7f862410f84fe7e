/** `host hold`, `host accept`, `host revoke`: whether a host gets new commands, and its end. */
import { confirm } from "../command/environment.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { type AnyVerb, defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { type Host, hostId } from "./find.ts";

const acceptingVerb = (accepting: boolean): AnyVerb =>
  defineVerb({
    usage: "<host>",
    flags: serviceFlags,
    positions: [1, 1],
    async run(invocation) {
      const [name = ""] = invocation.positions;
      const service = connect(invocation);
      const id = await hostId(service, name);
      const host = await service.call<Host>("PATCH", `/v1/edge/hosts/${id}`, { body: { accepting } });
      const reasons = host.not_accepting.join(", ");
      invocation.output.json(host);
      invocation.output.line(
        host.accepting ? `${host.name} gets new commands` : `${host.name} gets no new commands: ${reasons}`,
      );
      return "ok";
    },
  });

export const hold = acceptingVerb(false);
export const accept = acceptingVerb(true);

export const revoke = defineVerb({
  usage: "<host> [--yes]",
  flags: { ...serviceFlags, yes: { kind: "switch", meaning: "does not ask" } },
  positions: [1, 1],
  async run(invocation) {
    const [name = ""] = invocation.positions;
    const { environment, flags, output } = invocation;
    const service = connect(invocation);
    const id = await hostId(service, name);
    if (!flags.yes && !environment.isInteractive()) throw usageFailure(`Revoking ${name} needs a yes: give --yes`);
    if (!flags.yes && !(await confirm(environment, `Revoke ${name} for ever? Its keys are refused from now on.`)))
      throw new Failure("failed", "nothing was revoked", "declined");
    await service.call("DELETE", `/v1/edge/hosts/${id}`);
    output.json({ node_id: id, status: "revoked" });
    output.line(`${name} is revoked`);
    return "ok";
  },
});

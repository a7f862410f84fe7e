/** `fleet run`: a tool or a command on many hosts, followed to its end. */
import { usageFailure } from "../command/exit.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { orderOf } from "./order.ts";
import { policyFlags, policyOf } from "./policy.ts";
import { watchRun } from "./watch.ts";

interface Begun {
  readonly fleet_command_id: string;
  readonly status: string;
  readonly targets_resolved: number;
  readonly targets_skipped: number;
}

export const verb = defineVerb({
  usage: "<target> <tool> | <target> -- <command…>",
  flags: {
    ...serviceFlags,
    arg: { kind: "list", value: "NAME=VALUE", meaning: "an argument of the tool; JSON, else a text; may be repeated" },
    args: { kind: "text", value: "JSON", meaning: "arguments of the tool as one object" },
    "security-context": { kind: "text", value: "NAME", meaning: "the context on the hosts (default: default)" },
    detach: { kind: "switch", meaning: "begins the run and does not follow it" },
    ...policyFlags,
  },
  positions: [0, 65],
  takesRest: true,
  async run(invocation) {
    const { flags, output, environment, positions, rest } = invocation;
    if (positions.length === 0)
      throw usageFailure("usage: svc edge fleet run <target> <tool> | <target> -- <command…>");
    const order = orderOf({ positions, rest, arg: flags.arg, args: flags.args });
    const body = {
      ...order,
      ...(flags["security-context"] === null ? {} : { security_context_name: flags["security-context"] }),
      policy: policyOf(flags, order.tool),
    };
    const service = connect(invocation);
    const path = "/v1/edge/fleet/invoke";
    if (!flags.detach) return watchRun({ service, environment, output, begin: { path, body } });
    const begun = await service.call<Begun>("POST", path, { body, idempotencyKey: crypto.randomUUID() });
    output.json(begun);
    output.line(`run ${begun.fleet_command_id} is ${begun.status}: ${begun.targets_resolved} hosts`);
    output.note(`  svc edge fleet runs ${begun.fleet_command_id} --follow`);
    return "ok";
  },
});

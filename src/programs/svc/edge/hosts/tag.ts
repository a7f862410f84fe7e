/** `tag add` and `tag rm`: tags of one host, in one step. */
import { type AnyVerb, defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { type Host, hostId } from "./find.ts";

const tagVerb = (change: "add" | "remove"): AnyVerb =>
  defineVerb({
    usage: "<host> <tag>…",
    flags: serviceFlags,
    positions: [2, 65],
    async run(invocation) {
      const [name = "", ...tags] = invocation.positions;
      const service = connect(invocation);
      const id = await hostId(service, name);
      // The same change again changes nothing: it may be repeated.
      const options = { body: { [change]: tags }, idempotencyKey: crypto.randomUUID() };
      const host = await service.call<Host>("POST", `/v1/edge/hosts/${id}/tags`, options);
      invocation.output.json(host);
      invocation.output.line(`${host.name}: ${host.tags.join(" ") || "no tags"}`);
      return "ok";
    },
  });

export const add = tagVerb("add");
export const remove = tagVerb("remove");

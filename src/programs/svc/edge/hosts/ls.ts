/** `ls`: the tenant's hosts. */
import { usageFailure } from "../command/exit.ts";
import { yesNo } from "../command/values.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import type { Host } from "./find.ts";

export const verb = defineVerb({
  usage: "[--tag TAG]… [--label NAME=VALUE]… [--connected] [--status STATUS]",
  flags: {
    ...serviceFlags,
    tag: { kind: "list", value: "TAG", meaning: "only with this tag; repeated: with all of them" },
    label: { kind: "list", value: "NAME=VALUE", meaning: "only with this label; repeated: with all of them" },
    connected: { kind: "choice", meaning: "only connected ones; --connected=false: only others" },
    status: { kind: "text", value: "STATUS", meaning: "connected, unhealthy, disconnected or revoked" },
    revoked: { kind: "switch", meaning: "revoked ones as well" },
  },
  positions: [0, 0],
  async run(invocation) {
    const { flags, output } = invocation;
    const connected = yesNo("connected", flags.connected);
    const odd = flags.label.find((label) => label.indexOf("=") <= 0);
    if (odd !== undefined) throw usageFailure(`--label must be name=value, not ${odd}`);
    const query = [
      ...flags.tag.map((tag) => ["tag", tag] as const),
      ...flags.label.map((label) => ["label", label] as const),
      ...(connected === null ? [] : [["connected", String(connected)] as const]),
      ...(flags.status === null ? [] : [["status", flags.status] as const]),
      ...(flags.revoked ? [["include_revoked", "true"] as const] : []),
    ];
    const hosts = await connect(invocation).list<Host>("/v1/edge/hosts", query);
    output.json({ items: hosts });
    output.table(
      ["NAME", "ID", "STATUS", "ACCEPTS", "SYSTEM", "VERSION", "RUNNING", "TAGS"],
      hosts.map((host) => [
        ...[host.name, host.node_id, host.status],
        host.accepting ? "yes" : host.not_accepting.join(",") || "no",
        host.os ? `${host.os}/${host.arch ?? "?"}` : null,
        ...[host.agent_version, host.running, host.tags],
      ]),
    );
    return "ok";
  },
});

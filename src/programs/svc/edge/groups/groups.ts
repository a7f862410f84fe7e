/** `group ls`, `create`, `set-pinned`, `rm`. */
import { readSelectorText } from "../../../../../actors/edge/target-text.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { understood } from "../command/understood.ts";
import { uuidOf } from "../command/values.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { hostIds } from "../hosts/find.ts";
import type { Service } from "../service/client.ts";
import { connect } from "../service/connect.ts";

interface Group {
  readonly id: string;
  readonly name: string;
  readonly selector: unknown;
  readonly pinned_members: readonly string[];
  readonly resolved_member_count: number;
}

export const ls = defineVerb({
  usage: "",
  flags: serviceFlags,
  positions: [0, 0],
  async run(invocation) {
    const groups = await connect(invocation).list<Group>("/v1/edge/groups");
    invocation.output.json({ items: groups });
    invocation.output.table(
      ["NAME", "ID", "HOSTS", "PINNED", "SELECTOR"],
      groups.map(({ name, id, resolved_member_count: count, pinned_members: pinned, selector }) => [
        ...[name, id, String(count), String(pinned.length)],
        selector,
      ]),
    );
    return "ok";
  },
});

export const create = defineVerb({
  usage: "<name> [--selector TEXT] [--pin HOST]…",
  flags: {
    ...serviceFlags,
    selector: { kind: "text", value: "TEXT", meaning: "as of a target: os=linux tags=web; all: every host" },
    pin: { kind: "list", value: "HOST", meaning: "a host that is a member without matching; may be repeated" },
  },
  positions: [1, 1],
  async run(invocation) {
    const { flags, output, positions } = invocation;
    const [name = ""] = positions;
    const text = flags.selector?.trim() ?? null;
    // Nothing written is a slip, where `all` is meant; to the service no term at all would be every host.
    if (text === "") throw usageFailure("--selector is empty; all means every host");
    const selector =
      text === null ? null : text.toLowerCase() === "all" ? {} : understood(() => readSelectorText(text));
    const service = connect(invocation);
    const group = await service.call<Group>("POST", "/v1/edge/groups", {
      body: { name, selector, pinned_members: await hostIds(service, flags.pin) },
      idempotencyKey: crypto.randomUUID(),
    });
    output.json(group);
    output.line(`group ${group.name} (${group.id}) has ${hosts(group.resolved_member_count)}`);
    return "ok";
  },
});

export const setPinned = defineVerb({
  usage: "<group> [<host>…]",
  flags: serviceFlags,
  positions: [1, 1001],
  async run(invocation) {
    const [name = "", ...names] = invocation.positions;
    const service = connect(invocation);
    const id = await groupId(service, name);
    const pinned_members = await hostIds(service, names);
    const group = await service.call<Group>("PATCH", `/v1/edge/groups/${id}`, { body: { pinned_members } });
    invocation.output.json(group);
    invocation.output.line(`group ${group.name} has ${hosts(group.pinned_members.length)} pinned`);
    return "ok";
  },
});

export const remove = defineVerb({
  usage: "<group>",
  flags: serviceFlags,
  positions: [1, 1],
  async run(invocation) {
    const [name = ""] = invocation.positions;
    const service = connect(invocation);
    const id = await groupId(service, name);
    await service.call("DELETE", `/v1/edge/groups/${id}`);
    invocation.output.json({ id, deleted: true });
    invocation.output.line(`group ${name} is deleted; its hosts stay`);
    return "ok";
  },
});

const hosts = (count: number): string => (count === 1 ? "1 host" : `${count} hosts`);

/** By id or name; names of groups are unique. @throws Failure `conflict` */
async function groupId(service: Service, name: string): Promise<string> {
  const id = uuidOf(name);
  if (id !== null) return id;
  const group = (await service.list<Group>("/v1/edge/groups")).find((one) => one.name === name);
  if (group === undefined) throw new Failure("conflict", `there is no group ${name}`, "group_not_found");
  return group.id;
}

/** `svc context`: named services and tenants. */
import type { Command } from "commander";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { Failure, usageFailure } from "../../process/exit.ts";
import { serviceAddress } from "../../session/address.ts";
import {
  type Contexts,
  checkedName,
  mayBePlain,
  type NamedContext,
  readContexts,
  writeContexts,
} from "../../session/contexts.ts";
import { changeGrant } from "../../session/tokens.ts";

const about = { name: "of a context; `svc context list` tells them" };

export function context(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List contexts",
    async page({ io }) {
      const { contexts, current } = await readContexts(io);
      return {
        items: Object.entries(contexts).map(([name, { url, tenant }]) => ({
          name,
          url,
          tenant,
          current: name === current,
        })),
      };
    },
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "current", value: ({ current }) => (current ? "*" : "") },
      { name: "url", value: ({ url }) => url },
      { name: "tenant", value: ({ tenant }) => tenant },
    ],
    empty: "There are no contexts. `svc login URL` makes one; a development node on this machine needs none.",
    examples: [["svc context list", "Which services are known"]],
  });
  addVerb(group, {
    words: "use <name>",
    summary: "Make a context the current one",
    about,
    examples: [["svc context use production", "Call production from now on"]],
    async run({ io, out }, [name]) {
      const contexts = await readContexts(io);
      const { url } = named(contexts, name);
      await writeContexts(io, { ...contexts, current: name });
      await out.data({ current: name });
      out.line(say`${out.colours.green("✓")} ${out.colours.bold(name)} is current: ${url}`);
    },
  });
  addVerb(group, {
    words: "set <name>",
    summary: "Make a context, or change one",
    about,
    more: "Takes --url, --tenant and --allow-plaintext. `svc login` makes a context and signs in at once.",
    options: { "--no-tenant": "act in the caller's own tenant again" },
    examples: [
      ["svc context set ci --url https://svc.example.com", "A context without a sign-in, for an API key"],
      ["svc context set production --tenant acme", "Act in another tenant from now on"],
    ],
    async run({ io, out, globals }, [name], { tenant }) {
      const contexts = await readContexts(io);
      const former = contexts.contexts[checkedName(name)];
      if (globals.url === null && former === undefined) throw new Failure("usage", `${name} is new: it needs --url`);
      const allowPlaintext = globals.allowPlaintext || mayBePlain(contexts, globals.url ?? former?.url ?? "");
      const changed: NamedContext = {
        url:
          globals.url === null
            ? (former?.url ?? "")
            : serviceAddress(globals.url, "--url", allowPlaintext, usageFailure),
        tenant: tenant === false ? null : (globals.tenant ?? former?.tenant ?? null),
        allowPlaintext,
      };
      await writeContexts(io, {
        current: contexts.current ?? name,
        contexts: { ...contexts.contexts, [name]: changed },
      });
      await out.data({ name, url: changed.url, tenant: changed.tenant });
      out.line(
        say`${out.colours.green("✓")} ${out.colours.bold(name)}: ${changed.url}${changed.tenant === null ? "" : `, tenant ${changed.tenant}`}`,
      );
    },
  });
  addVerb(group, {
    words: "delete <name>",
    alias: "rm",
    summary: "Forget a context and its tokens",
    about,
    examples: [["svc context delete staging", "Forget it"]],
    async run(invocation, [name]) {
      const { io, out } = invocation;
      const contexts = await readContexts(io);
      named(contexts, name);
      await confirm(invocation, `Forget context ${name} and its tokens`);
      const { [name]: _, ...others } = contexts.contexts;
      await changeGrant(io, name, async () => null);
      await writeContexts(io, { current: contexts.current === name ? null : contexts.current, contexts: others });
      await out.data({ name, status: "deleted" });
      out.line(say`${out.colours.green("✓")} Forgot ${name}`);
    },
  });
}

function named({ contexts }: Contexts, name: string): NamedContext {
  const found = contexts[name];
  if (found === undefined)
    throw new Failure("conflict", `There is no context ${name}`, "`svc context list` tells which there are.");
  return found;
}

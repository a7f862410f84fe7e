/** `svc members`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { confirm } from "../../frame/context.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const about = { member: "the id" };
const team = { "--team <id>": "of this team" } as const;
const invited = ["admin", "member"] as const;
const roles = ["owner", "admin", "member"] as const;

const columns: readonly Field<Schemas["Member"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "email", value: ({ email }) => email },
  { name: "name", value: ({ name }) => name },
  { name: "role", value: ({ role }) => role },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "joined", value: ({ joined_at }) => joined_at, kind: "time" },
  { name: "invited", value: ({ invited_at }) => invited_at, kind: "time" },
  { name: "user", value: ({ user_id }) => user_id },
];

export function members(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List who is in the tenant, and who is invited",
    options: team,
    async page({ client }, query, options) {
      const filters = given({ team_id: options.team });
      return answer((await client()).GET("/v1/colony/members", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 6,
    empty: "There are no members. `svc members invite EMAIL` invites one.",
    examples: [["svc members list", "Who may do what"]],
  });
  addVerb(group, {
    words: "invite <email>",
    summary: "Invite a person",
    about: { email: "of the person" },
    options: { ...team, "--role <role>": { meaning: "what they will be (default member)", choices: invited } },
    examples: [["svc members invite ada@example.org --role admin", "The link is printed once"]],
    async run({ out, client }, [email], options) {
      const params = { query: given({ team_id: options.team }), header: once() };
      const body = { email, ...given({ role: oneOf(invited, options.role) }) };
      const made = await answer((await client()).POST("/v1/colony/members", { params, body }));
      await out.data(made);
      out.line(say`${made.accept_url}`);
      out.note(say`${out.noteColours.green("✓")} Invited ${made.email} as ${made.role}, until ${made.expires_at}`);
    },
  });
  addVerb(group, {
    words: "role <member> <role>",
    summary: "Give a member another role",
    about: { ...about, role: "owner, admin or member" },
    options: team,
    examples: [["svc members role 0190a1b2-… admin", "Make one an admin"]],
    async run({ out, client }, [id, role], options) {
      const params = { path: { id }, query: given({ team_id: options.team }) };
      // The service names the roles that there are.
      const body = { role: oneOf(roles, role) ?? (role as "member") };
      const member = await answer((await client()).PATCH("/v1/colony/members/{id}", { params, body }));
      await out.data(member);
      out.line(say`${out.colours.green("✓")} ${member.email} is ${member.role}`);
    },
  });
  addVerb(group, {
    words: "remove <member>",
    alias: "rm",
    summary: "Remove a member, or withdraw an invitation",
    about,
    options: team,
    examples: [["svc members remove 0190a1b2-… --yes", "Without being asked"]],
    async run(context, [id], options) {
      await confirm(context, `Remove member ${id}`);
      const params = { path: { id }, query: given({ team_id: options.team }) };
      const removed = await answer((await context.client()).DELETE("/v1/colony/members/{id}", { params }));
      await context.out.data(removed);
      context.out.line(say`${context.out.colours.green("✓")} ${id} ${removed.status}`);
    },
  });
}

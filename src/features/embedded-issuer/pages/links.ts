/**
 * Pages that links of mails and of the API lead to: an invitation, a new password, and registering. The token stands
 * behind the `#` of the link, so that no log, proxy or preview of a mail has it; the form sends it.
 */

import { escaped } from "../../../http/page.ts";
import { isAddress } from "../schema.ts";
import { leadTo, type Page, type PageOf, readForm } from "./frame.ts";
import { field, showPage } from "./page.ts";

type Form = (name: string) => string;

const unknownLink = "This link is not known, was used, or its time is over.";

const tokenField = (token: string): string =>
  `<label for="token">The part of the link behind the #</label>
<input id="token" name="token" autocomplete="off" value="${escaped(token)}" required>`;

const passwordField = field({
  name: "password",
  label: "Password, at least 12 characters",
  type: "password",
  autocomplete: "new-password",
});

function showDone({ context, realm }: PageOf, title: string): void {
  showPage(context, { title, content: `<p><a href="${escaped(realm.path)}/account">Sign in</a></p>` });
}

/** Sets name and password of an invited person, whose address the link proves. */
export const invitationPage: Page = async (page) => {
  if (page.context.method === "GET") return showInvitation(page, "", "", null);
  const form = await readForm(page);
  const outcome = await accept(page, form);
  if (outcome !== null) return showInvitation(page, form("token"), form("name"), outcome);
  showDone(page, "Welcome");
};

function showInvitation({ context }: PageOf, token: string, name: string, fault: string | null): void {
  showPage(context, {
    title: "You are invited",
    fault,
    takesToken: true,
    content: `<form method="post">
${tokenField(token)}
${field({ name: "name", label: "Your name", autocomplete: "name", value: name })}
${passwordField}
<button>Accept</button>
</form>`,
  });
}

/** @returns why it did not work; null when it did */
async function accept(page: PageOf, form: Form): Promise<string | null> {
  const { people, realm } = page;
  const token = form("token");
  const invited = await page.invited(token);
  if (invited === null) return unknownLink;
  const name = nameOf(form("name"));
  if (name === null) return "Say your name, in at most 128 characters.";
  const fault = people.fault(form("password"), invited.email);
  if (fault !== null) return fault;
  const hash = await people.hash(form("password"));
  const isDone = await people.sql.begin(async (tx) => {
    const person = await invited.take(tx, { name, hash });
    if (person === null) return false;
    await people.told(tx, person, page.by, "person.activated", { by: "invitation" });
    return true;
  });
  return isDone ? null : `${unknownLink} If you have an account in ${realm.slug} already, sign in.`;
}

function nameOf(text: string): string | null {
  const name = text.replace(/\s+/g, " ").trim();
  return name === "" || [...name].length > 128 || name.includes("\0") ? null : name;
}

/** Asks for a link without a token; with one it sets the password. */
export const resetPage: Page = async (page) => {
  const { context, people, realm } = page;
  if (context.method === "GET") return showReset(page, "", null);
  const form = await readForm(page);
  if (form("do") === "ask") {
    // Whether the address is known shows neither in the answer nor in how long it takes: all work is done behind it.
    void askForReset(page, form("email")).catch(() => {});
    return showAsked(page);
  }
  const token = form("token");
  const link = await people.links.find(token, ["reset"]);
  const person = link === null ? null : await people.records.byId(realm.slug, link.personId);
  if (person === null || person.status === "disabled") return showReset(page, token, unknownLink);
  const fault = people.fault(form("password"), person.email);
  if (fault !== null) return showReset(page, token, fault);
  const hash = await people.hash(form("password"));
  const isDone = await people.sql.begin(async (tx) => {
    if (!(await people.links.use(tx, token))) return false;
    await people.records.change(tx, person.id, {
      password_hash: hash,
      password_expired: false,
      status: "active",
      email_verified: true,
    });
    await people.sessions.endAll(tx, person.id);
    await people.told(tx, person, page.by, "person.password_reset");
    return true;
  });
  if (!isDone) return showReset(page, token, unknownLink);
  showDone(page, "Your password is changed");
};

function showReset({ context, mail }: PageOf, token: string, fault: string | null): void {
  showPage(context, {
    title: "A new password",
    fault,
    takesToken: true,
    content: `<form method="post">
${tokenField(token)}
${passwordField}
<button name="do" value="set">Set it</button>
</form>
<section><h2>No link yet?</h2>
${
  mail.isConfigured
    ? `<form method="post">
${field({ name: "email", label: "Your e-mail address", type: "email", autocomplete: "username" })}
<button name="do" value="ask">Send me one</button>
</form>`
    : "<p>This installation sends no mail: ask its operator for a link.</p>"
}</section>`,
  });
}

function showAsked({ context }: PageOf): void {
  showPage(context, {
    title: "Look into your mail",
    content: "<p>If there is an account of that address, a link is on its way. It is good for 30 minutes, once.</p>",
  });
}

async function askForReset({ people, realm, mail, by }: PageOf, address: string): Promise<void> {
  const person = await people.records.byAddress(realm.slug, address);
  if (person === null || person.status !== "active" || person.password_hash === null) return;
  await mail.reset(person, by);
}

/** Registering, where the installation lets people do so. */
export const signUpPage: Page = async (page) => {
  const { context, realm, people } = page;
  if (!realm.hasSignUp) return leadTo(page, "/account");
  if (context.method === "GET") return showSignUp(page, "", "", null);
  const form = await readForm(page);
  const [address, name] = [form("email").trim(), nameOf(form("name"))];
  if (name === null) return showSignUp(page, address, "", "Say your name, in at most 128 characters.");
  if (!isAddress(address)) return showSignUp(page, address, name, "This is no e-mail address.");
  const fault = people.fault(form("password"), address);
  if (fault !== null) return showSignUp(page, address, name, fault);
  // As long for an address that is taken as for any other.
  const hash = await people.hash(form("password"));
  void page.mail.signUp({ address, name, hash }, page.by).catch(() => {});
  showPage(context, {
    title: "Look into your mail",
    content: "<p>If the address is not registered yet, a link is on its way to it. It is good for a day.</p>",
  });
};

function showSignUp({ context }: PageOf, address: string, name: string, fault: string | null): void {
  showPage(context, {
    title: "Register",
    fault,
    content: `<form method="post">
${field({ name: "name", label: "Your name", autocomplete: "name", value: name })}
${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", value: address })}
${passwordField}
<button>Register</button>
</form>`,
  });
}

/**
 * The link that proves a registered address. It asks for the password once more: a person whose address another one
 * registered must not let that one in.
 */
export const confirmPage: Page = async (page) => {
  const { context, people, realm, by } = page;
  if (context.method === "GET") return showConfirm(page, "", null);
  const form = await readForm(page);
  const token = form("token");
  const link = await people.links.find(token, ["sign_up"]);
  const person = link === null ? null : await people.records.byId(realm.slug, link.personId);
  if (person === null || person.status !== "invited") return showConfirm(page, token, unknownLink);
  if (!(await people.isPassword(person, form("password"))))
    return showConfirm(page, token, "This is not the password that was chosen when the address was registered.");
  const isDone = await people.sql.begin(async (tx) => {
    if (!(await people.links.use(tx, token))) return false;
    await people.records.change(tx, person.id, { status: "active", email_verified: true });
    await people.told(tx, person, by, "person.activated", { by: "sign_up" });
    return true;
  });
  if (!isDone) return showConfirm(page, token, unknownLink);
  showDone(page, "Welcome");
};

function showConfirm({ context }: PageOf, token: string, fault: string | null): void {
  showPage(context, {
    title: "Your address",
    fault,
    takesToken: true,
    content: `<form method="post">
${tokenField(token)}
${field({ name: "password", label: "The password that you chose", type: "password", autocomplete: "current-password" })}
<button>It is mine</button>
</form>`,
  });
}

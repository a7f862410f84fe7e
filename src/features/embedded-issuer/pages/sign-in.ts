/**
 * Signing in: address and password, then what the account asks for beside them. Between two pages nothing is kept in the
 * browser but a token, which counts in this sign-in alone.
 */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { escaped } from "../../../http/page.ts";
import { totpUri } from "../people/codes.ts";
import type { PersonRow } from "../people/records.ts";
import { leadTo, type Page, type PageOf, readForm } from "./frame.ts";
import { field, hidden, showPage } from "./page.ts";
import { leadsTo } from "./protocol.ts";

/** The one answer to all that does not let in. */
const refused = "Address and password do not fit, or the account is locked for a while.";

export interface Interaction {
  readonly uid: string;
  readonly prompt: { readonly name: string };
  readonly params: Readonly<Record<string, unknown>>;
  readonly session?: { readonly accountId?: string } | undefined;
  readonly grantId?: string | undefined;
}

/** `/sign-in` by itself leads to where signing in makes sense. */
export const bareSignInPage: Page = async (page) => leadTo(page, "/account");

/** The sign-in that this browser has begun and that the path names; null for all else. */
export async function interactionOf({ context, provider }: PageOf): Promise<Interaction | null> {
  const found: Interaction | null = await provider.interactionDetails(context.req, context.res).catch(() => null);
  const [, , uid] = context.path.split("/");
  return found?.uid === uid ? found : null;
}

export const signInPage: Page = async (page) => {
  const { context } = page;
  const interaction = await interactionOf(page);
  if (interaction === null || context.path !== `/sign-in/${interaction.uid}`) {
    showPage(context, {
      status: 400,
      title: "This sign-in is over",
      content: "<p>Go back to where you came from and begin again.</p>",
    });
    return;
  }
  if (context.method === "GET") return showStep(page, interaction);
  await takeStep(page, interaction);
};

const frame = ({ params }: Interaction) => ({ leadsTo: leadsTo(params.redirect_uri) });

async function showStep(page: PageOf, interaction: Interaction): Promise<void> {
  if (interaction.prompt.name === "consent") showConsent(page, interaction);
  else await showPassword(page, interaction, null);
}

async function showPassword(
  { context, realm, saml }: PageOf,
  interaction: Interaction,
  fault: string | null,
  address?: string,
): Promise<void> {
  const isElsewhere = await saml.isOn(realm);
  const hint = interaction.params.login_hint;
  showPage(context, {
    ...frame(interaction),
    title: "Sign in",
    fault,
    content: `<form method="post">
${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", value: address ?? (typeof hint === "string" ? hint : "") })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password" })}
<button name="step" value="password">Sign in</button>
</form>
<p><a href="${escaped(realm.path)}/reset">I forgot my password</a>${realm.hasSignUp ? ` · <a href="${escaped(realm.path)}/sign-up">Register</a>` : ""}</p>
${isElsewhere ? `<p><a href="${escaped(`${realm.path}/sign-in/${interaction.uid}/saml`)}">Sign in by your organisation</a></p>` : ""}`,
  });
}

function showConsent({ context }: PageOf, interaction: Interaction): void {
  const client = String(interaction.params.client_id ?? "");
  showPage(context, {
    ...frame(interaction),
    title: "Let a program in?",
    content: `<p>The program <code>${escaped(client)}</code> on this machine asks to act for you. If you did not begin this
yourself, do not go on.</p>
<form method="post">
<button name="step" value="consent">Let it in</button>
<button class="quiet" name="step" value="abort">No</button>
</form>`,
  });
}

async function takeStep(page: PageOf, interaction: Interaction): Promise<void> {
  const form = await readForm(page);
  switch (form("step")) {
    case "password":
      return takePassword(page, interaction, form);
    case "code":
      return takeCode(page, interaction, form);
    case "new_password":
      return takeNewPassword(page, interaction, form);
    case "enrol":
      return takeEnrolment(page, interaction, form);
    case "done":
      return takeEnd(page, interaction, form);
    case "consent":
      if (interaction.prompt.name === "consent") return finish(page, { consent: {} });
      return showStep(page, interaction);
    case "abort":
      return finish(page, { error: "access_denied", error_description: "the person did not agree" });
    default:
      return showStep(page, interaction);
  }
}

type Form = (name: string) => string;

async function takePassword(page: PageOf, interaction: Interaction, form: Form): Promise<void> {
  const { people, realm, by } = page;
  const address = form("email");
  const account = { realm: realm.slug, tenant: realm.tenant, address };
  let person: PersonRow | null;
  try {
    person = await people.withPassword(account, form("password"), by);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "rate_limited") throw error;
    return showPassword(page, interaction, "Too many people sign in at once. Try again in a moment.", address);
  }
  if (person === null) return showPassword(page, interaction, refused, address);
  await goOn(page, interaction, person, []);
}

/** The next thing that the account asks for, or the end. @param proven beside the password */
async function goOn(
  page: PageOf,
  interaction: Interaction,
  person: PersonRow,
  proven: readonly string[],
): Promise<void> {
  const isProven = proven.length > 0;
  if (person.totp_confirmed_at !== null && !isProven) return showCode(page, interaction, person, null);
  if (person.password_expired) return showNewPassword(page, interaction, person, proven, null);
  if (person.totp_confirmed_at === null && (page.realm.needsTotp || person.realm === "svc-system")) {
    await page.people.beginTotp(person);
    return showEnrolment(page, interaction, person.id, null);
  }
  await end(page, person, ["password", ...proven]);
}

/** The person of a step that was begun here; null when its time is over. */
async function personOf(page: PageOf, interaction: Interaction, form: Form, stage: string): Promise<PersonRow | null> {
  const { people, realm } = page;
  const link = await people.links.find(form("token"), ["sign_in"], boundTo(interaction, stage));
  const person = link === null ? null : await people.records.byId(realm.slug, link.personId);
  return person?.status === "active" ? person : null;
}

/** A step counts in its own sign-in, and for its own page. */
const boundTo = ({ uid }: Interaction, stage: string): string => `${uid} ${stage}`;

const stepToken = (page: PageOf, interaction: Interaction, person: PersonRow, stage: string): Promise<string> =>
  page.people.links.make(page.people.sql, person, "sign_in", boundTo(interaction, stage));

const over = "That took too long. Begin again.";

async function showCode(
  page: PageOf,
  interaction: Interaction,
  person: PersonRow,
  fault: string | null,
): Promise<void> {
  const token = await stepToken(page, interaction, person, "code");
  showPage(page.context, {
    ...frame(interaction),
    title: "One more step",
    fault,
    content: `<form method="post">
${hidden("token", token)}
${field({ name: "code", label: "The code of your authenticator, or a recovery code", autocomplete: "one-time-code" })}
<button name="step" value="code">Continue</button>
</form>`,
  });
}

async function takeCode(page: PageOf, interaction: Interaction, form: Form): Promise<void> {
  const person = await personOf(page, interaction, form, "code");
  if (person === null) return showPassword(page, interaction, over);
  const factor = await page.people.withCode(person, form("code"), page.by);
  if (factor === null)
    return showCode(
      page,
      interaction,
      person,
      "The code does not fit, was used, or the account is locked for a while.",
    );
  await page.people.usedOnce(form("token"));
  await goOn(page, interaction, person, [factor]);
}

async function showNewPassword(
  page: PageOf,
  interaction: Interaction,
  person: PersonRow,
  proven: readonly string[],
  fault: string | null,
): Promise<void> {
  const token = await stepToken(page, interaction, person, `new_password ${proven.join(" ")}`);
  showPage(page.context, {
    ...frame(interaction),
    title: "Choose a password of your own",
    fault,
    content: `<form method="post">
${hidden("token", token)}
${hidden("proven", proven.join(" "))}
${field({ name: "password", label: "New password, at least 12 characters", type: "password", autocomplete: "new-password" })}
<button name="step" value="new_password">Continue</button>
</form>`,
  });
}

async function takeNewPassword(page: PageOf, interaction: Interaction, form: Form): Promise<void> {
  const { people, by } = page;
  const proven = form("proven");
  // What is told of the earlier step stands in what the token is bound to as well.
  const person = await personOf(page, interaction, form, `new_password ${proven}`);
  if (person === null) return showPassword(page, interaction, over);
  const factors = proven === "" ? [] : [proven];
  const password = form("password");
  const isOld = await people.isPassword(person, password);
  const fault = isOld ? "Choose another password than the one before." : people.fault(password, person.email);
  if (fault !== null) return showNewPassword(page, interaction, person, factors, fault);
  await people.setPassword(person, password, by, null);
  await people.usedOnce(form("token"));
  const anew = await people.records.byId(page.realm.slug, person.id);
  if (anew === null) return showPassword(page, interaction, over);
  await goOn(page, interaction, anew, factors);
}

async function showEnrolment(page: PageOf, interaction: Interaction, id: string, fault: string | null): Promise<void> {
  const person = await page.people.records.byId(page.realm.slug, id);
  const secret = person === null ? null : page.people.waitingTotp(person);
  if (person === null || secret === null) return showPassword(page, interaction, over);
  const token = await stepToken(page, interaction, person, "enrol");
  showPage(page.context, {
    ...frame(interaction),
    title: "Set up your authenticator",
    fault,
    content: `${enrolmentText(page, person, secret)}
<form method="post">
${hidden("token", token)}
${field({ name: "code", label: "The code that it shows", autocomplete: "one-time-code" })}
<button name="step" value="enrol">Continue</button>
</form>`,
  });
}

/** How an authenticator gets to know the secret. */
export function enrolmentText({ realm }: PageOf, person: PersonRow, secret: string): string {
  const uri = totpUri(secret, realm.slug, person.email);
  const spaced = secret.replace(/.{4}(?=.)/g, "$& ");
  return `<p>Add this account to an authenticator app: <a href="${escaped(uri)}">open it here</a>, or type the key
<code>${escaped(spaced)}</code>.</p>`;
}

async function takeEnrolment(page: PageOf, interaction: Interaction, form: Form): Promise<void> {
  const person = await personOf(page, interaction, form, "enrol");
  if (person === null) return showPassword(page, interaction, over);
  const codes = await page.people.confirmTotp(person, form("code"), page.by);
  if (codes === null) return showEnrolment(page, interaction, person.id, "The code does not fit.");
  await page.people.usedOnce(form("token"));
  const token = await stepToken(page, interaction, person, "done");
  showPage(page.context, {
    ...frame(interaction),
    title: "Keep these recovery codes",
    content: `${recoveryText(codes)}
<form method="post">
${hidden("token", token)}
<button name="step" value="done">I have kept them</button>
</form>`,
  });
}

export const recoveryText = (codes: readonly string[]): string =>
  `<p>Each of them lets you in once when the authenticator is lost. They are shown only now.</p>
<ul>${codes.map((code) => `<li class="code">${escaped(code)}</li>`).join("")}</ul>`;

async function takeEnd(page: PageOf, interaction: Interaction, form: Form): Promise<void> {
  const person = await personOf(page, interaction, form, "done");
  if (person === null) return showPassword(page, interaction, over);
  await page.people.usedOnce(form("token"));
  await end(page, person, ["password", "totp"]);
}

export async function end(page: PageOf, person: PersonRow, factors: readonly string[]): Promise<void> {
  await page.people.signedIn(person, page.by, factors);
  const amr = factors.map((factor) => (factor === "password" ? "pwd" : factor === "saml" ? "fed" : "otp"));
  await finish(page, { login: { accountId: person.id, amr: amr.length > 1 ? [...amr, "mfa"] : amr } });
}

/** Gives the provider the outcome, and leads back to it. */
async function finish(
  { context, provider }: PageOf,
  result: Parameters<typeof provider.interactionResult>[2],
): Promise<void> {
  const to = await provider.interactionResult(context.req, context.res, result, {
    mergeWithLastSubmission: !("login" in result),
  });
  context.status = 303;
  context.set({ Location: to, "Cache-Control": "no-store" });
  context.body = "";
}

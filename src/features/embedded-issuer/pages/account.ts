/** A person's own page: sessions, password, authenticator. What weakens the account asks for the password again. */
import { createHash, randomBytes } from "node:crypto";
import { escaped } from "../../../http/page.ts";
import type { PersonRow } from "../people/records.ts";
import { accountOf } from "../people/service.ts";
import { sessionDigest } from "../storage/records.ts";
import { accountClientId, leadTo, type Page, type PageOf, readForm } from "./frame.ts";
import { field, hidden, showPage } from "./page.ts";
import { enrolmentText, recoveryText } from "./sign-in.ts";

/** Who is signed in in this browser, and the id of the session. */
interface SignedIn {
  readonly person: PersonRow;
  readonly session: string;
}

export const accountPage: Page = async (page) => {
  const { context } = page;
  const signedIn = await whoIsHere(page);
  if (signedIn === null) return leadToSignIn(page);
  // Back from the sign-in: its code is of no use, since the session is there.
  if (context.method === "GET" && Object.keys(context.query).length > 0) return leadTo(page, "/account");
  if (context.method === "GET") return showAccount(page, signedIn, null);
  await change(page, signedIn);
};

async function whoIsHere({ context, provider, people, realm }: PageOf): Promise<SignedIn | null> {
  const session = await provider.Session.get(provider.createContext(context.req, context.res));
  if (session.accountId === undefined) return null;
  const person = await people.records.byId(realm.slug, session.accountId);
  return person?.status === "active" ? { person, session: session.jti } : null;
}

/** The provider's own way in; a form that was sent meanwhile is lost. */
function leadToSignIn(page: PageOf): void {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    client_id: accountClientId,
    response_type: "code",
    scope: "openid",
    redirect_uri: `${page.realm.issuer}/account`,
    // The code is never redeemed.
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    // A failed way back would lead here once more.
    ...(page.context.query.error === undefined ? {} : { prompt: "login" }),
  });
  leadTo(page, `/protocol/openid-connect/auth?${query}`);
}

async function showAccount(page: PageOf, { person, session }: SignedIn, told: string | null): Promise<void> {
  const { people, realm, context } = page;
  const [sessions, left] = await Promise.all([
    people.sessions.list(person.id),
    people.records.recoveryCodesLeft(person.id),
  ]);
  const own = sessionDigest(session);
  const rows = sessions.map(
    ({ id, digest, user_agent, created_at, used_at }) => `<dt>${escaped(user_agent || "A browser")}</dt>
<dd>since ${created_at.toISOString().slice(0, 16)}, last used ${used_at.toISOString().slice(0, 16)} (UTC)
${digest === own ? "<strong>this one</strong>" : `<form method="post">${hidden("session", id)}<button class="quiet" name="do" value="end_session">End it</button></form>`}</dd>`,
  );
  showPage(context, {
    title: "Your account",
    fault: told,
    content: `<p>${escaped(person.name ?? "")} <code>${escaped(person.email)}</code></p>
<p><a href="${escaped(realm.path)}/protocol/openid-connect/logout">Sign out</a></p>
<section><h2>Sessions</h2><dl>${rows.join("\n")}</dl></section>
${person.password_hash === null ? "" : passwordSection}
${person.password_hash === null ? "" : totpSection(page, person, left)}`,
  });
}

const currentPassword = (id: string) =>
  field({ name: "current", label: "Your password", type: "password", autocomplete: "current-password" })
    .replaceAll('"current"', `"${id}"`)
    .replace(`name="${id}"`, 'name="current"');

const passwordSection = `<section><h2>Password</h2>
<form method="post">
${currentPassword("current-of-password")}
${field({ name: "password", label: "New password, at least 12 characters", type: "password", autocomplete: "new-password" })}
<button name="do" value="password">Change it</button>
<p><small>All other sessions end.</small></p>
</form></section>`;

function totpSection({ realm }: PageOf, person: PersonRow, left: number): string {
  const isOn = person.totp_confirmed_at !== null;
  const isNeeded = realm.needsTotp || person.realm === "svc-system";
  const actions = isOn
    ? `<button name="do" value="recovery_codes">New recovery codes</button>
${isNeeded ? "" : '<button class="quiet" name="do" value="totp_off">Turn it off</button>'}`
    : '<button name="do" value="totp_begin">Set it up</button>';
  return `<section><h2>Authenticator</h2>
<p>${isOn ? `It is set up. ${left} of 10 recovery codes are left.` : "It is not set up."}</p>
<form method="post">
${currentPassword("current-of-authenticator")}
${actions}
</form></section>`;
}

async function change(page: PageOf, here: SignedIn): Promise<void> {
  const form = await readForm(page);
  switch (form("do")) {
    case "end_session":
      return endSession(page, here, form("session"));
    case "totp_confirm":
      return confirmTotp(page, here, form("code"));
    case "password":
    case "totp_begin":
    case "totp_off":
    case "recovery_codes":
      return changeProof(page, here, form);
    default:
      return showAccount(page, here, null);
  }
}

async function endSession(page: PageOf, here: SignedIn, id: string): Promise<void> {
  const { people, by } = page;
  if (/^[0-9a-f-]{36}$/.test(id)) {
    await people.sql.begin(async (tx) => {
      if (await people.sessions.end(tx, here.person.id, id))
        await people.told(tx, here.person, by, "person.session_ended");
    });
  }
  leadTo(page, "/account");
}

async function changeProof(page: PageOf, here: SignedIn, form: (name: string) => string): Promise<void> {
  const { people, by } = page;
  const person = await people.withPassword(accountOf(here.person), form("current"), by);
  if (person === null)
    return showAccount(page, here, "The password does not fit, or the account is locked for a while.");
  switch (form("do")) {
    case "password": {
      const fault = people.fault(form("password"), person.email);
      if (fault !== null) return showAccount(page, here, fault);
      await people.setPassword(person, form("password"), by, here.session);
      return leadTo(page, "/account");
    }
    case "totp_begin":
      // One that is set up stays until it is turned off: its owner may have no other.
      if (person.totp_confirmed_at !== null) return showAccount(page, here, null);
      await people.beginTotp(person);
      return showEnrolment(page, here, null);
    case "totp_off":
      return turnTotpOff(page, here, person);
    default:
      if (person.totp_confirmed_at === null) return showAccount(page, here, null);
      return showRecoveryCodes(page, await people.newRecoveryCodes(person, by));
  }
}

async function turnTotpOff(page: PageOf, here: SignedIn, person: PersonRow): Promise<void> {
  const { people, realm, by } = page;
  if (realm.needsTotp || person.realm === "svc-system")
    return showAccount(page, here, "This installation asks for an authenticator.");
  await people.sql.begin(async (tx) => {
    await people.removeTotp(tx, person);
    await people.told(tx, person, by, "person.totp_disabled");
  });
  leadTo(page, "/account");
}

async function showEnrolment(page: PageOf, here: SignedIn, fault: string | null): Promise<void> {
  const person = await page.people.records.byId(page.realm.slug, here.person.id);
  const secret = person === null ? null : page.people.waitingTotp(person);
  if (person === null || secret === null) return showAccount(page, here, null);
  showPage(page.context, {
    title: "Set up your authenticator",
    fault,
    content: `${enrolmentText(page, person, secret)}
<form method="post">
${field({ name: "code", label: "The code that it shows", autocomplete: "one-time-code" })}
<button name="do" value="totp_confirm">Continue</button>
</form>`,
  });
}

async function confirmTotp(page: PageOf, here: SignedIn, code: string): Promise<void> {
  const codes = await page.people.confirmTotp(here.person, code, page.by);
  if (codes === null) return showEnrolment(page, here, "The code does not fit.");
  showRecoveryCodes(page, codes);
}

function showRecoveryCodes({ context, realm }: PageOf, codes: readonly string[]): void {
  showPage(context, {
    title: "Keep these recovery codes",
    content: `${recoveryText(codes)}<p><a href="${escaped(realm.path)}/account">Back to your account</a></p>`,
  });
}

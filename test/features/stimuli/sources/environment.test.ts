/** Secrets of sources in the environment (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { environmentSecrets } from "../../../../src/features/stimuli/sources/verification/environment.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `tenant by: secret, secret` of everyone whose secrets serve a source. */
function serving(environment: Environment, source: string): string[] {
  return environmentSecrets(environment)
    .ofSource(source)
    .map(({ tenant, by, secrets }) => `${tenant} ${by}: ${secrets.map((secret) => secret.reveal()).join(", ")}`);
}

/** Variables without their common beginning `SVC_WEBHOOK_`, a source, who serves it. */
const cases: readonly (readonly [Environment, string, readonly string[]])[] = [
  [{}, "ci", []],
  [{ SECRET_CI: "s" }, "ci", ["svc-system env: s"]],
  [{ SECRET_CI: "s" }, "other", []],
  [{ SECRET_CI: "" }, "ci", []],
  [{ SECRET_CI: " s\n" }, "ci", ["svc-system env:  s\n"]],
  [{ SECRET_MY_CI_X: "s" }, "my-ci.x", ["svc-system env: s"]],
  [{ secret_ci: "s", SECRET_ci: "s" }, "ci", []],
  [{ SECRET_CI: "new", SECRET_CI_PREVIOUS: "old" }, "ci", ["svc-system env: new, old"]],
  [{ SECRET_CI: "new", SECRET_CI_PREVIOUS: "" }, "ci", ["svc-system env: new"]],
  [{ SECRET_CI: "", SECRET_CI_PREVIOUS: "old" }, "ci", ["svc-system env: old"]],
  [{ SECRET_CI: "s", DEFAULT_TENANT: "acme" }, "ci", ["acme env: s"]],
  [{ SECRET_CI: "s", DEFAULT_TENANT: "" }, "ci", ["svc-system env: s"]],
  [{ SECRET_CI: "s", DEFAULT_TENANT: "acme", TENANT_CI: "beta" }, "ci", ["beta env: s"]],
  [{ SECRET_CI: "s", DEFAULT_TENANT: "acme", TENANT_CI: " " }, "ci", ["acme env: s"]],
  // A tenant that cannot be is not replaced by another one.
  [{ SECRET_CI: "s", TENANT_CI: "Not A Slug" }, "ci", []],
  [{ SECRET_CI: "s", TENANT_OTHER: "beta" }, "ci", ["svc-system env: s"]],
  [{ SECRET_ACME__CI: "s" }, "ci", ["acme env_tenant: s"]],
  [{ SECRET_ACME__CI: "s" }, "acme--ci", []],
  [{ SECRET_SVC_SYSTEM__MY_CI: "s", SECRET_SVC_SYSTEM__MY_CI_PREVIOUS: "o" }, "my.ci", ["svc-system env_tenant: s, o"]],
  [{ SECRET_A__B__CI: "s" }, "ci", ["a--b env_tenant: s"]],
  [{ SECRET_ACME__CI: "s", TENANT_CI: "beta", DEFAULT_TENANT: "beta" }, "ci", ["acme env_tenant: s"]],
  [{ SECRET_ACME__CI: "s", SECRET_CI: "t" }, "ci", ["acme env_tenant: s", "svc-system env: t"]],
  // A tenant with both has its own one alone, previous secrets included.
  [{ SECRET_ACME__CI: "s", SECRET_CI: "t", SECRET_CI_PREVIOUS: "u", TENANT_CI: "acme" }, "ci", ["acme env_tenant: s"]],
  [{ SECRET___CI: "s", SECRET____CI: "s", SECRET_A___CI: "s", SECRET__A__CI: "s" }, "ci", []],
  [{ SECRET_: "s", SECRET__PREVIOUS: "s" }, "ci", []],
  // Sources whose form could be taken for something else.
  [{ SECRET_A__B: "s" }, "a__b", []],
  [{ SECRET_A__B: "s" }, "a..b", []],
  [{ SECRET_CI_PREVIOUS: "s" }, "ci-previous", []],
  [{ SECRET_CI_PREVIOUS_PREVIOUS: "s" }, "ci_previous", []],
  [{ SECRET_PREVIOUS: "s", SECRET_PREVIOUS_PREVIOUS: "o" }, "previous", ["svc-system env: s, o"]],
  [{ SECRET_CI__PREVIOUS: "s" }, "previous", ["ci env_tenant: s"]],
  [{ SECRET_CI__PREVIOUS: "s" }, "ci.", []],
  [{ SECRET_CI_: "t", SECRET_CI__PREVIOUS: "s" }, "ci.", ["svc-system env: t, s"]],
  [{ SECRET_CI_: "t", SECRET_CI__PREVIOUS: "s" }, "previous", []],
];

test.each(cases.map(([short, source, expected]) => [Object.keys(short).join(" "), source, short, expected] as const))(
  "%s: who serves %s",
  (_, source, short, expected) => {
    const environment = Object.fromEntries(
      Object.entries(short).map(([name, value]) => [`SVC_WEBHOOK_${name}`, value]),
    );
    const others = { PATH: "/bin", WEBHOOK_SECRET_CI: "x", XSVC_WEBHOOK_SECRET_CI: "x" };
    expect(serving({ ...environment, ...others }, source)).toEqual([...expected]);
  },
);

test("of one tenant; unused variables are named, secrets never show", () => {
  const secrets = environmentSecrets({
    SVC_WEBHOOK_SECRET_CI: "hunter2-a",
    SVC_WEBHOOK_SECRET_ACME__CI: "hunter2-b",
    SVC_WEBHOOK_SECRET_ACME__CI_PREVIOUS: "hunter2-c",
    SVC_WEBHOOK_SECRET_X_: "hunter2-d",
    SVC_WEBHOOK_SECRET__X: "hunter2-e",
    SVC_WEBHOOK_SECRET_OFF: "hunter2-f",
    SVC_WEBHOOK_TENANT_OFF: "../etc",
  });
  expect(secrets.ofTenant("acme", "ci")?.secrets.map((secret) => secret.reveal())).toEqual(["hunter2-b", "hunter2-c"]);
  expect(secrets.ofTenant("svc-system", "ci")?.by).toBe("env");
  expect(secrets.ofTenant("beta", "ci")).toBe(null);
  expect(secrets.unusable).toEqual(["SVC_WEBHOOK_SECRET_OFF", "SVC_WEBHOOK_SECRET__X"]);
  const shown = Bun.inspect([secrets, secrets.ofSource("ci")]) + JSON.stringify(secrets.ofSource("ci"));
  expect(shown).not.toContain("hunter2");
});

test("a source's own variable never serves another tenant than the one it is bound to", () => {
  const part = fc.stringMatching(/^[A-Z0-9_]{0,6}$/);
  const name = fc
    .tuple(part, fc.constantFrom("", "__", "_"), part, fc.constantFrom("", "_PREVIOUS"))
    .map((parts) => parts.join(""));
  const source = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), source, (names, source) => {
      const form = source.toUpperCase().replace(/[^A-Z0-9]/g, "_");
      const all = [...names, form, `${form}_PREVIOUS`];
      const environment = Object.fromEntries(all.map((each) => [`SVC_WEBHOOK_SECRET_${each}`, each]));
      const found = environmentSecrets({ ...environment, SVC_WEBHOOK_DEFAULT_TENANT: "bound" }).ofSource(source);
      const mayHave = !form.includes("__") && !form.endsWith("_PREVIOUS");
      for (const { tenant, secrets } of found) {
        const texts = secrets.map((secret) => secret.reveal());
        const own = `${tenant.toUpperCase().replaceAll("-", "_")}__${form}`;
        const allowed = tenant === "bound" ? [own, form] : [own];
        expect(texts.every((text) => allowed.some((place) => text === place || text === `${place}_PREVIOUS`))).toBe(
          true,
        );
      }
      expect(found.length > 0).toBe(mayHave);
    }),
  );
});

/**
 * Secrets of sources that the environment holds (docs/reference/stimuli.md).
 *
 * E(x) is x upper-cased with every character outside A–Z and 0–9 replaced by `_`. Of tenants, whose slugs know no
 * other character than the hyphen, it can be undone.
 */
import { systemTenant } from "../../../../../actors/identity/identity.ts";
import { isTenantSlug } from "../../../../../actors/identity/tenant.ts";
import { Secret } from "../../../../lib/secret.ts";

/** The secrets of one source in one tenant. */
export interface EnvironmentSecrets {
  readonly tenant: string;
  /** Which variable holds them, as a source's record names it. */
  readonly by: "env_tenant" | "env";
  /** The current and the previous one, those that are set; never empty. Their texts are byte for byte as set. */
  readonly secrets: readonly Secret[];
}

export interface SecretsOfEnvironment {
  /** Of every tenant that a variable binds to the source; of a tenant with both variables, its own one. */
  ofSource(source: string): readonly EnvironmentSecrets[];
  ofTenant(tenant: string, source: string): EnvironmentSecrets | null;
  /** Names of variables without effect, as they name no source or no tenant that could be. */
  readonly unusable: readonly string[];
}

const secretPrefix = "SVC_WEBHOOK_SECRET_";
const tenantPrefix = "SVC_WEBHOOK_TENANT_";
const previousSuffix = "_PREVIOUS";

/**
 * Reads the variables once.
 * @param environment as it was set: secrets are not trimmed. An empty variable counts as not set
 */
export function environmentSecrets(environment: Readonly<Record<string, string | undefined>>): SecretsOfEnvironment {
  const bySource = new Map<string, EnvironmentSecrets[]>();
  const unusable: string[] = [];
  for (const [place, variables] of placesOf(environment)) {
    const { source, owner } = ownerOf(place);
    const tenant = owner === null ? boundTenant(environment, source) : tenantOf(owner);
    if (tenant === null || !takesSecrets(source)) {
      unusable.push(...variables);
      continue;
    }
    const secrets = variables.map((name) => new Secret(environment[name] ?? ""));
    const found: EnvironmentSecrets = { tenant, by: owner === null ? "env" : "env_tenant", secrets };
    bySource.set(source, [...(bySource.get(source) ?? []), found]);
  }
  const ofSource = (source: string): readonly EnvironmentSecrets[] => {
    const found = bySource.get(variableForm(source)) ?? [];
    const ownOnes = found.filter(({ by }) => by === "env_tenant");
    return found.filter((one) => one.by === "env_tenant" || ownOnes.every(({ tenant }) => tenant !== one.tenant));
  };
  return {
    ofSource,
    ofTenant: (tenant, source) => ofSource(source).find((one) => one.tenant === tenant) ?? null,
    unusable,
  };
}

/** E(x). */
const variableForm = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, "_");

/** No source's form begins with `_`; one that ends in `_PREVIOUS` could be taken for a previous secret. */
const takesSecrets = (source: string): boolean =>
  /^[A-Z0-9][A-Z0-9_]*$/.test(source) && !source.endsWith(previousSuffix);

/** What stands behind the prefix and before `_PREVIOUS` → the variables of that place that are set, the current first. */
function placesOf(environment: Readonly<Record<string, string | undefined>>): Map<string, readonly string[]> {
  const isSet = (place: string) => (environment[secretPrefix + place] ?? "") !== "";
  const places = new Map<string, readonly string[]>();
  // Sorted, a current one comes before its previous one.
  for (const name of Object.keys(environment).sort()) {
    const written = name.slice(secretPrefix.length);
    if (!name.startsWith(secretPrefix) || !isSet(written)) continue;
    const place = isPrevious(written, isSet) ? written.slice(0, -previousSuffix.length) : written;
    places.set(place, [...(places.get(place) ?? []), name]);
  }
  return places;
}

/**
 * Whether it is the place of a previous secret. `CI__PREVIOUS` may be meant for the source `ci.`, whose form is `CI_`,
 * or for the source `previous` of the tenant `ci`: it is the former's only beside that one's current secret.
 */
function isPrevious(written: string, isSet: (place: string) => boolean): boolean {
  if (!written.endsWith(previousSuffix)) return false;
  const current = written.slice(0, -previousSuffix.length);
  return !current.endsWith("_") || isSet(current);
}

/** A place's source and, where it names one, its tenant, both in the form of variables. */
function ownerOf(place: string): { readonly source: string; readonly owner: string | null } {
  // A tenant's form may hold `__`. A source's that does takes no secret, so that it can be told where the source begins.
  const between = place.lastIndexOf("__");
  if (between === -1) return { source: place, owner: null };
  return { source: place.slice(between + 2), owner: place.slice(0, between) };
}

/** The tenant of a source's own variable; null where the one named could be none: it is not guessed. */
function boundTenant(environment: Readonly<Record<string, string | undefined>>, source: string): string | null {
  const named = environment[tenantPrefix + source]?.trim() || environment.SVC_WEBHOOK_DEFAULT_TENANT?.trim();
  if (!named) return systemTenant;
  return isTenantSlug(named) ? named : null;
}

/** E undone. */
function tenantOf(form: string): string | null {
  const tenant = form.toLowerCase().replaceAll("_", "-");
  return variableForm(tenant) === form && isTenantSlug(tenant) ? tenant : null;
}

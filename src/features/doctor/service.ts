/**
 * The doctor: every part of an installation looked at at once, within a few seconds, with what to do about what is wrong.
 * What parts answer themselves (errors, addresses, keys) stays here.
 */
import type { Check } from "../../../actors/cluster/checks.ts";
import { remedies } from "../../../actors/cluster/checks.ts";
import { iso } from "../../../actors/kernel/time.ts";
import type { Mail } from "../../adapters/mail/port.ts";
import type { NodeModels, ProviderProbe } from "../../adapters/models/port.ts";
import type { Isolation } from "../../adapters/sandbox/port.ts";
import type { IssuerProbe } from "../../identity/tokens/realms.ts";
import { withTimeout } from "../../lib/timers.ts";

/** For one check; all run at once. */
const limitMs = 4_000;

/** A part that is looked at. */
export interface Look {
  readonly name: string;
  /** What to do where it fails, or does not answer in time. */
  readonly remedy: string;
  look(signal: AbortSignal): Promise<readonly Check[]>;
}

export interface Examination {
  readonly checks: readonly Check[];
  readonly at: string;
}

/** @param now Unix milliseconds */
export async function examine(looks: readonly Look[], now: () => number, withinMs = limitMs): Promise<Examination> {
  const signal = AbortSignal.timeout(withinMs);
  const found = await Promise.all(looks.map((one) => outcome(one, signal, withinMs)));
  return { checks: found.flat(), at: iso(now()) };
}

class Late extends Error {}

async function outcome({ name, remedy, look }: Look, signal: AbortSignal, withinMs: number): Promise<readonly Check[]> {
  try {
    return await withTimeout(look(signal), withinMs, () => new Late());
  } catch (error) {
    const seconds = withinMs / 1000;
    const message = error instanceof Late ? `It does not answer within ${seconds} s` : "It fails or cannot be reached";
    return [{ name, status: "fail", message, remedy }];
  }
}

const ok = (name: string, message: string): Check => ({ name, status: "ok", message, remedy: null });

/** @param kinds what holds agents, of each isolation */
export function sandboxLook(sandboxes: {
  readonly offered: readonly Isolation[];
  readonly kinds: readonly string[];
  readonly weaknesses: readonly { readonly code: string; readonly message: string }[];
}): Look {
  return {
    name: "sandbox",
    remedy: "Restart the node",
    look: async () => {
      const found = sandboxes.weaknesses.map(
        ({ code, message }): Check => ({
          name: "sandbox",
          status: "warn",
          message,
          remedy: remedies[code] ?? null,
        }),
      );
      const engine: Check = sandboxes.offered.includes("docker")
        ? ok("container_engine", "A container engine answers")
        : ok("container_engine", "No container engine answers: agents that name an image cannot start on this node");
      return [
        ...(found.length > 0 ? found : [ok("sandbox", `Agents are held by ${sandboxes.kinds.join(", ")}`)]),
        engine,
      ];
    },
  };
}

const modelFaults: Readonly<Record<ProviderProbe["outcome"], readonly [Check["status"], string, string | null]>> = {
  answers: ["ok", "answers and takes the key", null],
  scripted: [
    "warn",
    "stands in for models: what agents say is written in their manifests",
    "Put a key into OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or into the secret llm/openai, llm/anthropic or llm/google of svc-system, and reload the models",
  ],
  refused: ["fail", "does not take the key", "Give it a key that is in force, then reload the models"],
  no_key: ["fail", "has no key: the secret that is referred to is not there", "Write the secret in svc-system"],
  away: [
    "fail",
    "does not answer, or fails",
    "Look at its endpoint in llm_providers, and whether this node may reach it",
  ],
};

export function modelsLook(models: Pick<NodeModels, "probe" | "warning">): Look {
  return {
    name: "models",
    remedy: "Look at llm_providers in SVC_CONFIG_FILE",
    look: async (signal) => {
      const warning = models.warning();
      if (warning !== null) {
        const remedy = modelFaults.scripted[2];
        return [{ name: "models", status: "fail", message: "No model is served: agents cannot start", remedy }];
      }
      return (await models.probe(signal)).map(({ provider, outcome }): Check => {
        const [status, message, remedy] = modelFaults[outcome];
        return { name: "models", status, message: `${provider} ${message}`, remedy };
      });
    },
  };
}

/** @param own what the service is itself: the development issuer, the embedded provider, or neither */
export function issuerLooks(probes: readonly IssuerProbe[], own: "development" | "embedded" | null): readonly Look[] {
  const names = { development: "The development issuer", embedded: "The embedded identity provider" };
  const self: Look[] =
    own === null
      ? []
      : [{ name: "issuers", remedy: "", look: async () => [ok("issuers", `${names[own]} serves its own realms`)] }];
  return [
    ...self,
    ...probes.map(
      ({ slug, keys }): Look => ({
        name: "issuers",
        remedy: `Look at jwks_uri of the realm ${slug}, and whether this node may reach it`,
        look: async () => {
          const count = await keys(limitMs).catch(() => null);
          if (count !== null && count > 0) return [ok("issuers", `The issuer of ${slug} publishes ${count} keys`)];
          const what = count === 0 ? "publishes no keys" : "cannot be reached";
          const remedy = `Look at jwks_uri of the realm ${slug}, and whether this node may reach it`;
          return [{ name: "issuers", status: "fail", message: `The issuer of ${slug} ${what}`, remedy }];
        },
      }),
    ),
  ];
}

export function mailLook(mail: Pick<Mail, "probe"> | null): Look {
  return {
    name: "mail",
    remedy: "Look at SVC_SMTP_URL: the server, its port, user and password",
    look: async () => {
      if (mail === null) return [ok("mail", "No mail server is configured: links are shown instead of mailed")];
      await mail.probe();
      return [ok("mail", "The mail server lets the service in")];
    },
  };
}

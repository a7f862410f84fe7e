/**
 * The schema of an answer as a vendor's response format. It is an aid: the prompt says the same, and the validator
 * decides. So it is asked for only where the vendor is known to take one, and a model that refuses it is asked without.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Attempt, AttemptError, type AttemptReply } from "../attempt.ts";
import type { ModelCall } from "../call.ts";
import type { VendorCall } from "./conversation.ts";
import type { VendorType } from "./endpoint.ts";

/**
 * How far a vendor goes: `with_tools` constrains the last answer only, `alone` would keep the model from calling tools,
 * `named` takes it where the configuration lists the capability `json_schema`.
 */
const takes: Readonly<Record<VendorType, "with_tools" | "alone" | "named">> = {
  openai: "with_tools",
  anthropic: "with_tools",
  google: "alone",
  ollama: "alone",
  "openai-compatible": "named",
};
/** The capability of a model of configuration that takes a JSON Schema. */
const capability = "json_schema";
/** Pairs of a model and a schema that did not go together. */
const remembered = 1000;

/** The part of a request that asks for the format; the schemas of authors do not keep to vendors' strict subsets. */
export function responseFormat({ responseSchema }: ModelCall): Pick<VendorCall, "responseFormat" | "providerOptions"> {
  if (responseSchema === undefined) return {};
  return {
    responseFormat: { type: "json", schema: responseSchema, name: "result" },
    providerOptions: {
      openai: { strictJsonSchema: false },
      openaiCompatible: { strictJsonSchema: false },
      anthropic: { structuredOutputMode: "outputFormat" },
    },
  };
}

/** Of one provider. */
export class ResponseFormats {
  readonly #refused = new LRUCache<string, true>({ max: remembered });

  constructor(private readonly vendor: VendorType) {}

  /**
   * Makes an attempt with the format where it may help, and once more without where the vendor does not take it.
   * @throws AttemptError
   */
  async within(attempt: Attempt, once: (attempt: Attempt) => Promise<AttemptReply>): Promise<AttemptReply> {
    const { responseSchema, ...call } = attempt.call;
    const plain: Attempt = { ...attempt, call };
    if (responseSchema === undefined || !this.#fits(attempt)) return once(plain);
    const pair = createHash("sha256")
      .update(`${attempt.served.model}\n${JSON.stringify(responseSchema)}`)
      .digest("hex");
    if (this.#refused.has(pair)) return once(plain);
    try {
      return await once(attempt);
    } catch (error) {
      if (!(error instanceof AttemptError) || error.errorClass !== "invalid_input") throw error;
      const reply = await once(plain);
      this.#refused.set(pair, true);
      return reply;
    }
  }

  #fits({ call, served }: Attempt): boolean {
    const how = takes[this.vendor];
    if (how === "with_tools") return true;
    if (how === "named" && !served.capabilities.includes(capability)) return false;
    return call.tools.length === 0;
  }
}

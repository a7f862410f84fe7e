/** What a node is configured with, as operators may read it: without anything that opens something. */
import type { Json } from "../../actors/kernel/json.ts";
import type { SettingTable } from "../config/setting.ts";
import { Secret } from "../lib/secret.ts";

/** A setting as it stands. */
export interface ConfiguredSetting {
  /** The environment variable. */
  readonly name: string;
  readonly meaning: string;
  /** `[redacted]` for what is secret or may hold a secret; null: it is not set. */
  readonly value: Json;
}

const redacted = "[redacted]";
const secretNames = /PASSWORD|SECRET|TOKEN|CREDENTIAL|_KEY(?:_|S?$)|MASTER/;
/** `user:password@` of a URL, wherever in a text. */
const userInfo = /(:\/\/)[^/?#\s@]*@/g;
/** Values of a URL's query that may open something. */
const queryValue = /([?&](?:password|token|key|secret|sslkey|sslpassword)=)[^&\s]*/gi;

/** @param values by the names of the table */
export function configuredSettings(table: SettingTable, values: object): readonly ConfiguredSetting[] {
  return Object.entries(table)
    .map(([key, { name, meaning }]) => ({
      name,
      meaning,
      value: shown(name, (values as Readonly<Record<string, unknown>>)[key]),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function shown(name: string, value: unknown): Json {
  if (value === undefined || value === null || value === "") return null;
  if (value instanceof Secret || secretNames.test(name)) return redacted;
  if (typeof value === "string") return value.replace(userInfo, `$1${redacted}@`).replace(queryValue, `$1${redacted}`);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return value.map((one) => shown(name, one));
  // A document may have secrets anywhere.
  return redacted;
}

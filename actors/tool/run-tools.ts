/**
 * Agents and workflows as tools of the service's own tool server: what such a tool takes, and how its arguments are told
 * apart from what the client wants of the call itself. Pure.
 */
import { isObject, type Json } from "../kernel/json.ts";
import { canonicalName } from "./catalog.ts";

type Members = { readonly [name: string]: Json };

/** As a client of the tool server names a tool of the service: `svc_workflow_run`. */
export const clientName = (tool: string): string => canonicalName(tool).replaceAll(/[^A-Za-z0-9_-]/g, "_");

/** Seconds that a call waits for the end when it does not say. */
const defaultWaitSeconds = 50;
/** The longest that a call may wait. */
const maxWaitSeconds = 300;

const options = {
  wait_seconds: {
    type: "integer",
    minimum: 0,
    maximum: maxWaitSeconds,
    default: defaultWaitSeconds,
    description: "How long to wait for the end; then the answer is the execution's id",
  },
  cancel_on_disconnect: {
    type: "boolean",
    default: false,
    description: "Cancel the execution when this request ends before it",
  },
} as const;
type Option = keyof typeof options;

/** Where a schema's members stand: it describes an object of its own, or anything else, which is wrapped. */
const takesObject = (schema: Json): schema is Members =>
  isObject(schema) && (schema.type === "object" || (schema.type === undefined && isObject(schema.properties)));

const membersOf = ({ properties }: Members): Members => (isObject(properties) ? properties : {});

/** The options that such a tool has: those whose names its own members do not have. */
function optionsOf(schema: Json): readonly Option[] {
  const own = takesObject(schema) ? membersOf(schema) : {};
  return (Object.keys(options) as Option[]).filter((name) => !Object.hasOwn(own, name));
}

/**
 * The input schema of the tool that runs something whose input has this schema.
 * @param schema a JSON Schema; null: any input
 */
export function runSchema(schema: Json): Members {
  const offered = Object.fromEntries(optionsOf(schema).map((name) => [name, options[name]]));
  if (takesObject(schema)) {
    return { ...schema, type: "object", properties: { ...membersOf(schema), ...offered } };
  }
  return {
    type: "object",
    properties: { input: embedded(schema ?? {}), ...offered },
    required: ["input"],
  };
}

/** References in a schema that moves into another one still mean its own parts. */
function embedded(schema: Json): Json {
  if (!isObject(schema) || schema.$id !== undefined || !JSON.stringify(schema).includes('"$ref"')) return schema;
  return { $id: "urn:svc:input", ...schema };
}

export interface RunArguments {
  readonly input: Json;
  readonly waitSeconds: number;
  readonly cancelOnDisconnect: boolean;
}

/**
 * What the arguments of such a call say.
 * @param schema of the input, as for `runSchema`
 * @returns a text: what is wrong with them
 */
export function readRunArguments(schema: Json, given: Members): RunArguments | string {
  const offered = new Set<string>(optionsOf(schema));
  const waitSeconds = offered.has("wait_seconds") ? (given.wait_seconds ?? defaultWaitSeconds) : defaultWaitSeconds;
  const isWait = typeof waitSeconds === "number" && Number.isInteger(waitSeconds);
  if (!isWait || waitSeconds < 0 || waitSeconds > maxWaitSeconds) {
    return `wait_seconds must be an integer from 0 to ${maxWaitSeconds}`;
  }
  const cancelOnDisconnect = offered.has("cancel_on_disconnect") ? (given.cancel_on_disconnect ?? false) : false;
  if (typeof cancelOnDisconnect !== "boolean") return "cancel_on_disconnect must be true or false";
  if (takesObject(schema)) {
    const own = Object.entries(given).filter(([name]) => !offered.has(name));
    return { input: Object.fromEntries(own), waitSeconds, cancelOnDisconnect };
  }
  const { input } = given;
  if (input === undefined) return "input is missing";
  return { input, waitSeconds, cancelOnDisconnect };
}

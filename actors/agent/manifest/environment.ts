/** The agent's own environment, which may be written in three places. */
import { environmentName, noReference } from "../../manifest/members.ts";
import { pairs } from "../../manifest/shape.ts";

export const maxVariables = 128;
const reserved = /^(?:SVC|AEGIS|LD)_|^(?:PATH|HOME)$/;
const proxy = /^(?:https?|ftp|all|no)_proxy$/i;

export const environment = pairs(
  maxVariables,
  // Linux refuses to start a program with a longer variable.
  { key: environmentName, value: { max: 64 * 1024 } },
  (name, value) =>
    reserved.test(name) || proxy.test(name) ? ["is set by the service", "reserved_env"] : noReference(value),
);

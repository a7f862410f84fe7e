/** The text of a launchd agent. */
import type { UnitSpec } from "./spec.ts";

export const agentLabel = ({ name }: Pick<UnitSpec, "name">): string => `dev.svc.${name}`;

/** The daemon unloads the agent of this name when it must not be started again: launchd has no rule for it. */
export const agentVariable = "SVC_EDGE_LAUNCHD_AGENT";

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const string = (text: string): string => `<string>${escaped(text)}</string>`;
const entry = (key: string, value: string): readonly string[] => [`  <key>${escaped(key)}</key>`, `  ${value}`];

/** @param log where the daemon's words go */
export function launchdAgent(spec: UnitSpec, log: string): string {
  const environment = { ...spec.environment, [agentVariable]: agentLabel(spec) };
  const pairs = Object.entries(environment).map(([name, value]) => `<key>${escaped(name)}</key>${string(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    ...entry("Label", string(agentLabel(spec))),
    ...entry("ProgramArguments", `<array>${spec.command.map(string).join("")}</array>`),
    ...entry("EnvironmentVariables", `<dict>${pairs.join("")}</dict>`),
    ...entry("RunAtLoad", "<true/>"),
    ...entry("KeepAlive", "<true/>"),
    ...entry("ThrottleInterval", "<integer>5</integer>"),
    ...entry("ExitTimeOut", "<integer>120</integer>"),
    ...entry("ProcessType", string("Background")),
    ...entry("Umask", "<integer>63</integer>"),
    ...entry("StandardOutPath", string(log)),
    ...entry("StandardErrorPath", string(log)),
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

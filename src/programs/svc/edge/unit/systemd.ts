/** The text of a systemd unit. */
import type { UnitSpec } from "./spec.ts";

/** For `ExecStart` and `Environment`, in which `%` begins a specifier. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
/** In a command line `$` begins a variable. */
const argument = (text: string): string => quoted(text.replaceAll("$", "$$$$"));

/**
 * A daemon that was revoked, is not allowed, or is too old is not started again. At a stop it is asked alone: it lets its
 * commands end, or ends them.
 */
export function systemdUnit({ command, environment }: UnitSpec): string {
  return [
    "[Unit]",
    "Description=svc edge daemon",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${command.map(argument).join(" ")}`,
    ...Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    "Restart=always",
    "RestartSec=5",
    "RestartPreventExitStatus=2 3 5",
    "KillMode=mixed",
    "TimeoutStopSec=120",
    "UMask=0077",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** The table of verbs. Each is loaded when it is called, so that the daemon is as small as it can be. */
import type { VerbEntry } from "./command/run-command.ts";

export const verbs: readonly VerbEntry[] = [
  {
    name: "enroll",
    meaning: "Makes this machine a host, by a token",
    load: async () => (await import("./host/enroll.ts")).verb,
  },
  {
    name: "daemon",
    meaning: "Connects this machine and runs what its configuration allows",
    load: async () => (await import("./host/daemon.ts")).verb,
  },
  {
    name: "file-tool",
    meaning: "Does one call of a tool of files for the daemon",
    load: async () => (await import("./host/file-tool.ts")).verb,
    isInternal: true,
  },
  {
    name: "status",
    meaning: "Tells how the daemon of this machine is",
    load: async () => (await import("./host/status.ts")).verb,
  },
  {
    name: "logout",
    meaning: "Revokes this host and wipes its state",
    load: async () => (await import("./host/logout.ts")).verb,
  },
  {
    name: "service install",
    meaning: "Lets the system start the daemon (systemd or launchd)",
    load: async () => (await import("./unit/verbs.ts")).install,
  },
  {
    name: "service uninstall",
    meaning: "Stops the daemon and takes the service away",
    load: async () => (await import("./unit/verbs.ts")).uninstall,
  },
  {
    name: "service status",
    meaning: "Tells whether the service runs",
    load: async () => (await import("./unit/verbs.ts")).status,
  },
  {
    name: "service restart",
    meaning: "Restarts the daemon",
    load: async () => (await import("./unit/verbs.ts")).restart,
  },
  {
    name: "service logs",
    meaning: "Shows what the daemon has said",
    load: async () => (await import("./unit/verbs.ts")).logs,
  },
  {
    name: "update",
    meaning: "Replaces this program by a released one",
    load: async () => (await import("./update/verb.ts")).verb,
  },
  {
    name: "keys rotate",
    meaning: "Replaces the key of this host",
    load: async () => (await import("./host/rotate.ts")).verb,
  },
  {
    name: "keys revoke-remote",
    meaning: "The same as host revoke",
    load: async () => (await import("./hosts/host.ts")).revoke,
  },
  {
    name: "token create",
    meaning: "Makes a token that enrolls one host",
    load: async () => (await import("./tokens/create.ts")).verb,
  },
  { name: "token ls", meaning: "Lists enrollment tokens", load: async () => (await import("./tokens/ls.ts")).verb },
  {
    name: "token revoke",
    meaning: "Ends a token that has enrolled no host",
    load: async () => (await import("./tokens/revoke.ts")).verb,
  },
  { name: "ls", meaning: "Lists hosts", load: async () => (await import("./hosts/ls.ts")).verb },
  { name: "tag add", meaning: "Adds tags to a host", load: async () => (await import("./hosts/tag.ts")).add },
  { name: "tag rm", meaning: "Takes tags from a host", load: async () => (await import("./hosts/tag.ts")).remove },
  {
    name: "host hold",
    meaning: "Keeps new commands from a host",
    load: async () => (await import("./hosts/host.ts")).hold,
  },
  {
    name: "host accept",
    meaning: "Lets a host get new commands again",
    load: async () => (await import("./hosts/host.ts")).accept,
  },
  { name: "host revoke", meaning: "Ends a host for ever", load: async () => (await import("./hosts/host.ts")).revoke },
  { name: "group ls", meaning: "Lists groups of hosts", load: async () => (await import("./groups/groups.ts")).ls },
  { name: "group create", meaning: "Makes a group", load: async () => (await import("./groups/groups.ts")).create },
  {
    name: "group set-pinned",
    meaning: "Replaces the hosts that are members without matching",
    load: async () => (await import("./groups/groups.ts")).setPinned,
  },
  {
    name: "group rm",
    meaning: "Deletes a group; its hosts stay",
    load: async () => (await import("./groups/groups.ts")).remove,
  },
  {
    name: "fleet preview",
    meaning: "Tells which hosts a target means now",
    load: async () => (await import("./fleet/preview.ts")).verb,
  },
  {
    name: "fleet run",
    meaning: "Runs a tool or a command on hosts and follows it",
    load: async () => (await import("./fleet/run.ts")).verb,
  },
  {
    name: "fleet cancel",
    meaning: "Ends a run and what it has begun",
    load: async () => (await import("./fleet/steer.ts")).cancel,
  },
  {
    name: "fleet pause",
    meaning: "Begins nothing new in a run",
    load: async () => (await import("./fleet/steer.ts")).pause,
  },
  {
    name: "fleet resume",
    meaning: "Lets a paused run go on",
    load: async () => (await import("./fleet/steer.ts")).resume,
  },
  {
    name: "fleet retry",
    meaning: "Runs again where a run failed",
    load: async () => (await import("./fleet/retry.ts")).verb,
  },
  {
    name: "fleet runs",
    meaning: "Lists runs, shows one, or follows it",
    load: async () => (await import("./fleet/runs.ts")).verb,
  },
];

/** The configurations that enrollment writes: what a host allows from its first day. */
import { existsSync } from "node:fs";
import { replaceFile, type StateDirectory } from "../state/directory.ts";

export const profiles = ["standard", "full", "locked"] as const;
export type Profile = (typeof profiles)[number];

const head = `# What this host allows. Nothing that the service sends can change it or open more.
# The daemon reads this file when it starts.
slots: 4
`;

const contexts: Readonly<Record<Profile, string>> = {
  standard: `env: {pass: [PATH, HOME, LANG, TZ], allow: []}
contexts:
  - name: default
    capabilities:
      # Paths that are relative begin at the working directory (workdir).
      - {tool_pattern: "fs.*", path_allowlist: ["."]}
      - tool_pattern: cmd.run
        path_allowlist: ["."]
        # [""]: without any argument; []: with any.
        subcommand_allowlist:
${["uname", "hostname", "uptime", "date", "df", "free", "ps", "id", "whoami", "true", "false"]
  .map((command) => `          ${/^(true|false)$/.test(command) ? `"${command}"` : command}: [""]`)
  .join("\n")}
          echo: []
          sleep: []
`,
  full: `env: {pass: [PATH, HOME, LANG, TZ], allow: ["*"]}
contexts:
  - name: default
    capabilities:
      - {tool_pattern: "*"}
`,
  locked: `env: {pass: [PATH, HOME, LANG, TZ], allow: []}
contexts: []
`,
};

export const profileText = (profile: Profile): string => head + contexts[profile];

/** @param path of the file @returns false where there is one already, which stays unless `replace` */
export function writeProfile(state: StateDirectory, profile: Profile, replace: boolean, path = state.config): boolean {
  if (!replace && existsSync(path)) return false;
  replaceFile(path, profileText(profile));
  return true;
}

/**
 * The environment an instance gets, and the shell text that turns into the program with exactly that
 * environment. The text reaches the shell by descriptor 3, so the token is in no file the agent can open
 * and in no argument list another user of the host could read.
 */

/** Reads the start text from descriptor 3 and becomes what it says. */
export const startCommand = ["/bin/sh", "-c", 'eval "$(cat <&3)"'] as const;

/** Kernel's bound on one argument or variable, its final NUL included. */
const longestString = 131_072;

/** True when a text can be handed over as an argument (the contract's bound is 96 KiB). */
export function fitsArgument(prompt: string): boolean {
  return Buffer.byteLength(prompt) <= 96 * 1_024 && !prompt.includes("\0") && prompt !== "";
}

export interface Places {
  readonly workspace: string;
  readonly gatewaySockets: string;
  /** Where the prompt's file is; null when the prompt is an argument. */
  readonly promptFile: string | null;
  /** True inside an own network namespace. */
  readonly relay: boolean;
}

/**
 * The given variables and the few that only the sandbox knows. Names that are no names are left out, and
 * so are values longer than the kernel takes.
 * @returns the environment, and the names left out
 */
export function instanceEnvironment(
  given: Readonly<Record<string, string>>,
  places: Places,
): { readonly environment: Record<string, string>; readonly leftOut: readonly string[] } {
  const ours: Record<string, string> = {
    SVC_WORKSPACE: places.workspace,
    SVC_GATEWAY_SOCKETS: places.gatewaySockets,
    ...(places.relay ? { SVC_GATEWAY_RELAY: "true" } : {}),
    ...(places.promptFile === null ? {} : { SVC_PROMPT_FILE: places.promptFile }),
  };
  const spelledTwice = Object.entries(ours).flatMap(([name, value]) => [
    [name, value] as const,
    [name.replace("SVC_", "AEGIS_"), value] as const,
  ]);
  const wanted = { ...defaults, HOME: places.workspace, ...given, ...Object.fromEntries(spelledTwice) };
  const environment: Record<string, string> = {};
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const usable =
      /^[^=\0]+$/.test(name) && !value.includes("\0") && Buffer.byteLength(`${name}=${value}`) < longestString;
    if (usable) environment[name] = value;
    else leftOut.push(name);
  }
  return { environment, leftOut };
}

const defaults = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" } as const;

/** @param cwd directory the program starts in; a command's own directory is the bootstrap's business */
export function startText(environment: Readonly<Record<string, string>>, argv: readonly string[], cwd: string): string {
  const assignments = Object.entries(environment).map(([name, value]) => quoted(`${name}=${value}`));
  return [
    "exec 3<&-",
    `cd ${quoted(cwd)}`,
    `exec /usr/bin/env -i -- ${[...assignments, ...argv.map(quoted)].join(" ")}`,
  ].join("\n");
}

/** One word of a shell command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `svc completion`. */
import type { Command } from "commander";
import { addVerb } from "../frame/verb.ts";

export function completion(program: Command): void {
  addVerb(program, {
    words: "completion <shell>",
    summary: "Print completions for a shell",
    about: { shell: "bash, zsh or fish" },
    examples: [
      ["source <(svc completion bash)", "In ~/.bashrc"],
      ["svc completion zsh > ~/.zfunc/_svc", "A file of $fpath"],
      ["svc completion fish > ~/.config/fish/completions/svc.fish", "For fish"],
    ],
    async run({ out, tree }, [shell]) {
      const { completionScript } = await import("../completion/scripts.ts");
      out.raw(completionScript(shell, await tree()));
    },
  });
}

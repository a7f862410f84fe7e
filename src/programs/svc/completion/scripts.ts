/** Completions of shells, made of the tree of commands: no call is needed while one types. */
import type { Command } from "commander";
import { usageFailure } from "../process/exit.ts";
import { type Node, nodesOf } from "./words.ts";

/** @throws Failure `usage` for a shell that is not known */
export function completionScript(shell: string, root: Command): string {
  const nodes = nodesOf(root);
  if (shell === "bash") return bash(nodes);
  if (shell === "zsh") return zsh(nodes);
  if (shell === "fish") return fish(nodes);
  throw usageFailure(`There are completions for bash, zsh and fish, not for ${shell}`);
}

const key = (path: readonly string[]): string => ["svc", ...path].join(" ");
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The words before the cursor lead to a node; options with a value take the word behind them. */
function bash(nodes: readonly Node[]): string {
  const valued = [
    ...new Set(nodes.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ word }) => word))),
  ];
  const cases = nodes.map(({ path, commands, options }) => {
    const words = commands.map(({ word }) => word).join(" ");
    return `    ${quoted(key(path))}) commands=${quoted(words)}; options=${quoted(options.map(({ word }) => word).join(" "))} ;;`;
  });
  const choices = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map((option) => `    ${quoted(`${key(path)} ${option.word}`)}) values=${quoted(option.choices.join(" "))} ;;`),
  );
  return `# Completions of svc for bash: source <(svc completion bash)
_svc_node() {
  commands="" options=""
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}

_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local node="svc" commands options values="" at word
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      ${valued.join("|")}) ((at++)); continue ;;
      -*) continue ;;
    esac
    _svc_node "$node" && [[ " $commands " == *" $word "* ]] && node="$node $word"
  done
  case "$node $previous" in
${choices.join("\n")}
  esac
  if [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
    return
  fi
  case "$previous" in
    ${valued.join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  _svc_node "$node"
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _svc svc
`;
}

const zshText = (text: string): string => text.replaceAll(/[\\:]/g, "\\$&");

function zsh(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, options }) => {
    const described = (words: readonly { readonly word: string; readonly meaning: string }[]) =>
      words.map(({ word, meaning }) => quoted(`${zshText(word)}:${zshText(meaning)}`)).join(" ");
    return `    ${quoted(key(path))}) commands=(${described(commands)}); options=(${described(options)}) ;;`;
  });
  const valued = [
    ...new Set(nodes.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ word }) => word))),
  ];
  return `#compdef svc
# Completions of svc for zsh: a file _svc in a folder of $fpath.
_svc_node() {
  commands=() options=()
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}

_svc() {
  local node="svc" at word
  local -a commands options
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    case "$word" in
      ${valued.join("|")}) ((at++)); continue ;;
      -*) continue ;;
    esac
    _svc_node "$node" && [[ -n "\${(M)commands:#$word:*}" ]] && node="$node $word"
  done
  _svc_node "$node"
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'option' options
  elif (( \${#commands} )); then
    _describe 'command' commands
  else
    _files
  fi
}
(( \${+functions[compdef]} )) && compdef _svc svc
[[ "\${funcstack[1]}" == _svc ]] && _svc "$@"
`;
}

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const condition = `__svc_at ${path.map(quoted).join(" ")}`.trim();
    const nouns = commands.map(
      ({ word, meaning }) => `complete -c svc -f -n ${quoted(condition)} -a ${quoted(word)} -d ${quoted(meaning)}`,
    );
    const flags = options.map(({ word, meaning, takesValue, choices }) => {
      const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
      return `complete -c svc -n ${quoted(condition)} -l ${quoted(word.slice(2))} -d ${quoted(meaning)}${values}`;
    });
    return [...nouns, ...flags];
  });
  return `# Completions of svc for fish: ~/.config/fish/completions/svc.fish
function __svc_at
  set -l words (commandline -opc)
  set -l plain
  for word in $words[2..]
    string match -q -- '-*' $word; or set -a plain $word
  end
  set -l count (count $argv)
  test (count $plain) -ge $count; or return 1
  for at in (seq $count)
    test "$plain[$at]" = "$argv[$at]"; or return 1
  end
  test $count -gt 0; and return 0
  test (count $plain) -eq 0
end
${lines.join("\n")}
`;
}

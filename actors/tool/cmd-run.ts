/** `cmd.run` as a model sees it. What becomes of a call is in `actors/execution/loop/command.ts`. */
import { type Static, Type } from "@sinclair/typebox";

export const CmdRunArguments = Type.Object({
  command: Type.String({
    minLength: 1,
    description: "The program, or a whole command line when `args` is left out",
  }),
  args: Type.Optional(Type.Array(Type.String(), { description: "Arguments, passed as they are" })),
  cwd: Type.String({ minLength: 1, default: "/workspace", description: "Working directory" }),
  env_additions: Type.Record(Type.String(), Type.String(), { default: {} }),
  timeout_secs: Type.Integer({ minimum: 1, maximum: 3600, default: 600 }),
  max_output_bytes: Type.Integer({ minimum: 1, maximum: 8_388_608, default: 1_048_576 }),
});
export type CmdRunArguments = Static<typeof CmdRunArguments>;

export const cmdRunDescription =
  "Run a program in the agent's sandbox and wait for it. With `args` the command is one program; " +
  "without, it is split like a shell line, and shell syntax runs under /bin/sh. " +
  "Answers exit_code, stdout and stderr.";

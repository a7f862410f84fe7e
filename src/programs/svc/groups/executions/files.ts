/** `executions files ls` and `get`: what lies in the volumes of an execution. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { saved } from "../../frame/saved.ts";
import { addGroup, addVerb } from "../../frame/verb.ts";
import { bytes } from "../../output/cells.ts";
import { say } from "../../output/inert.ts";
import { aboutExecution, executionId } from "./find.ts";

export function addFiles(executions: Command): void {
  const files = addGroup(executions, "files", "List and download files of an execution");
  addList(files, {
    words: "ls <execution> [path]",
    alias: "list",
    summary: "List files",
    about: { ...aboutExecution, path: "a folder; /workspace without it" },
    options: { "-r, --recursive": "folders within as well" },
    async page({ client }, _, { recursive }, [word, path]) {
      const service = await client();
      const id = await executionId(service, word);
      const query = given({ path, recursive });
      return answer(service.GET("/v1/executions/{id}/files", { params: { path: { id }, query } }));
    },
    columns: [
      { name: "path", value: ({ path, is_dir }) => (is_dir ? `${path}/` : path) },
      { name: "size", value: ({ size_bytes, is_dir }) => (is_dir ? null : size_bytes), kind: "bytes" },
      { name: "modified", value: ({ modified_at }) => modified_at, kind: "time" },
      { name: "type", value: ({ mime_type }) => mime_type },
      { name: "sha256", value: ({ sha256 }) => sha256 },
    ],
    usual: 4,
    empty: "There are no files.",
    examples: [["svc executions files ls last --recursive", "Everything in the workspace of the newest one"]],
  });
  addVerb(files, {
    words: "get <execution> <path>",
    summary: "Download a file",
    about: { ...aboutExecution, path: "of the file, as `files ls` shows it" },
    more: "A terminal shows text alone, without what would steer it; a pipe and a file get the very bytes. You alone can read the file.",
    options: { "-o, --output <file>": "write it there; - is standard output, which is usual" },
    examples: [["svc executions files get last report.pdf -o report.pdf", "Download a file"]],
    async run({ io, out, client }, [word, path], { output = "-" }) {
      const service = await client();
      const id = await executionId(service, word);
      const encoded = path.split("/").map(encodeURIComponent).join("/");
      const response = await service.send(`/v1/executions/${id}/files/${encoded.replace(/^\/+/, "")}`);
      const size = await saved(io, output, response.body);
      if (output === "-") return;
      await out.data({ file: output, size_bytes: size });
      out.line(say`${out.colours.green("✓")} Wrote ${output} (${bytes(size)})`);
    },
  });
}

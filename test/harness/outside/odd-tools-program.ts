/** `odd-tools.ts` over standard input and output; the mode is the first argument. */

import { request } from "node:http";
import { createInterface } from "node:readline";
import { oddTools } from "./odd-tools.ts";

/** A request through the proxy that the environment names. @returns its status, or the error's code */
function proxied(url: string): Promise<string> {
  const proxy = new URL(process.env.HTTP_PROXY ?? "http://127.0.0.1:1");
  const login = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString(
    "base64",
  );
  return new Promise((resolve) => {
    const asked = request(
      {
        host: proxy.hostname,
        port: proxy.port,
        path: url,
        headers: { host: new URL(url).host, "Proxy-Authorization": `Basic ${login}` },
      },
      (answer) => {
        answer.resume();
        resolve(String(answer.statusCode));
      },
    );
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "failed"));
    asked.end();
  });
}

const mode = process.argv[2] ?? "";
if (mode === "crash:start") process.exit(2);
process.stderr.write(`begun ${process.env.ODD_TOKEN ?? ""}\n`);
const served = oddTools(
  mode,
  {
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    raw: (text) => void process.stdout.write(text),
    exit: (code) => process.exit(code),
    proxied,
  },
  process.env,
);
if (mode !== "hang:start")
  createInterface({ input: process.stdin }).on("line", (line) => served.take(JSON.parse(line)));

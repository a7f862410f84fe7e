/** Requests written by hand onto a socket, for what `fetch` would not send. */
import { connect } from "node:net";

/** Sends the pieces and reads until the server closes, or until an answer stands complete. */
export function rawRequest(port: number, pieces: readonly string[], timeoutMs = 15_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(received);
    };
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer within ${timeoutMs} ms; so far: ${received}`));
    }, timeoutMs);
    socket.on("data", (data) => {
      received += data.toString("latin1");
      const [head = "", body] = received.split("\r\n\r\n");
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (body !== undefined && length !== undefined && body.length >= Number(length)) finish();
    });
    socket.on("close", finish);
    socket.on("error", finish);
    for (const piece of pieces) socket.write(piece);
  });
}

/** Status, headers and JSON body of an answer. */
export function parseAnswer(answer: string): { status: number; headers: Headers; body: Record<string, unknown> } {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = new Headers(
    lines.map((each): [string, string] => [each.split(": ")[0] ?? "", each.split(": ")[1] ?? ""]),
  );
  return { status: Number(line.split(" ")[1]), headers, body: body === "" ? {} : JSON.parse(body) };
}

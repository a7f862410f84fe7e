/** Files sent to the service, with their progress. */
import type { Client, Schemas } from "./client.ts";
import { refusal, Unreachable } from "./errors.ts";

export interface UploadOptions {
  /** Told as the bytes leave. @param sent bytes; from 0 again where the token had to be renewed */
  readonly onProgress?: (sent: number, total: number) => void;
  readonly signal?: AbortSignal;
  /** An upload that does not get on for so long is given up, ms; 250,000 when absent. */
  readonly stallMs?: number;
}

const usualStallMs = 250_000;

interface Sending {
  readonly url: string;
  readonly headers: Headers;
  readonly file: Blob;
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

interface Answered {
  readonly status: number;
  readonly reason: string;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends the bytes of a file. Browsers tell their progress by `XMLHttpRequest` alone; elsewhere it is what the connection
 * has taken.
 * @param path `/v1/volumes/<id>/files/upload?path=<where>`
 * @param file of a `File` the name counts, where the path names none
 * @throws ApiError, Unreachable; the signal's reason
 */
export async function upload(
  client: Client,
  path: string,
  file: Blob,
  { onProgress, signal, stallMs = usualStallMs }: UploadOptions = {},
): Promise<Schemas["FileUploaded"]> {
  signal?.throwIfAborted();
  const ending = new AbortController();
  const leave = () => ending.abort();
  signal?.addEventListener("abort", leave);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gotOn = () => {
    clearTimeout(timer);
    timer = setTimeout(leave, stallMs);
  };
  const progress = (sent: number) => {
    gotOn();
    onProgress?.(sent, file.size);
  };
  const attempt = async (refused: string | null) => {
    const headers = new Headers({ "Content-Type": "application/octet-stream" });
    const { name } = file as Partial<File>;
    if (name) headers.set("X-Filename", encodeURIComponent(name));
    const bearer = await client.identify(headers, refused);
    gotOn();
    const job = { url: client.url + path, headers, file, onProgress: progress, signal: ending.signal };
    const answered = bearer === refused && refused !== null ? null : await sendBytes(job);
    return { answered, bearer };
  };
  try {
    const first = await attempt(null);
    const isRefused = first.answered?.status === 401 && first.bearer !== null;
    const { answered } = isRefused ? await attempt(first.bearer) : first;
    return read(answered ?? first.answered);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw ending.signal.aborted ? new Unreachable(new Error(`nothing was taken for ${stallMs / 1000} s`)) : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

function read(answered: Answered | null): Schemas["FileUploaded"] {
  if (answered === null) throw new Error("unreachable: the first attempt was answered");
  const { status, reason, headers, text } = answered;
  if (status < 200 || status > 299) throw refusal(status, reason, headers, text);
  return JSON.parse(text);
}

const sendBytes = (job: Sending): Promise<Answered> =>
  typeof XMLHttpRequest === "function" ? sendByBrowser(job) : sendByStream(job);

function sendByBrowser({ url, headers, file, onProgress, signal }: Sending): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const settle = (end: () => void) => () => {
      signal.removeEventListener("abort", abort);
      end();
    };
    request.open("POST", url);
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = settle(() =>
      resolve({
        status: request.status,
        reason: request.statusText,
        headers: headersOf(request.getAllResponseHeaders()),
        text: request.responseText,
      }),
    );
    request.onerror = settle(() => reject(new Unreachable(new Error("the connection broke"))));
    request.onabort = settle(() => reject(new Unreachable(new Error("it was given up"))));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else request.send(file);
  });
}

function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.split("\r\n")) {
    const [name = "", value] = line.split(/: (.*)/s);
    if (value !== undefined) headers.append(name, value);
  }
  return headers;
}

async function sendByStream({ url, headers, file, onProgress, signal }: Sending): Promise<Answered> {
  let sent = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sent += chunk.byteLength;
      onProgress(sent);
      controller.enqueue(chunk);
    },
  });
  const body = file.stream().pipeThrough(counted as TransformStream);
  try {
    // A stream goes one way before the answer comes; the types of `fetch` do not know it everywhere.
    const init = { method: "POST", headers, body, signal, duplex: "half" } as RequestInit;
    const response = await fetch(url, init);
    return {
      status: response.status,
      reason: response.statusText,
      headers: response.headers,
      text: await response.text(),
    };
  } catch (error) {
    throw new Unreachable(error);
  }
}

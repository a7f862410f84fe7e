import { expect, test } from "bun:test";
import fc from "fast-check";
import { OutputFramer } from "../../../../src/adapters/sandbox/docker/keeper/output-framer.ts";
import {
  type Frame,
  FrameReader,
  frameBytesOf,
  frameMark,
  liveBytes,
} from "../../../../src/adapters/sandbox/docker/keeper/protocol.ts";
import { OutputBuffer } from "../../../../src/adapters/sandbox/docker/output-buffer.ts";
import type { OutputChunk } from "../../../../src/adapters/sandbox/port.ts";

const framesOf = (text: string): Frame[] => [...new FrameReader().read(text)];
const nowhere = { stdout: 0, stderr: 0 };

function bookOf(text: string, from = nowhere) {
  const chunks: OutputChunk[] = [];
  const buffer = new OutputBuffer({ from, onOutput: (chunk) => chunks.push(chunk) });
  for (const frame of framesOf(text)) buffer.add(frame);
  return { chunks, ...buffer.conclude() };
}

const told = (chunks: readonly OutputChunk[]) => chunks.map(({ content }) => content).join("");

test("frames survive any cut and any change of line ends", () => {
  const pieces = fc.array(
    fc.tuple(fc.constantFrom("stdout" as const, "stderr" as const), fc.string({ unit: "binary" })),
  );
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 50 }), fc.boolean(), (written, size, mangled) => {
      let log = "";
      const funnels = {
        stdout: new OutputFramer("stdout", (text) => (log += text)),
        stderr: new OutputFramer("stderr", (text) => (log += text)),
      };
      for (const [stream, text] of written) funnels[stream].write(Buffer.from(text));
      for (const framer of Object.values(funnels)) framer.finish();
      if (mangled) log = log.replaceAll("\n", "").replaceAll(/(.{7})/g, "$1\r\n");
      const reader = new FrameReader();
      const chunks: OutputChunk[] = [];
      const buffer = new OutputBuffer({ from: nowhere, onOutput: (chunk) => chunks.push(chunk) });
      for (let at = 0; at < log.length; at += size) {
        for (const frame of reader.read(log.slice(at, at + size))) buffer.add(frame);
      }
      const shown = buffer.conclude();
      const textOf = (stream: string) =>
        written
          .filter(([s]) => s === stream)
          .map(([, text]) => text)
          .join("");
      const decoded = (stream: string) =>
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(textOf(stream)));
      expect(told(chunks.filter((c) => c.stream === "stdout"))).toBe(decoded("stdout"));
      expect(told(chunks.filter((c) => c.stream === "stderr"))).toBe(decoded("stderr"));
      expect(Buffer.byteLength(shown.stdout)).toBeGreaterThanOrEqual(0);
      expect(shown.stdoutTruncated).toBe(false);
    }),
  );
});

test("a second reading tells nothing twice, and goes on in the middle of a character", () => {
  const text = "héllo wörld";
  const bytes = Buffer.from(text);
  for (let from = 0; from <= bytes.length; from += 1) {
    if (((bytes[from] ?? 0) & 0xc0) === 0x80) continue;
    const log = [...bytes].map((_, at) => frameBytesOf("stdout", at, bytes.subarray(at, at + 1))).join("");
    const { chunks, stdout } = bookOf(log + log, { stdout: from, stderr: 0 });
    expect(told(chunks)).toBe(bytes.subarray(from).toString());
    expect(chunks[0]?.offset ?? from).toBe(from);
    expect(stdout).toBe(text);
  }
});

test("a long stream comes as its start and its end; the log stays bounded", () => {
  let log = "";
  const framer = new OutputFramer("stdout", (text) => (log += text));
  framer.write(Buffer.from("first\n"));
  for (let written = 0; written < 20; written += 1) framer.write(Buffer.alloc(1_000_000, "x"));
  framer.write(Buffer.from("last\n"));
  framer.finish();
  expect(log.length).toBeLessThan(3 * liveBytes);
  const { chunks, stdout, stdoutTruncated } = bookOf(log);
  expect(stdoutTruncated).toBe(true);
  expect(stdout.startsWith("first\n")).toBe(true);
  expect(stdout.endsWith("last\n")).toBe(true);
  expect(stdout).toContain("\n[trimmed ");
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(liveBytes);
  const last = chunks.at(-1);
  expect((last?.offset ?? 0) + (last?.bytes ?? 0)).toBe(20_000_011);
});

test("killed before its end came, a long stream is known to be cut", () => {
  let log = "";
  const framer = new OutputFramer("stdout", (text) => (log += text));
  for (let written = 0; written < 3; written += 1) framer.write(Buffer.alloc(1_000_000, "x"));
  expect(bookOf(log)).toMatchObject({ stdoutTruncated: true });
  framer.flush();
  const { stdout, chunks } = bookOf(log);
  expect(stdout).toContain("[trimmed ");
  expect((chunks.at(-1)?.offset ?? 0) + (chunks.at(-1)?.bytes ?? 0)).toBe(3_000_000);
});

test("what is no frame is skipped", () => {
  const good = frameBytesOf("stderr", 0, Buffer.from("ok"));
  for (const noise of ["~", ";", "~o:;", "~x0:aaaa;", "~o1;", "~o99999999999999999999:aaaa;", "\0\n~m~;", "a~;b;"]) {
    expect(bookOf(noise + good).stderr).toBe("ok");
  }
  expect(framesOf(`~${"a".repeat(100_000)}`)).toEqual([]);
  expect(framesOf(frameMark("stdout", 7, "end"))).toEqual([{ kind: "end", stream: "stdout", offset: 7 }]);
});

/** The way to the service: through a proxy, by a certificate of one's own, and as another user (docs/reference/edge-daemon.md). */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EdgeService } from "../../harness/outside/edge-service.ts";
import { until } from "../../harness/until.ts";
import { commandId, openConfig, TestHost } from "./harness.ts";

const certificates = join(import.meta.dir, "../../adapters/egress/certificate");
const tls = {
  cert: readFileSync(join(certificates, "cert.pem"), "utf8"),
  key: readFileSync(join(certificates, "key.pem"), "utf8"),
};

/** A proxy that makes tunnels, and remembers to where. */
function startProxy(target: () => number) {
  const asked: string[] = [];
  type Tunnel = { head: string; other: Bun.Socket<{ back: Bun.Socket<Tunnel> }> | null };
  const proxy = Bun.listen<Tunnel>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { head: "", other: null };
      },
      data: async (socket, bytes) => {
        if (socket.data.other !== null) return void socket.data.other.write(bytes);
        socket.data.head += bytes.toString("latin1");
        if (!socket.data.head.includes("\r\n\r\n")) return;
        asked.push(socket.data.head.split("\r\n")[0] ?? "");
        socket.data.other = await Bun.connect<{ back: typeof socket }>({
          hostname: "127.0.0.1",
          port: target(),
          data: { back: socket },
          socket: {
            data: (other, answer) => void other.data.back.write(answer),
            close: (other) => void other.data.back.end(),
          },
        });
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
      },
      close: (socket) => void socket.data.other?.end(),
    },
  });
  return { asked, url: `http://127.0.0.1:${proxy.port}`, stop: () => proxy.stop(true) };
}

test("a daemon goes through the proxy, and trusts the certificates that it is given", async () => {
  const service = new EdgeService(tls);
  const proxy = startProxy(() => service.port);
  const host = new TestHost(openConfig, service, "wss://api.test:8443/v1/edge/connect");
  host.start({ env: { HTTPS_PROXY: proxy.url } });
  // Without that certificate the service is not believed.
  await until(() => (host.status()?.last_error ?? "") !== "");
  expect(service.peers).toHaveLength(0);
  await host.kill();
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: join(certificates, "cert.pem") };
  const peer = await host.connected({ env });
  const id = commandId();
  peer.invoke({ command_id: id, args: { command: "true" } });
  expect((await peer.resultOf(id)).status).toBe("ok");
  expect(proxy.asked.at(-1)).toBe("CONNECT api.test:8443 HTTP/1.1");
  await host.end();
  proxy.stop();
});

test("a link that others could read is refused", async () => {
  const host = new TestHost(openConfig, new EdgeService(), "ws://example.com/v1/edge/connect");
  expect(await host.start().exited).toBe(2);
  await until(() => host.log.includes("is no wss:// address"));
  await host.end();
});

test.skipIf(process.getuid?.() !== 0).each(["auto", "off"])(
  "commands run as the user that the host names, with the sandbox %s",
  async (sandbox) => {
    const host = new TestHost(openConfig);
    const work = host.path("work");
    mkdirSync(work);
    for (const path of [host.top, work]) chmodSync(path, 0o777);
    const config = `${openConfig}run_as: nobody\nworkdir: ${work}\nsandbox: ${sandbox}\n`;
    await Bun.write(host.state.config, config);
    const peer = await host.connected();
    const id = commandId();
    const script = `id -un; touch made; echo seen > /dev/stderr; cat ${host.state.key}`;
    peer.invoke({ command_id: id, args: { command: "sh", args: ["-c", script] } });
    const result = await peer.resultOf(id);
    expect(result).toMatchObject({ status: "err", exit_code: 1, stdout_tail: "nobody\n" });
    expect(result.stderr_tail).toStartWith("seen\n");
    await host.end();
  },
);

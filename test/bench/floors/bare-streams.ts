/** The least a server with event streams can be: the floor of the stream bench. */
interface Direct {
  write(text: string): unknown;
  flush(): unknown;
}

const streams = new Set<Direct>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 255,
  fetch(request) {
    if (new URL(request.url).pathname === "/send") {
      for (const stream of streams) {
        stream.write("data: event\n\n");
        stream.flush();
      }
      return new Response("sent");
    }
    const source = {
      type: "direct",
      pull: (stream: Direct) =>
        new Promise<void>(() => {
          streams.add(stream);
          stream.write(": open\n\n");
          stream.flush();
        }),
    };
    return new Response(new ReadableStream(source as unknown as UnderlyingDefaultSource), {
      headers: { "Content-Type": "text/event-stream" },
    });
  },
});
console.log(server.port);

export {};

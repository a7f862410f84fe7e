/**
 * The far side of a black hole: forwards TCP to Unix sockets, in a network namespace whose packets the test drops.
 * Arguments: pairs of a port and the path of a socket. Says `ready` once all ports listen.
 */
import { connect, createServer } from "node:net";

const pairs = process.argv.slice(2);
for (let at = 0; at < pairs.length; at += 2) {
  const server = createServer((client) => {
    const store = connect(String(pairs[at + 1]));
    for (const socket of [client, store]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        store.destroy();
      });
    }
    client.pipe(store);
    store.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(Number(pairs[at]), "0.0.0.0", resolve));
}
console.log("ready");

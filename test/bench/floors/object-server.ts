/** A server that speaks S3's protocol, in a process of its own: `object-server.ts <folder>`. */
import S3rver from "s3rver";

const [, , directory = ""] = process.argv;
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: "files", configs: [] }],
});
const { port } = await server.run();
console.log(JSON.stringify({ port }));

/** The least a page can be: a script that writes a heading; and a list of so many rows without anything behind it. */
const [rows = "0"] = process.argv.slice(2);

const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bare</title>
<script type="module" src="/bare.js"></script></head><body></body></html>`;
const script = `document.body.innerHTML = "<main><h1>Bare</h1></main>";`;
const list = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bare</title></head><body>
<div id="list" style="height: 600px; overflow: auto">${Array.from(
  { length: Number(rows) },
  (_, row) =>
    `<div style="height: 40px; display: flex; gap: 2em"><b>row ${row}</b><span>completed</span><a href="#">open</a></div>`,
).join("")}</div></body></html>`;

const html = { headers: { "Content-Type": "text/html; charset=utf-8" } };
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/": () => new Response(page, html),
    "/bare.js": () => new Response(script, { headers: { "Content-Type": "text/javascript" } }),
    "/list": () => new Response(list, html),
  },
});
console.log(server.port);

export {};

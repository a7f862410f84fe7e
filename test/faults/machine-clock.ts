/** Preloaded into a node: its machine's clock is off by SVC_TEST_CLOCK_MS. */
const off = Number(process.env.SVC_TEST_CLOCK_MS ?? 0);
const RealDate = Date;
const wrong = () => RealDate.now() + off;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters) =>
    Reflect.construct(target, parameters.length === 0 ? [wrong()] : parameters) as object,
  get: (target, name, receiver) => (name === "now" ? wrong : Reflect.get(target, name, receiver)),
});

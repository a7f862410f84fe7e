/** A person's browser, as far as the provider's pages need one: cookies by path, redirects, and forms. */

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly attributes: string;
}

export interface Shown {
  readonly status: number;
  readonly url: URL;
  readonly html: string;
  readonly headers: Headers;
}

const unescaped = (text: string): string =>
  text
    .replaceAll("&#x27;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");

export class Browser {
  private cookies: Cookie[] = [];
  /** The last page. */
  shown: Shown | null = null;
  /** Every text that was received, for searches of what must not be there. */
  readonly received: string[] = [];

  /**
   * @param publicUrl where pages say that they are
   * @param nodeUrl   where they really are; a function, since nodes change
   */
  constructor(
    private readonly publicUrl: string,
    private readonly nodeUrl: () => string,
    private readonly agent = "test browser",
  ) {}

  /** Opens a page, and follows where it leads as long as that is the provider. */
  open(url: string): Promise<Shown> {
    return this.visit(new URL(url, this.publicUrl), { method: "GET" });
  }

  /** Sends the form of the page that has these fields. @param button its name and value, where it has several */
  submit(fields: Readonly<Record<string, string>>, button?: readonly [name: string, value: string]): Promise<Shown> {
    const { shown } = this;
    if (shown === null) throw new Error("no page is open");
    const forms = [...shown.html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = "", body = ""]) => {
      const inputs = [...body.matchAll(/<input([^>]*)>/g)].map(([, text = ""]) => ({
        name: unescaped(/name="([^"]*)"/.exec(text)?.[1] ?? ""),
        value: unescaped(/value="([^"]*)"/.exec(text)?.[1] ?? ""),
      }));
      const buttons = [...body.matchAll(/<button([^>]*)>/g)].map(([, text = ""]) => ({
        name: /name="([^"]*)"/.exec(text)?.[1] ?? "",
        value: /value="([^"]*)"/.exec(text)?.[1] ?? "",
      }));
      return { action: unescaped(/action="([^"]*)"/.exec(head)?.[1] ?? ""), inputs, buttons };
    });
    const form = forms.find(
      ({ inputs, buttons }) =>
        Object.keys(fields).every((name) => inputs.some((input) => input.name === name)) &&
        (button === undefined || buttons.some(({ name, value }) => name === button[0] && value === button[1])),
    );
    if (form === undefined) throw new Error(`no form with ${Object.keys(fields)} ${button}: ${shown.html}`);
    const [pressed] = form.buttons;
    const body = new URLSearchParams(form.inputs.map(({ name, value }) => [name, fields[name] ?? value]));
    if (button !== undefined) body.set(button[0], button[1]);
    else if (pressed !== undefined && pressed.name !== "") body.set(pressed.name, pressed.value);
    const action = new URL(form.action === "" ? shown.url : form.action, shown.url);
    return this.visit(action, { method: "POST", body });
  }

  /** A request as this browser would send it, from a page of the given origin; no redirect is followed. */
  async send(url: URL, init: { method: string; body?: URLSearchParams }, origin = this.publicUrl): Promise<Response> {
    const cookie = this.cookies
      .filter(({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    const response = await fetch(this.nodeUrl() + url.pathname + url.search, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        "user-agent": this.agent,
        ...(cookie === "" ? {} : { cookie }),
        ...(init.method === "POST"
          ? { origin, "sec-fetch-site": origin === this.publicUrl ? "same-origin" : "cross-site" }
          : {}),
      },
    });
    for (const text of response.headers.getSetCookie()) this.keep(text);
    return response;
  }

  private async visit(start: URL, first: { method: string; body?: URLSearchParams }): Promise<Shown> {
    let url = start;
    let response = await this.send(url, first);
    for (let hop = 0; hop < 10 && response.status >= 300 && response.status < 400; hop++) {
      url = new URL(response.headers.get("location") ?? "", url);
      // Elsewhere: to the client.
      if (url.origin !== new URL(this.publicUrl).origin || url.pathname.startsWith("/console")) break;
      await response.body?.cancel();
      response = await this.send(url, { method: "GET" });
    }
    const html = await response.text();
    this.received.push(html);
    this.shown = { status: response.status, url, html, headers: response.headers };
    return this.shown;
  }

  private keep(text: string): void {
    const [pair = "", ...attributes] = text.split("; ");
    const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? "/";
    this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    if (value !== "" && !/expires=Thu, 01 Jan 1970/i.test(text)) {
      this.cookies.push({ name, value, path, attributes: attributes.join("; ") });
    }
  }

  /** The cookies it holds, with what they were set with. */
  get kept(): readonly Cookie[] {
    return this.cookies;
  }
}

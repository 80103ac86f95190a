import { request } from "node:http";

export type Asked =
  | { readonly kind: "answered"; readonly status: number; readonly body: unknown }
  /** `ECONNREFUSED`, `ECONNRESET`, `TIMEOUT`: its outcome is unknown. */
  | { readonly kind: "unanswered"; readonly code: string };

/** Long: what finds a request that is never answered must not find one that a busy machine answers late. */
const patienceMs = 45_000;

/** One request on a connection of its own: a kept-alive one would hide which process refused it. */
export function ask(method: string, url: string, body?: object, headers: Record<string, string> = {}): Promise<Asked> {
  return new Promise((resolve) => {
    const fail = (failure: NodeJS.ErrnoException): void =>
      resolve({ kind: "unanswered", code: failure.code ?? failure.message });
    const sent = request(url, { method, agent: false, headers: { ...headers, "Content-Type": "application/json" } });
    sent.setTimeout(patienceMs, () => sent.destroy(Object.assign(new Error("no answer"), { code: "TIMEOUT" })));
    sent.on("error", fail);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ kind: "answered", status: response.statusCode ?? 0, body: text === "" ? null : JSON.parse(text) });
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

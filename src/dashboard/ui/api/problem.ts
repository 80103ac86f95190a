import type { Dependencies } from "./answers.ts";

type Document = {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  /** The dependencies of a service that is not ready. */
  readonly dependencies?: Dependencies;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
};

/** A refusal of the service (RFC 9457), or a failure to reach it: then `status` is 0. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | null;
  readonly faults: readonly { readonly pointer: string; readonly message: string }[];
  readonly retryAfterMs: number | null;
  readonly dependencies: Dependencies | null;

  constructor(
    status: number,
    { title, detail, code, requestId, errors, dependencies }: Document,
    retryAfterMs: number | null = null,
  ) {
    super(detail ?? title ?? `The service answered ${status}.`);
    this.status = status;
    this.code = code ?? "unknown";
    this.title = title ?? `Answer ${status}`;
    this.requestId = requestId ?? null;
    this.faults = errors ?? [];
    this.dependencies = dependencies ?? null;
    this.retryAfterMs = retryAfterMs;
  }
}

export const unreachable = (): Problem =>
  new Problem(0, { code: "unreachable", title: "The service cannot be reached", detail: "The dashboard tries again." });

/** As the service refuses a key that is none. */
export const keyNotAccepted = (): Problem =>
  new Problem(401, { code: "unauthorized", title: "The key is not accepted", detail: "It is no API key." });

/** From an answer that is not 2xx. */
export async function problemOf(response: Response): Promise<Problem> {
  const document: Document = await response.json().catch(() => ({}));
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new Problem(response.status, document, Number.isFinite(seconds) ? seconds * 1000 : null);
}

export const toProblem = (failure: unknown): Problem =>
  failure instanceof Problem
    ? failure
    : new Problem(0, { code: "defect", title: "The dashboard failed", detail: String(failure) });

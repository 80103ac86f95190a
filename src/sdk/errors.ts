import type { EvidenceCheck } from "./evidence-format.ts";
import type { Problem } from "./types.ts";

/** What every error of this client is. `code` is stable. */
export abstract class WaybillError extends Error {
  override readonly name: string = "WaybillError";
  abstract readonly code: string | null;
}

/** The service refused the request, or answered that it cannot serve it now. */
export class RequestRefused extends WaybillError {
  override readonly name = "RequestRefused";
  readonly status: number;
  /** That of the problem; null where what answered is not Waybill, such as a proxy. */
  readonly code: Problem["code"] | null;
  /** The whole answer; null where what answered is not Waybill. */
  readonly problem: Problem | null;
  readonly requestId: string | null;
  /** Null if the service did not send `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** An earlier attempt of the same request got no answer, and may be why this one was refused. */
  isAfterLostAnswer = false;

  constructor(response: Response, body: unknown) {
    const problem = toProblem(body);
    super(problem === null ? describeOther(response) : describe(problem));
    this.status = response.status;
    this.code = problem?.code ?? null;
    this.problem = problem;
    this.requestId = problem?.requestId ?? response.headers.get("X-Request-Id");
    this.retryAfterMs = retryAfterOf(response.headers);
  }
}

/** There was no answer, or it was cut off, or it was none of Waybill's. The request may have taken effect. */
export class NoAnswer extends WaybillError {
  override readonly name = "NoAnswer";
  readonly code = "no-answer";
}

/** What was waited for did not happen in time. It may still happen. */
export class WaitedTooLong extends WaybillError {
  override readonly name = "WaitedTooLong";
  readonly code = "waited-too-long";
}

/** The webhook was not signed with the secret, or too long ago. Answer it with 400 and do nothing else. */
export class WebhookRefused extends WaybillError {
  override readonly name = "WebhookRefused";
  readonly code = "webhook-refused";
}

/** The bundle of evidence does not prove what it says, or not with a key that is trusted. */
export class EvidenceRefused extends WaybillError {
  override readonly name = "EvidenceRefused";
  readonly code = "evidence-refused";
  /** All that were made, also those that passed. */
  readonly checks: readonly EvidenceCheck[];

  constructor(checks: readonly EvidenceCheck[]) {
    super(checks.flatMap(({ ok, what, detail }) => (ok ? [] : [`Not so: ${what}. ${detail}`])).join("\n"));
    this.checks = checks;
  }
}

function toProblem(body: unknown): Problem | null {
  const isProblem = typeof body === "object" && body !== null && "code" in body && "detail" in body;
  return isProblem ? (body as Problem) : null;
}

function describe({ detail, errors = [] }: Problem): string {
  return errors.length > 1 ? [detail, ...errors.map(({ message }) => `  ${message}`)].join("\n") : detail;
}

/** A browser does not say where a redirect leads. */
function describeOther({ status, type, headers }: Response): string {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  if (!isRedirect) return `The answer was ${status}.`;
  const place = headers.get("Location") ?? "another address";
  return `The answer was a redirect to ${place}; expected the address of Waybill itself as url.`;
}

/** Seconds or a date. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get("Retry-After");
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { type AllowedNetworks, hostOf, isAddress, isInNetworks, isPublic, whyNotToCall } from "./addresses.ts";
import { createResolveHost, type HostAddress, type ResolveHost } from "./resolve-host.ts";
import type { PostOutcome, PostRequest, SafePost } from "./safe-post.ts";

export type SafePostSettings = {
  /** Private networks that may be called all the same, even without TLS. */
  readonly allowed: AllowedNetworks;
  /** For the whole call: lookup, connection, request and answer. */
  readonly timeoutMs?: number;
  /** Finds every address of a host. */
  readonly resolve?: ResolveHost;
};

const maxAnswerBytes = 65_536;

const refused = (code: string, message: string): PostOutcome => ({ kind: "refused", error: { code, message } });
const unanswered = (code: string, message: string): PostOutcome => ({ kind: "unanswered", error: { code, message } });

export function createSafePost({
  allowed,
  timeoutMs = 10_000,
  resolve = createResolveHost(),
}: SafePostSettings): SafePost {
  return async (request) => {
    const expected = whyNotToCall(request.url, allowed);
    if (expected !== null) return refused("url-refused", `The URL may not be called; expected ${expected}.`);
    const url = new URL(request.url);
    const late = new AbortController();
    const timer = setTimeout(() => abortIfUnheard(late), timeoutMs);
    const over = request.signal === undefined ? late.signal : AbortSignal.any([late.signal, request.signal]);
    try {
      const addresses = await addressesOf(hostOf(url), resolve, over);
      if (addresses === null) return over.aborted ? tooLate : hostNotFound;
      const refusal = refuseAddresses(addresses, url, allowed);
      const forOneMs = Math.max(1, Math.floor(timeoutMs / addresses.length));
      return refusal ?? (await send(url, addresses, forOneMs, request, over));
    } finally {
      clearTimeout(timer);
      // Until one of its two signals aborts, Node keeps `over` with all that listens to it; that of the caller may not for months.
      late.abort();
    }
  };
}

/** Once what has arrived is read: where the process stood still, its timers come before that. */
const abortIfUnheard = (late: AbortController): unknown => setImmediate(() => late.abort());

const tooLate = unanswered("timed-out", "The receiver did not answer in time.");
const hostNotFound = unanswered("host-not-found", "The host of the URL has no address.");

async function addressesOf(
  host: string,
  resolve: ResolveHost,
  over: AbortSignal,
): Promise<readonly HostAddress[] | null> {
  if (isAddress(host)) return [{ address: host, family: host.includes(":") ? 6 : 4 }];
  try {
    const found = await Promise.race([resolve(host, over), abortOf(over)]);
    return found.length === 0 ? null : found;
  } catch {
    return null;
  }
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

/** One forbidden address among allowed ones is enough: Waybill does not choose which of them is connected to. */
function refuseAddresses(
  addresses: readonly HostAddress[],
  { protocol }: URL,
  allowed: AllowedNetworks,
): PostOutcome | null {
  const isKnown = ({ address }: HostAddress): boolean => isAddress(address) && isInNetworks(address, allowed);
  if (addresses.every(isKnown)) return null;
  const isOpen = ({ address }: HostAddress): boolean => isAddress(address) && isPublic(address);
  if (!addresses.every((one) => isKnown(one) || isOpen(one))) {
    return refused("address-refused", "The URL leads to an address that may not be called.");
  }
  return protocol === "https:" ? null : refused("url-refused", "The URL may not be called; expected a URL with https.");
}

/** The connection goes to the addresses that were checked; the host is not looked up again. */
const pinned =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_host, options, done) => {
    const [first] = addresses;
    if (options.all === true) done(null, [...addresses]);
    else if (first !== undefined) done(null, first.address, first.family);
  };

/**
 * Node leaves an address that has not connected for the next one, and does not come back to it: with its usual 250 ms, a far
 * receiver with a second address that cannot be reached, as IPv6 often, would get nothing. So each has its share of the time.
 */
function send(
  url: URL,
  addresses: readonly HostAddress[],
  forOneMs: number,
  { headers, body }: PostRequest,
  over: AbortSignal,
): Promise<PostOutcome> {
  const options: RequestOptions & { rejectUnauthorized: true; autoSelectFamilyAttemptTimeout: number } = {
    method: "POST",
    headers: { ...headers, "Content-Length": body.length, Connection: "close" },
    agent: false,
    lookup: pinned(addresses),
    autoSelectFamilyAttemptTimeout: forOneMs,
    signal: over,
    // Set here, so that no environment variable can turn it off.
    rejectUnauthorized: true,
  };
  return new Promise((settle) => {
    const sending = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
    let answer: PostOutcome | null = null;
    const end = (outcome: PostOutcome): void => {
      // The status is the answer, whatever happens to the rest of the response.
      settle(answer ?? outcome);
      sending.destroy();
    };
    sending.on("response", (response) => {
      const answered = toOutcome(response);
      answer = answered;
      readAnswer(response, () => end(answered));
    });
    sending.on("error", (failure) => end(over.aborted ? tooLate : toFailure(failure)));
    sending.on("close", () => end(connectionFailed));
    sending.end(body);
  });
}

/**
 * Reads the body to its end, its limit, or until the connection ends. The content does not matter, but a receiver may
 * wait until its answer has been read.
 */
function readAnswer(response: IncomingMessage, read: () => void): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) read();
  });
  response.on("end", read);
  response.on("error", read);
  response.on("close", read);
}

const toOutcome = ({ statusCode, headers }: IncomingMessage): PostOutcome => ({
  kind: "answered",
  statusCode: statusCode ?? 0,
  retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()),
});

const connectionFailed = unanswered("connection-failed", "There was no connection, or it was lost before the answer.");

/** In words of our own: the system's messages name addresses, and those of TLS quote the certificate. */
function toFailure({ code = "" }: NodeJS.ErrnoException): PostOutcome {
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) {
    return unanswered("tls-failed", "There is no TLS connection that can be trusted.");
  }
  if (/^HPE_/.test(code)) return unanswered("not-http", "The receiver did not answer in HTTP.");
  return connectionFailed;
}

/** How long a Retry-After header asks to wait, given in seconds or as a date (RFC 9110); null if it says neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

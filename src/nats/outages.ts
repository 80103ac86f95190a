import { ErrorCode, NatsError } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { isBusy, isNoPlaceYet } from "./errors.ts";
import { createPatience, never, type Patience } from "./patience.ts";

const connectionCodes: readonly string[] = [
  ErrorCode.Timeout,
  ErrorCode.NoResponders,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
  ErrorCode.ConnectionRefused,
  ErrorCode.Disconnect,
  "STALE_CONNECTION",
];

/** Whether a request may or may not have been carried out: its answer did not come, or not yet. */
export const isUnanswered = (failure: unknown): boolean =>
  failure instanceof NatsError &&
  (connectionCodes.includes(failure.code) ||
    failure.api_error?.code === 503 ||
    failure.code === "503" ||
    isBusy(failure));

/** Whether asking again later can help: NATS is away, slow, without JetStream so far, or without enough of its nodes. */
export const isPassingOutage = (failure: unknown): boolean =>
  failure instanceof Unavailable || isUnanswered(failure) || isNoPlaceYet(failure);

const refusedLogins: readonly string[] = [
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
];

/** NATS was reached and does not let this process in: waiting does not help. */
export const isLoginRefused = (failure: unknown): boolean =>
  failure instanceof NatsError && refusedLogins.includes(failure.code);

/** Of the network, where a server may still come up. DNS is among them: a name can come later than whoever asks for it. */
const networkCodes: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  ErrorCode.AuthenticationTimeout,
]);

/** Whether a connection may come about later. A certificate that is not trusted, say, is a fault of the settings. */
export const isUnreachable = (failure: unknown): boolean =>
  // The client rejects with nothing where a server hangs up before it has said a word.
  failure === undefined || isUnanswered(failure) || networkCodes.has((failure as NodeJS.ErrnoException).code ?? "");

/** Waits for as long as it takes, and tells nobody: for what has a deadline of its own. */
export const waitSilently: Patience = createPatience({
  forMs: Number.POSITIVE_INFINITY,
  signal: never,
  isPassing: isPassingOutage,
  waits: () => {},
  sayAfterMs: 60_000,
});

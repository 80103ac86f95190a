import { ErrorCode, Events, NatsError, type Status } from "nats";
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

/** Whether it is unknown that a request was carried out: no answer has come, or not yet. */
export const isUnanswered = (failure: unknown): boolean =>
  failure instanceof NatsError &&
  (connectionCodes.includes(failure.code) ||
    failure.api_error?.code === 503 ||
    failure.code === "503" ||
    isBusy(failure));

/** Whether a retry can help: NATS is away, slow, still without JetStream, or without enough of its nodes. */
export const isPassingOutage = (failure: unknown): boolean =>
  failure instanceof Unavailable || isUnanswered(failure) || isNoPlaceYet(failure);

const refusedLogins: readonly string[] = [
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
];

/** NATS was reached and refuses this process: waiting does not help. */
export const isLoginRefused = (failure: unknown): boolean =>
  failure instanceof NatsError && refusedLogins.includes(failure.code);

/** The same of a connection that the client tries to make again, by what its status says. */
export const isRefusal = ({ type, data }: Pick<Status, "type" | "data">): boolean =>
  type === Events.Error && refusedLogins.includes(String(data));

/** The settings ask for TLS, and the server offers none. */
export const isWithoutTls = (failure: unknown): boolean =>
  failure instanceof NatsError && failure.code === ErrorCode.ServerOptionNotAvailable;

/**
 * Network errors after which a server may still come up. DNS is among them: a name may be registered later than its
 * first client starts.
 */
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

/** Whether a connection may succeed later. An untrusted certificate, for example, is a fault of the settings. */
export const isUnreachable = (failure: unknown): boolean =>
  // The client rejects with no error if a server closes the connection before it sends anything.
  failure === undefined || isUnanswered(failure) || networkCodes.has((failure as NodeJS.ErrnoException).code ?? "");

/** Waits without a time limit and without notices: for work that has a deadline of its own. */
export const waitSilently: Patience = createPatience({
  forMs: Number.POSITIVE_INFINITY,
  signal: never,
  isPassing: isPassingOutage,
  waits: () => {},
  sayAfterMs: 60_000,
});

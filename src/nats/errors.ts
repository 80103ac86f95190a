import { ErrorCode, NatsError } from "nats";

/** An error of the JetStream API, by its number; the texts differ between releases. */
const codeOf = (failure: unknown): number | null =>
  failure instanceof NatsError ? (failure.api_error?.err_code ?? null) : null;

export const isJetStreamError = (failure: unknown): boolean => codeOf(failure) !== null;

const is =
  (...codes: readonly number[]) =>
  (failure: unknown): boolean =>
    codes.includes(codeOf(failure) ?? 0);

export const isStreamMissing = is(10059);
export const isConsumerMissing = is(10014);
export const isMessageMissing = is(10037);
/** The message to be removed does not exist, or no longer exists; or, with 10057, was not removed for any other reason. */
export const isNotRemoved = is(10037, 10043, 10057);
/** Another writer has written to the subject since; 10164 means the same in newer releases. */
export const isWrongSequence = is(10071, 10164);
/**
 * Ask again: a message with this id, or another one on this subject, is being replicated to the other servers of a
 * cluster and not yet stored, or there are too many of them. The current request was not carried out.
 */
export const isBusy = is(10158, 10163, 10167);
/** The message is larger than the stream takes. */
export const isTooLarge = is(10054);
/** The limit of the stream, of the account (10002) or of the server. */
export const isOutOfRoom = is(10077, 10002, 10023, 10047);
/** A cluster with some nodes missing cannot place all the copies of a stream. */
export const isNoPlaceYet = is(10005);
/** Another process created a stream of this name at the same moment. */
export const isNameTaken = is(10058);
/** Another stream has one of the subjects. */
export const isOverlapping = (failure: unknown): boolean =>
  failure instanceof NatsError && /subjects overlap/.test(failure.message);
/** The stream holds a message of this subject already, and may hold no more; the number is that of a stream that is full. */
export const isSubjectTaken = (failure: unknown): boolean =>
  is(10077)(failure) && failure instanceof NatsError && /per subject/.test(failure.message);
/** Nobody listens on the subject of a request: there is no such stream, or it has no leader. */
export const isNobodyThere = (failure: unknown): boolean =>
  failure instanceof NatsError && failure.code === ErrorCode.NoResponders && failure.api_error === undefined;

import { NatsError } from "nats";

/** An error of JetStream's own API, by its number; the texts differ between releases. */
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
/** A message that was to be removed is not there, or not any more. */
export const isNothingToRemove = is(10037, 10043, 10057);
/** Somebody else wrote to the subject since; 10164 says the same in newer releases. */
export const isWrongSequence = is(10071, 10164);
/**
 * Ask again: a message of this id, or another one of this subject, is on its way to the other servers of a cluster and not
 * yet stored, or there are too many of them. What was asked for now was not done.
 */
export const isBusy = is(10158, 10163, 10167);
/** The stream's limit, the account's or the server's. */
export const isOutOfRoom = is(10077, 10023, 10047);
/** A cluster some of whose nodes are not there yet has no place for all the copies of a stream. */
export const isNoPlaceYet = is(10005);
/** Somebody else made a stream of this name in the same moment. */
export const isNameTaken = is(10058);

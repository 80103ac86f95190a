import { type Recipients, toLinesBody } from "./recipient-lines.ts";
import { type Requests, settled, untilEnded } from "./requests.ts";
import type {
  AnswerTo,
  BodyOf,
  CallOptions,
  CreatedMailing,
  CreateOptions,
  Mailing,
  MailingLogEntry,
  MailingRecipient,
  MailingRequest,
  QueryOf,
  Reason,
  RecipientImport,
  WaitOptions,
} from "./types.ts";

const one = "/api/mailings/{mailingId}";

type Start = CallOptions & NonNullable<BodyOf<`${typeof one}/start`, "post">>;
type Retry = CallOptions & NonNullable<BodyOf<`${typeof one}/retry`, "post">>;
type Test = CreateOptions & NonNullable<BodyOf<`${typeof one}/test`, "post">>;

export const createMailings = (requests: Requests) => {
  const { request, readText, pages, linkedPages, transport } = requests;
  const get = (mailingId: string, options: CallOptions = {}): Promise<Mailing> =>
    request("get", one, { params: { mailingId }, ...options });
  type Decision = "pause" | "resume" | "cancel" | "undo";
  const decide = (decision: Decision, mailingId: string, { signal, ...body }: Reason): Promise<Mailing> =>
    request("post", `${one}/${decision}`, { params: { mailingId }, body, isRepeatable: true, signal });
  return {
    get,
    /** Creates the draft of a mailing once, also where the answer is lost. */
    create: (
      body: MailingRequest,
      { signal, idempotencyKey = crypto.randomUUID() }: CreateOptions = {},
    ): Promise<CreatedMailing> => request("post", "/api/mailings", { body, idempotencyKey, signal }),
    list: (query: QueryOf<"/api/mailings", "get"> = {}, options: CallOptions = {}): AsyncGenerator<Mailing> =>
      pages("/api/mailings", query, options),
    /** Adds recipients while they are read. The same recipients again add what is missing. */
    addRecipients: async (
      mailingId: string,
      recipients: Recipients,
      { signal }: CallOptions = {},
    ): Promise<RecipientImport> => {
      const answered = await transport.send({
        method: "PUT",
        path: `/api/mailings/${encodeURIComponent(mailingId)}/recipients`,
        headers: { "Content-Type": "application/x-ndjson" },
        ...(await toLinesBody(recipients)),
        isRepeatable: true,
        timeoutMs: null,
        signal,
      });
      return answered.body as RecipientImport;
    },
    start: (mailingId: string, { signal, ...body }: Start = {}): Promise<Mailing> =>
      settled(
        request("post", `${one}/start`, { params: { mailingId }, body, isRepeatable: true, signal }),
        ({ code }) => ["mailing-has-started", "mailing-awaits-approval", "mailing-has-ended"].includes(code),
        () => get(mailingId, { signal }),
      ),
    /** The mailing once it has ended, however it ended. */
    wait: (mailingId: string, options: WaitOptions = {}): Promise<Mailing> =>
      untilEnded((how) => request("get", one, { params: { mailingId }, ...how }), options),
    pause: (mailingId: string, options: Reason = {}): Promise<Mailing> => decide("pause", mailingId, options),
    resume: (mailingId: string, options: Reason = {}): Promise<Mailing> =>
      settled(
        decide("resume", mailingId, options),
        ({ code }) => code === "mailing-not-paused",
        () => get(mailingId, { signal: options.signal }),
      ),
    cancel: (mailingId: string, options: Reason = {}): Promise<Mailing> =>
      settled(
        decide("cancel", mailingId, options),
        ({ currentStatus }) => currentStatus === "cancelled",
        () => get(mailingId, { signal: options.signal }),
      ),
    /** Takes back the start, for as long as `undoUntil` says. */
    undo: (mailingId: string, options: Reason = {}): Promise<Mailing> => decide("undo", mailingId, options),
    /** `digest` is what the mailing shows under `approval`. */
    approve: (mailingId: string, digest: string, { signal }: CallOptions = {}): Promise<Mailing> =>
      request("post", `${one}/approve`, { params: { mailingId }, body: { digest }, isRepeatable: true, signal }),
    reject: (mailingId: string, reason: string, { signal }: CallOptions = {}): Promise<Mailing> =>
      request("post", `${one}/reject`, { params: { mailingId }, body: { reason }, isRepeatable: true, signal }),
    /** Runs again what did not reach its recipients. Not repeated after a lost answer: `get` says what happened. */
    retry: (mailingId: string, { signal, ...body }: Retry = {}): Promise<Mailing> =>
      request("post", `${one}/retry`, { params: { mailingId }, body, signal }),
    /** Sends the letter to some addresses of your own, as a job that does not count in the mailing. */
    test: (
      mailingId: string,
      { signal, idempotencyKey = crypto.randomUUID(), ...body }: Test,
    ): Promise<AnswerTo<`${typeof one}/test`, "post">> =>
      request("post", `${one}/test`, { params: { mailingId }, body, idempotencyKey, signal }),
    /** The recipients of the parts that are jobs, each with its present state. */
    recipients: (
      mailingId: string,
      query: QueryOf<`${typeof one}/recipients`, "get"> = {},
      options: CallOptions = {},
    ): AsyncGenerator<MailingRecipient> => pages(`${one}/recipients`, query, { params: { mailingId }, ...options }),
    /** What happened to its recipients, in the order in which it happened. */
    logs: (
      mailingId: string,
      query: QueryOf<`${typeof one}/logs`, "get"> = {},
      options: CallOptions = {},
    ): AsyncGenerator<MailingLogEntry> => linkedPages(`${one}/logs`, query, { params: { mailingId }, ...options }),
    /** Its own history, without that of its parts. */
    events: (mailingId: string, options: CallOptions = {}): Promise<AnswerTo<`${typeof one}/events`, "get">> =>
      request("get", `${one}/events`, { params: { mailingId }, ...options }),
    explain: (mailingId: string, options: CallOptions = {}): Promise<AnswerTo<`${typeof one}/explain`, "get">> =>
      request("get", `${one}/explain`, { params: { mailingId }, ...options }),
    /** A bundle for `verifyEvidence`. */
    evidence: (mailingId: string, options: CallOptions = {}): Promise<string> =>
      readText("get", `${one}/evidence`, { params: { mailingId }, ...options }),
  };
};

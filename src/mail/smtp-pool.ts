import type { SmtpSession } from "./smtp-session.ts";

export type SmtpPool = {
  /** Lends a session for one mail; opens one where none is idle, and waits where there are as many as there may be. */
  readonly use: <Result>(work: (session: SmtpSession) => Promise<Result>) => Promise<Result>;
  /** Closes every session that nobody uses. */
  readonly closeIdle: () => void;
  /** Also those in use, each as soon as its mail is over. Whoever still waits for one is refused. */
  readonly close: () => void;
};

/** As nodemailer's own pool: relays with several servers behind one name share the mails between them so. */
const mailsPerSession = 100;
/** Less than the five minutes for which a server waits (RFC 5321 4.5.3.2.7), so that it does not hang up on a mail. */
const idleForMs = 4 * 60_000;
const lookForIdleEveryMs = 30_000;

type Waiting = {
  /** A session, or null for the right to open one. */
  readonly take: (session: SmtpSession | null) => void;
  readonly refuse: (failure: Error) => void;
};

/** At most `size` sessions. One that has ended is replaced when it is needed. */
export function createSmtpPool(open: (onEnd: () => void) => Promise<SmtpSession>, size: number): SmtpPool {
  /** The last one used is the next one used, so that those which are not needed grow old. */
  const idle: { readonly session: SmtpSession; readonly sinceMs: number }[] = [];
  const leaving = new Set<SmtpSession>();
  const waiting: Waiting[] = [];
  let places = size;
  let isClosed = false;

  const givePlaceBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) places += 1;
    else next.take(null);
  };
  const forget = (session: SmtpSession): void => {
    leaving.delete(session);
    const index = idle.findIndex((candidate) => candidate.session === session);
    if (index >= 0) idle.splice(index, 1);
    givePlaceBack();
  };
  const openOne = async (): Promise<SmtpSession> => {
    try {
      const session: SmtpSession = await open(() => forget(session));
      return session;
    } catch (failure) {
      givePlaceBack();
      throw failure;
    }
  };
  const borrow = async (): Promise<SmtpSession> => {
    if (isClosed) throw new Error("The connections to the mail server are closed");
    const last = idle.pop();
    if (last !== undefined) return last.session;
    if (places > 0) {
      places -= 1;
      return await openOne();
    }
    const lent = await new Promise<SmtpSession | null>((take, refuse) => waiting.push({ take, refuse }));
    return lent ?? (await openOne());
  };
  const dismiss = (session: SmtpSession): void => {
    leaving.add(session);
    session.quit();
  };
  const giveBack = async (session: SmtpSession): Promise<void> => {
    if (!(await session.canGoOn())) return;
    if (isClosed) return session.close();
    if (session.sent() >= mailsPerSession) return dismiss(session);
    const next = waiting.shift();
    if (next === undefined) idle.push({ session, sinceMs: performance.now() });
    else next.take(session);
  };
  const closeIdle = (): void => {
    for (const { session } of [...idle]) session.close();
  };
  const lookForIdle = setInterval(() => {
    const longAgo = performance.now() - idleForMs;
    for (const { session } of idle.splice(0, idle.findLastIndex(({ sinceMs }) => sinceMs < longAgo) + 1)) {
      dismiss(session);
    }
  }, lookForIdleEveryMs).unref();

  return {
    use: async (work) => {
      const session = await borrow();
      try {
        return await work(session);
      } finally {
        void giveBack(session);
      }
    },
    closeIdle,
    close: () => {
      isClosed = true;
      clearInterval(lookForIdle);
      closeIdle();
      for (const session of [...leaving]) session.close();
      for (const { refuse } of waiting.splice(0)) refuse(new Error("The connections to the mail server are closed"));
    },
  };
}

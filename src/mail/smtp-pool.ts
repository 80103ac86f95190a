import type { SmtpSession } from "./smtp-session.ts";

export type SmtpPool = {
  /** Lends a session for one mail. Opens a session if none is idle, and waits if the maximum number is open. */
  readonly use: <Result>(work: (session: SmtpSession) => Promise<Result>) => Promise<Result>;
  /** Closes every idle session. */
  readonly closeIdle: () => void;
  /** Closes idle sessions now, and those in use as soon as their mail is over. Rejects the calls that still wait. */
  readonly close: () => void;
};

/**
 * So that the mails are spread over the servers of a relay that share one name. To open a session costs as much as twenty
 * mails; some servers allow no more than 1000 mails (the default of Exim).
 */
const mailsPerSession = 500;
/** Less than the five minutes for which a server waits (RFC 5321 4.5.3.2.7), so that it does not hang up during a mail. */
const idleForMs = 4 * 60_000;
const checkIdleEveryMs = 30_000;

type Waiting = {
  /** Gets a session, or null for permission to open one. */
  readonly take: (session: SmtpSession | null) => void;
  readonly refuse: (failure: Error) => void;
};

/** Keeps at most `size` sessions. A session that has ended is replaced when one is needed. */
export function createSmtpPool(open: (onEnd: () => void) => Promise<SmtpSession>, size: number): SmtpPool {
  /** The session used last is used next, so that surplus sessions grow old. */
  const idle: { readonly session: SmtpSession; readonly sinceMs: number }[] = [];
  const leaving = new Set<SmtpSession>();
  const waiting: Waiting[] = [];
  let free = size;
  let isClosed = false;

  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next.take(null);
  };
  const forget = (session: SmtpSession): void => {
    leaving.delete(session);
    const index = idle.findIndex((candidate) => candidate.session === session);
    if (index >= 0) idle.splice(index, 1);
    release();
  };
  const openOne = async (): Promise<SmtpSession> => {
    try {
      const session: SmtpSession = await open(() => forget(session));
      return session;
    } catch (failure) {
      release();
      throw failure;
    }
  };
  const borrow = async (): Promise<SmtpSession> => {
    if (isClosed) throw new Error("The connections to the mail server are closed");
    const last = idle.pop();
    if (last !== undefined) return last.session;
    if (free > 0) {
      free -= 1;
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
  const checkIdle = setInterval(() => {
    const longAgo = performance.now() - idleForMs;
    for (const { session } of idle.splice(0, idle.findLastIndex(({ sinceMs }) => sinceMs < longAgo) + 1)) {
      dismiss(session);
    }
  }, checkIdleEveryMs).unref();

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
      clearInterval(checkIdle);
      closeIdle();
      for (const session of [...leaving]) session.close();
      for (const { refuse } of waiting.splice(0)) refuse(new Error("The connections to the mail server are closed"));
    },
  };
}

import type { SmtpSession } from "./smtp-session.ts";

export type SmtpPool = {
  /**
   * Lends a session for one mail. Opens a session if none is idle, and waits if the maximum number is open. One that is one
   * too many for the server, as the result says, is closed, and no other takes its place for a while.
   */
  readonly use: <Result>(
    work: (session: SmtpSession) => Promise<Result>,
    isOneTooMany?: (result: Result) => boolean,
  ) => Promise<Result>;
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
/** After the server has opened no more connections, one mail asks for another one so often. */
const askForMoreEveryMs = 30_000;
/** Less than the five minutes for which a server waits (RFC 5321 4.5.3.2.7), so that it does not hang up during a mail. */
const idleForMs = 4 * 60_000;
const checkIdleEveryMs = 30_000;

type Waiting = {
  /** Gets a session, or null for permission to open one. */
  readonly take: (session: SmtpSession | null) => void;
  readonly refuse: (failure: Error) => void;
  /** Why it has no session of its own, if it tried to open one. */
  readonly failure: Error | null;
};

/**
 * Keeps at most `size` sessions. A session that has ended is replaced when one is needed. Many servers allow a client fewer
 * connections than that, and say so in words of their own, or hang up: as long as one session is open, or may become it, the
 * mails for which none could be opened wait for those that there are.
 */
export function createSmtpPool(open: (onEnd: () => void) => Promise<SmtpSession>, size: number): SmtpPool {
  /** The session used last is used next, so that surplus sessions grow old. */
  const idle: { readonly session: SmtpSession; readonly sinceMs: number }[] = [];
  const leaving = new Set<SmtpSession>();
  const surplus = new Set<SmtpSession>();
  /** The sessions in use, and whether they have ended: the result of their work tells what follows from that. */
  const inUse = new Map<SmtpSession, { hasEnded: boolean }>();
  const waiting: Waiting[] = [];
  /** How many more may be opened: the others of the `size` are open, or are being opened. */
  let free = size;
  /** Null as long as the server opens what it is asked for. */
  let askForMoreAt: number | null = null;
  let isClosed = false;

  const letOpen = (count: number): void => {
    for (const next of waiting.splice(0, count)) {
      free -= 1;
      next.take(null);
    }
  };
  const release = (): void => {
    free += 1;
    if (free === size) askForMoreAt = null;
    letOpen(free === size ? size : 1);
  };
  const forget = (session: SmtpSession): void => {
    const use = inUse.get(session);
    if (use !== undefined) {
      use.hasEnded = true;
      return;
    }
    leaving.delete(session);
    const index = idle.findIndex((candidate) => candidate.session === session);
    if (index >= 0) idle.splice(index, 1);
    if (!surplus.delete(session)) {
      release();
      return;
    }
    free += 1;
    // The others wait for the one that opens now.
    if (free === size) letOpen(1);
  };
  const openOne = async (): Promise<SmtpSession> => {
    const isForMore = askForMoreAt !== null && free < size - 1;
    if (isForMore) askForMoreAt = performance.now() + askForMoreEveryMs;
    try {
      const session: SmtpSession = await open(() => forget(session));
      if (isForMore) askForMoreAt = null;
      return session;
    } catch (failure) {
      if (isClosed || free === size - 1) throw giveUp(failure as Error);
      askForMoreAt = performance.now() + askForMoreEveryMs;
      free += 1;
      return idle.pop()?.session ?? (await waitFor(failure as Error));
    }
  };
  /** There is no session left to wait for, so each mail that waits because it could open none hears why. */
  const giveUp = (failure: Error): Error => {
    for (const one of waiting.splice(0)) {
      if (one.failure === null) waiting.push(one);
      else one.refuse(one.failure);
    }
    release();
    return failure;
  };
  const waitFor = async (failure: Error | null): Promise<SmtpSession> => {
    const lent = await new Promise<SmtpSession | null>((take, refuse) => waiting.push({ take, refuse, failure }));
    return lent ?? (await openOne());
  };
  const mayOpen = (): boolean =>
    free === size || (free > 0 && (askForMoreAt === null || performance.now() >= askForMoreAt));
  const borrow = async (): Promise<SmtpSession> => {
    if (isClosed) throw new Error("The connections to the mail server are closed");
    const last = idle.pop();
    if (last !== undefined) return last.session;
    if (!mayOpen()) return await waitFor(null);
    free -= 1;
    return await openOne();
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
    use: async (work, isOneTooMany = () => false) => {
      const session = await borrow();
      const use = { hasEnded: false };
      inUse.set(session, use);
      try {
        const result = await work(session);
        if (isOneTooMany(result)) surplus.add(session);
        return result;
      } finally {
        inUse.delete(session);
        const isSurplus = surplus.has(session);
        if (isSurplus) askForMoreAt = performance.now() + askForMoreEveryMs;
        if (use.hasEnded) forget(session);
        else if (isSurplus) dismiss(session);
        else void giveBack(session);
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

/** How many streams may be open in this process, and how many of one tenant. */
export type StreamLimits = { readonly inProcess: number; readonly ofTenant: number };

export type Opening =
  | { readonly outcome: "opened"; readonly signal: AbortSignal }
  | { readonly outcome: "refused"; readonly limit: "process" | "tenant" | "closing" };

/**
 * Requests whose answer goes on: streams, and answers that wait. A stream is closed when its client has gone. Its signal
 * aborts then, and also when the client's key is revoked and when the service stops: then all streams end at once, and
 * clients connect to another process.
 */
export interface OpenStreams {
  open(tenant: string, gone: AbortSignal, isStillAdmitted: () => boolean): Opening;
  count(): number;
  close(): void;
}

/** A revocation takes effect within a second, part of which passes before this process knows of it. */
const checkEveryMs = 500;

type Stream = { readonly ending: AbortController; readonly isStillAdmitted: () => boolean };

export function createOpenStreams({ inProcess, ofTenant }: StreamLimits): OpenStreams {
  const streams = new Set<Stream>();
  const byTenant = new Map<string, number>();
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;

  const endRevoked = (): void => {
    for (const { ending, isStillAdmitted } of streams) if (!isStillAdmitted()) ending.abort();
  };
  const add = (tenant: string, change: number): void => {
    const now = (byTenant.get(tenant) ?? 0) + change;
    if (now === 0) byTenant.delete(tenant);
    else byTenant.set(tenant, now);
  };
  const enter = (stream: Stream, tenant: string): void => {
    streams.add(stream);
    add(tenant, 1);
    timer ??= setInterval(endRevoked, checkEveryMs).unref();
  };
  const leave = (stream: Stream, tenant: string): void => {
    streams.delete(stream);
    add(tenant, -1);
    stream.ending.abort();
    if (streams.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    open: (tenant, gone, isStillAdmitted) => {
      if (isClosed) return { outcome: "refused", limit: "closing" };
      if (streams.size >= inProcess) return { outcome: "refused", limit: "process" };
      if ((byTenant.get(tenant) ?? 0) >= ofTenant) return { outcome: "refused", limit: "tenant" };
      const stream = { ending: new AbortController(), isStillAdmitted };
      const { signal } = stream.ending;
      if (gone.aborted) {
        stream.ending.abort();
        return { outcome: "opened", signal };
      }
      enter(stream, tenant);
      gone.addEventListener("abort", () => leave(stream, tenant), { once: true });
      return { outcome: "opened", signal };
    },
    count: () => streams.size,
    close: () => {
      isClosed = true;
      for (const { ending } of streams) ending.abort();
    },
  };
}

import type { NatsConnection } from "nats";

/** One stream as `nats stream backup` writes it: what the server said of it, and the pieces it sent. */
export type Snapshot = {
  readonly stream: string;
  readonly config: object;
  readonly state: object;
  readonly pieces: readonly Uint8Array[];
};

type Answer = { readonly error?: { readonly description: string } };

const patienceMs = 10_000;

async function ask<Expected>(nats: NatsConnection, subject: string, body: object): Promise<Expected> {
  const reply = await nats.request(subject, JSON.stringify(body), { timeout: patienceMs });
  // The server's own words, read only where it says that there is no error.
  const answer = reply.json() as Answer & Expected;
  if (answer.error !== undefined) throw new Error(`${subject}: ${answer.error.description}`);
  return answer;
}

/** What `nats stream ls --all --names` lists. */
export async function streamNames(nats: NatsConnection): Promise<readonly string[]> {
  return (await ask<{ readonly streams: readonly string[] }>(nats, "$JS.API.STREAM.NAMES", {})).streams;
}

/**
 * What `nats stream backup` asks of the server (`$JS.API.STREAM.SNAPSHOT`), consumers included: the program itself is in
 * no distribution that the tests run on.
 */
export async function backUpStream(nats: NatsConnection, stream: string): Promise<Snapshot> {
  const inbox = `_INBOX.snapshot.${stream}`;
  const pieces: Uint8Array[] = [];
  const arriving = nats.subscribe(inbox, { timeout: patienceMs });
  const { config, state } = await ask<Pick<Snapshot, "config" | "state">>(nats, `$JS.API.STREAM.SNAPSHOT.${stream}`, {
    deliver_subject: inbox,
    chunk_size: 65_536,
  });
  for await (const message of arriving) {
    // The last one is empty; every other is answered, or no more come.
    if (message.data.length === 0) break;
    pieces.push(message.data);
    message.respond();
  }
  return { stream, config, state, pieces };
}

/** What `nats stream restore` asks of it. */
export async function restoreStream(nats: NatsConnection, { stream, config, state, pieces }: Snapshot): Promise<void> {
  const { deliver_subject: subject } = await ask<{ readonly deliver_subject: string }>(
    nats,
    `$JS.API.STREAM.RESTORE.${stream}`,
    { config, state },
  );
  for (const piece of pieces) await nats.request(subject, piece, { timeout: patienceMs });
  const { error } = (await nats.request(subject, "", { timeout: patienceMs })).json() as Answer;
  if (error !== undefined) throw new Error(`${stream}: ${error.description}`);
}

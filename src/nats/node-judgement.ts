import { type NatsConnection, NatsError } from "nats";

const answerMs = 1500;
/**
 * Replicas answer their leader every second; one that is silent for longer does not count. A client on another node
 * waits longer before it leaves that one, so that it never leaves for a leader that has lost the others.
 */
const seenWithinMs = 2500;

/** Whether the node behind a connection is one to work with. */
export type Judgement = (nats: NatsConnection) => Promise<boolean>;

type Answer = {
  readonly error?: { readonly code: number };
  readonly config?: { readonly num_replicas: number };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly current: boolean; readonly active: number; readonly offline?: boolean }[];
  };
};

/**
 * Judges a node by what it leads to: the leader of this stream, and with it a majority of its replicas. To ask whether
 * JetStream answers is not enough. A node that was cut off from the others and led them answers for up to 20 s more, and
 * while the others elect a leader it is the only one that does: clients would leave the majority for it.
 */
export const byStream =
  (stream: string): Judgement =>
  async (nats) => {
    const answer = await ask(nats, `$JS.API.STREAM.INFO.${stream}`);
    if (answer === "refused") return true;
    // There is no such stream yet: the leader of the cluster says so.
    if (answer.error !== undefined) return answer.error.code === 404;
    const { num_replicas: replicas = 1 } = answer.config ?? {};
    if (replicas === 1) return true;
    const { leader, replicas: others = [] } = answer.cluster ?? {};
    const seen = others.filter(
      ({ current, active, offline }) => current && !offline && active < seenWithinMs * nanosPerMs,
    );
    // A leader that gave up, because it lost the others, answers for itself for a while.
    return Boolean(leader) && 1 + seen.length > replicas / 2;
  };

const nanosPerMs = 1_000_000;

/** Judges a node by whether JetStream answers: a server that knows of no leader of the cluster answers 503. */
export const byAnyAnswer: Judgement = async (nats) => {
  const answer = await ask(nats, "$JS.API.INFO");
  return answer === "refused" || answer.error?.code !== 503;
};

/** `refused` where this client may not ask: that comes from a working server. */
async function ask(nats: NatsConnection, subject: string): Promise<Answer | "refused"> {
  try {
    return (await nats.request(subject, "", { timeout: answerMs })).json<Answer>();
  } catch (failure) {
    if (failure instanceof NatsError && failure.isPermissionError()) return "refused";
    return { error: { code: 503 } };
  }
}

import type { NatsConnection } from "nats";

/** Calls back with what NATS announces about streams and consumers, unless that goes unheard. */
export function onAdvisory(nats: NatsConnection, about: string, heard: (what: string) => void): () => void {
  const advisories = "$JS.EVENT.ADVISORY.";
  const subscription = nats.subscribe(advisories + about, {
    callback: (failure, message) => {
      if (failure === null) heard(message.subject.slice(advisories.length));
    },
  });
  return () => {
    if (!nats.isClosed()) subscription.unsubscribe();
  };
}

import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { OwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Keeps what is stored of a stream's messages now. The function that it returns is a power cut as NATS 2.9 to 2.12 come out of
 * it: what was stored since is lost, and the positions of the consumers are those of the last moment. Null for a server that
 * runs already, because where it stores is unknown here.
 */
export async function preparePowerCut(nats: OwnNats, stream: string): Promise<(() => Promise<void>) | null> {
  if (nats.server === null) return null;
  const messages = join(nats.server.folder, "store/jetstream/$G/streams", stream, "msgs");
  const kept = await temporaryFolder();
  await nats.stop();
  await cp(messages, kept, { recursive: true });
  await nats.start();
  return async () => {
    await nats.stop();
    await rm(messages, { recursive: true });
    await cp(kept, messages, { recursive: true });
    await rm(kept, { recursive: true });
    await nats.start();
  };
}

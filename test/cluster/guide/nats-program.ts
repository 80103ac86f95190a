import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { NatsConnection } from "nats";
import { backUpStream, restoreStream, streamNames } from "../../ops/stream-snapshots.ts";
import type { Program } from "./stand-ins.ts";

const pieceBytes = 65_536;

/** What the guide asks of the program `nats`, as requests to the server; `withNats` connects for one of them. */
export const natsProgram =
  (withNats: <Result>(work: (nats: NatsConnection) => Promise<Result>) => Promise<Result>): Program =>
  (args, folder) =>
    withNats(async (nats) => {
      const command = args.slice(0, 2).join(" ");
      const [first = "", stream = "", target = ""] = args.slice(2);
      if (command === "stream ls" && args.slice(2).join(" ") === "--all --names") {
        return (await streamNames(nats)).map((name) => `${name}\n`).join("");
      }
      if (command === "stream backup" && first === "--check") {
        await backUp(nats, stream, join(folder, target));
        return "";
      }
      if (command === "stream restore" && stream === "") {
        await restore(nats, join(folder, first));
        return "";
      }
      throw new Error(`The guide has never said "nats ${args.join(" ")}"`);
    });

async function backUp(nats: NatsConnection, stream: string, folder: string): Promise<void> {
  const { config, state, pieces } = await backUpStream(nats, stream);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "backup.json"), JSON.stringify({ config, state }));
  await writeFile(join(folder, "stream.tar.s2"), Buffer.concat(pieces));
}

async function restore(nats: NatsConnection, folder: string): Promise<void> {
  const { config, state } = JSON.parse(await readFile(join(folder, "backup.json"), "utf8"));
  const whole = await readFile(join(folder, "stream.tar.s2"));
  const count = Math.ceil(whole.length / pieceBytes);
  const pieces = Array.from({ length: count }, (_, at) => whole.subarray(at * pieceBytes, (at + 1) * pieceBytes));
  await restoreStream(nats, { stream: basename(folder), config, state, pieces });
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What a program prints when it is called with these arguments in this folder; it fails where this throws. */
export type Program = (args: readonly string[], folder: string) => Promise<string>;

export type StandIns = {
  /** Functions for a bash, one for each program, which ask this process. */
  readonly functions: string;
  stop(): Promise<void>;
};

/** For programs that an operator has and that are not where the tests run. */
export async function startStandIns(programs: Readonly<Record<string, Program>>): Promise<StandIns> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [name = "", folder = "", ...args] = Buffer.concat(chunks).toString().trimEnd().split("\n");
      const run = async (): Promise<string> => (await programs[name]?.(args, folder)) ?? "";
      run().then(
        (printed) => response.end(printed),
        (failure: unknown) => response.writeHead(500).end(`${name}: ${String(failure)}\n`),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asks = `curl -s --fail-with-body --data-binary @- http://127.0.0.1:${port}/`;
  return {
    functions: Object.keys(programs)
      .map((name) => `${name}() { printf '%s\\n' ${name} "$PWD" "$@" | ${asks}; }\n`)
      .join(""),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";

const answersAfterMs = 300;
/** A call has longer than the answer takes, and the process stands still for longer than that. */
const [timeoutMs, stillMs] = [1000, 1500];

describe("A POST from a process that stands still", () => {
  it("is answered where the answer came meanwhile: it is not made again", async () => {
    const program = `const server = require("node:http").createServer((_, response) =>
      setTimeout(() => response.writeHead(204).end(), ${answersAfterMs}));
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    const receiver = spawn(execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [port] = await once(receiver.stdout, "data");
      const allowed = readNetworks("127.0.0.0/8").filter((network) => network !== null);
      const url = `http://127.0.0.1:${Number(port)}/`;
      const answer = createSafePost({ allowed, timeoutMs })({ url, headers: {}, body: new Uint8Array() });
      // By then the request has left.
      await pause(answersAfterMs / 3);
      // Timers come first after this.
      await new Promise(setImmediate);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stillMs);
      expect(await answer).to.include({ kind: "answered", statusCode: 204 });
    } finally {
      receiver.kill("SIGKILL");
    }
  });
});

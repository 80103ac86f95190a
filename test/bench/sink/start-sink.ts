import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { findBinary } from "../../../src/standalone/find-binary.ts";
import { eventually } from "../../support/eventually.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startAskedProcess } from "../asked-process.ts";
import type { SinkOrder, SinkState } from "./tcp-sink.ts";

/** A mail server that takes everything and keeps nothing, in a process of its own. */
export type Sink = { readonly name: string; readonly url: string; readonly port: number; readonly pid: number };

/** Connections wait while it is others' turn to be measured. */
const patienceSeconds = 3600;

/** Postfix's own where it is installed, which costs least; it can only be slow by whole seconds. */
export async function startSink(lifecycle: Lifecycle, msPerMail = 0): Promise<Sink> {
  const postfix = msPerMail === 0 ? await findBinary(["smtp-sink"]) : null;
  return postfix === null ? startTcpSink(lifecycle, msPerMail) : startSmtpSink(lifecycle, postfix);
}

/** One that can be asked how many mails it has taken. */
export type CountingSink = Sink & { readonly mails: () => Promise<number> };

export async function startTcpSink(lifecycle: Lifecycle, msPerMail = 0): Promise<CountingSink> {
  const sink = startAskedProcess<SinkOrder, SinkState>(lifecycle, new URL("tcp-sink.ts", import.meta.url));
  const ask = async (): Promise<SinkState> => (await sink.ask({ msPerMail })).result;
  return { ...toSink("tcp-sink", (await ask()).port, sink.pid), mails: async () => (await ask()).mails };
}

async function startSmtpSink(lifecycle: Lifecycle, binary: string): Promise<Sink> {
  const port = await findFreePort();
  // It refuses to work as root.
  const asNobody = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const args = [...asNobody, "-t", String(patienceSeconds), `127.0.0.1:${port}`, "256"];
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  lifecycle.started("smtp-sink", async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await eventually(() => isListening(port));
  return toSink("smtp-sink", port, child.pid ?? 0);
}

const toSink = (name: string, port: number, pid: number): Sink => ({
  name,
  url: `smtp://127.0.0.1:${port}`,
  port,
  pid,
});

async function isListening(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

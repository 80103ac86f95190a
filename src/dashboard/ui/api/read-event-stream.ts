export type StreamMessage = {
  readonly event: string;
  /** The position from which a client that has seen this message resumes. */
  readonly id: string;
  /** Empty for a message that only advances the id, or a heartbeat. */
  readonly data: string;
};

/**
 * Server-Sent Events as the WHATWG defines them, from a body that `fetch` reads: the browser's own EventSource cannot
 * send a key. A message that is cut off by the end of the stream is dropped, as the definition says.
 */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  let id = "";
  let event = "";
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === "") {
      yield { event: event === "" ? "message" : event, id, data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}

/** Lines end with LF, CR or CRLF, which may be cut in two. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest += decoder.decode(read.value, { stream: true });
      // A CR at the end may be the first half of a CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest.endsWith("\r")) yield rest.slice(0, -1);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

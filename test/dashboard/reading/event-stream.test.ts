import { expect } from "chai";
import { readEventStream, type StreamMessage } from "../../../src/dashboard/ui/api/read-event-stream.ts";

async function read(text: string, chunkBytes: number): Promise<readonly StreamMessage[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.slice(at, at + chunkBytes));
      controller.close();
    },
  });
  const messages: StreamMessage[] = [];
  for await (const message of readEventStream(body)) messages.push(message);
  return messages;
}

describe("The dashboard's reader of Server-Sent Events", () => {
  const text =
    'retry: 1000\n\nevent: status\nid: 7\ndata: {"a":"ü"}\n\n: a comment\n\ndata:one\r\ndata: two\r\n\r\nid: 9\r\rdata: cut off';
  const expected = [
    { event: "message", id: "", data: "" },
    { event: "status", id: "7", data: '{"a":"ü"}' },
    { event: "message", id: "7", data: "" },
    { event: "message", id: "7", data: "one\ntwo" },
    { event: "message", id: "9", data: "" },
  ];

  for (const chunkBytes of [1, 2, 3, 7, 1000]) {
    it(`reads the same from pieces of ${chunkBytes} bytes`, async () => {
      expect(await read(text, chunkBytes)).to.deep.equal(expected);
    });
  }
});

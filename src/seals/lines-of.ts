import { createReadStream } from "node:fs";

const lineFeed = 0x0a;

/** The lines of a file, ended by line feeds alone: readline of Node also splits at characters that JSON leaves as they are. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    let begin = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, begin)) {
      const part = chunk.subarray(begin, end);
      yield rest.length === 0 ? part.toString("utf8") : Buffer.concat([...rest, part]).toString("utf8");
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(chunk.subarray(begin));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString("utf8");
}

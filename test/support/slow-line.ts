import { once } from "node:events";
import { Transform, type TransformCallback } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

export type Slowness = {
  /** From one end to the other. */
  readonly latencyMs: number;
  /** Infinity for a line that is late and not narrow. */
  readonly bytesPerSecond: number;
};

/** About a packet: what is passed on in larger pieces makes a line that is silent for long and then says much at once. */
const pieceBytes = 1400;

/** One direction of a connection: what goes in comes out in the same order, later where the line is slow. */
export class SlowLine extends Transform {
  readonly #slowness: () => Slowness | null;
  #piecesOnTheWay = 0;

  /** Asked anew for each piece; null passes everything on at once. */
  constructor(slowness: () => Slowness | null) {
    super();
    this.#slowness = slowness;
  }

  /** Whether all that went in has come out. */
  isEmpty(): boolean {
    return this.#piecesOnTheWay + this.readableLength + this.writableLength === 0;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#slowness() === null && this.#piecesOnTheWay === 0) done(null, chunk);
    else this.#carry(chunk).then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    this.#whenArrived().then(() => done(), done);
  }

  /** Returns when the line takes more, which is before the last piece has come out. */
  async #carry(chunk: Buffer): Promise<void> {
    for (let from = 0; from < chunk.length && !this.destroyed; from += pieceBytes) {
      const slowness = this.#slowness();
      if (slowness === null) {
        // A line that has just become fast: nothing may overtake what is still on its way.
        await this.#whenArrived();
        this.push(chunk.subarray(from));
        return;
      }
      const piece = chunk.subarray(from, from + pieceBytes);
      this.#piecesOnTheWay += 1;
      const sendingMs = (piece.length / slowness.bytesPerSecond) * 1000;
      // A timer waits for a millisecond at least, which would be a line of 1.4 MB/s.
      if (sendingMs > 0) await pause(sendingMs);
      // The connection keeps the process alive, and this timer does not: once the connection has ended, no one waits for the piece.
      setTimeout(() => this.#arrive(piece), slowness.latencyMs).unref();
    }
  }

  #arrive(piece: Buffer): void {
    this.#piecesOnTheWay -= 1;
    if (!this.destroyed) this.push(piece);
    if (this.#piecesOnTheWay === 0) this.emit("arrived");
  }

  async #whenArrived(): Promise<void> {
    while (this.#piecesOnTheWay > 0) await once(this, "arrived");
  }
}

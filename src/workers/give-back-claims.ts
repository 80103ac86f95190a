import type { Bookkeeper } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";

/**
 * A claim left behind would count as a mail in doubt. Whoever decided about the job meanwhile may have handed it to
 * another worker, whose claims these now are; from a pause until it is resumed there is no other worker. Answers whether
 * the lease is held.
 */
export async function giveBackClaims(lease: Lease, books: Bookkeeper, notSent: ReadonlySet<number>): Promise<boolean> {
  const isHeld = await lease.confirm();
  if (isHeld || (notSent.size > 0 && (await lease.wasOnlyPaused()))) await books.release([...notSent]);
  return isHeld;
}

/** What was asked did not answer, and nothing is known to have been done. Asking again later can help. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

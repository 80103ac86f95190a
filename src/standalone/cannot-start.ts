/** What keeps Waybill from providing its own servers, in words for the person who started it. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

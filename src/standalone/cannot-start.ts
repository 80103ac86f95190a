/** What keeps Waybill from providing its own servers, in words for the person who started it. */
export class CannotStart extends Error {
  override readonly name: string = "CannotStart";
}

/** Another process works in the data folder. */
export class DataDirInUse extends CannotStart {
  override readonly name = "DataDirInUse";
}

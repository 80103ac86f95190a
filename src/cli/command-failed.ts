/** The command line makes no sense: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** The command was understood and cannot be done, for a reason that its message says: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command was understood and cannot be done, for a reason that its message says: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

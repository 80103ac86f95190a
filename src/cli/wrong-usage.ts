/** The command line makes no sense: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

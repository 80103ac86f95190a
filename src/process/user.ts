import { homedir, userInfo } from "node:os";
import process from "node:process";

/** Who runs this process, as the log names them. A container may run with an id that the system knows no user of. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}

/** Such a user has no home either, unless HOME names one. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

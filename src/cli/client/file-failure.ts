const words: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "the disk is full",
};

/** Why a file cannot be read or written, in words. */
export function whyNoFile(failure: unknown): string {
  const { code = "", message }: NodeJS.ErrnoException = failure instanceof Error ? failure : new Error(String(failure));
  return words[code] ?? message;
}

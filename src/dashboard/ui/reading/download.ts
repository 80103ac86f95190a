/** Saves a file from the browser. Its content never leaves the browser. */
export function download(name: string, type: string, parts: readonly BlobPart[]): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Not at once: the browser fetches it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

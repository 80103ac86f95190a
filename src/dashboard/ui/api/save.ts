import { download } from "../reading/download.ts";
import { fetchAnswer } from "./client.ts";

/** Saves an answer as a file, under the name that the service gives it: a plain link would not send the key. */
export async function save(path: string): Promise<void> {
  const response = await fetchAnswer("GET", path);
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "waybill";
  const file = await response.blob();
  download(name, file.type, [file]);
}

import { isLoopback } from "../domain/loopback.ts";

/** Where the mails of a URL go: `smtp://user:password@host:port` or `smtps://…`. */
export type MailServer = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS is used if the server offers it. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /**
   * Whether nothing is sent without TLS: there is a password, and the server is on another host. An attacker on the way could
   * remove the offer of STARTTLS.
   */
  readonly needsTls: boolean;
};

export function readSmtpUrl(url: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    auth: username === "" ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    needsTls: username !== "" && !isLoopback(host),
  };
}

import SMTPConnection from "nodemailer/lib/smtp-connection";
import { readSmtpUrl } from "../../mail/smtp-url.ts";
import { type Finding, fine, serious, warning, wordsOf } from "../finding.ts";

/** Whether mails go to the mail server encrypted. What that server does on the way to receivers is not seen from here. */
export async function examineTls(smtpUrl: string, timeoutMs: number): Promise<readonly Finding[]> {
  const { host, port, secure: isSecure, needsTls } = readSmtpUrl(smtpUrl);
  const at = `${host}:${port}`;
  try {
    const isEncrypted = await isSessionEncrypted({ host, port, isSecure, timeoutMs });
    if (isEncrypted) return [fine("tls", `${at} of SMTP_URL speaks TLS with a valid certificate`)];
    const advice = "Use smtps:// or a server that offers STARTTLS: Gmail and Yahoo ask for TLS on the whole way.";
    return needsTls
      ? [
          serious(
            "tls",
            `${at} of SMTP_URL offers no TLS, so no mail goes out: a password is said over TLS alone`,
            advice,
          ),
        ]
      : [warning("tls", `${at} of SMTP_URL offers no TLS`, advice)];
  } catch (failure) {
    return [
      serious("tls", `${at} of SMTP_URL: ${wordsOf(failure)}`, "Check SMTP_URL, the firewall and the certificate."),
    ];
  }
}

type Place = { readonly host: string; readonly port: number; readonly isSecure: boolean; readonly timeoutMs: number };

function isSessionEncrypted({ host, port, isSecure, timeoutMs }: Place): Promise<boolean> {
  const connection = new SMTPConnection({
    host,
    port,
    secure: isSecure,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  return new Promise((resolve, reject) => {
    // A failure may follow the first one; without a listener it would end the process.
    connection.on("error", (failure: Error) => {
      connection.close();
      reject(failure);
    });
    // An error that ended the connection may be told after its end, and says more.
    connection.once("end", () => setImmediate(() => reject(new Error("the server closed the connection"))));
    connection.connect((failure) => {
      if (failure) return reject(failure);
      resolve(connection.secure);
      connection.quit();
    });
  });
}

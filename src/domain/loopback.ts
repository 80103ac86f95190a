/** Whether nothing leaves this machine that goes to a host, a name or an address without brackets. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
